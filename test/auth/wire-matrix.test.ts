// Every operation of every service, asked for over HTTP with every kind of credential (credentials.ts), in both
// directions: who may is let in, who may not is told the right code.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openIssuer, type TestIssuer } from '#src/http/auth/issuer.suite.js';
import { roles } from '#src/http/auth/roles.js';
import { signRequest } from '#src/http/auth/sign.js';
import type { ServiceName } from '#src/http/call.js';
import { newestVersion } from '#src/http/versions.js';
import { type StartedServer, start } from '#src/server/start.js';
import { createAccount } from '#src/services/common/accounts.js';
import { Wire, type WireAnswer } from '../support/wire.js';
import {
  account,
  type Case,
  casesOf,
  delegations,
  intent,
  keys,
  later,
  otherKey,
  passes,
  publicTargets,
  sv,
  type Target,
  targetsOf,
  tokens,
} from './credentials.js';
import { operations } from './published.js';

let server: StartedServer;
let issuer: TestIssuer;
before(async () => {
  issuer = await openIssuer();
  const bearer = { mode: 'verified', issuer: issuer.url, allowHttp: true } as const;
  const own = createAccount(account, [keys[0].toString('base64'), keys[1].toString('base64')]);
  const other = createAccount('otheraccount', [otherKey.toString('base64')]);
  server = await start({ accounts: [own, other], config: { bearer } });
  for (const role of roles) {
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const claims = {
      iss: issuer.url,
      aud: 'https://storage.azure.com',
      exp,
      oid: role,
      tid: 'tenant',
      roles: [role],
    };
    tokens.set(role, await issuer.sign(claims));
  }
  await makeContainers();
  for (const service of ['blob', 'queue', 'file'] as const) {
    for (const role of roles) delegations.set(`${service} ${role}`, await delegationKey(service, role));
  }
});

after(async () => {
  await server.stop();
  await issuer.close();
});

/** A container, queue, table and share called `box`, each with a policy; and two containers that are public. */
async function makeContainers(): Promise<void> {
  const policy = (permission: string) =>
    `<SignedIdentifiers><SignedIdentifier><Id>live</Id><AccessPolicy><Expiry>${later}</Expiry><Permission>${permission}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`;
  const made = [
    await byKey('blob', 'PUT', '/box', 'restype=container'),
    await byKey('blob', 'PUT', '/box', 'restype=container&comp=acl', policy('racwdl')),
    await byKey('blob', 'PUT', '/openblob', 'restype=container', '', { 'x-ms-blob-public-access': 'blob' }),
    await byKey('blob', 'PUT', '/opencontainer', 'restype=container', '', {
      'x-ms-blob-public-access': 'container',
    }),
    await byKey('queue', 'PUT', '/box', ''),
    await byKey('queue', 'PUT', '/box', 'comp=acl', policy('raup')),
    await byKey('table', 'POST', '/Tables', '', '{"TableName":"box"}', {
      'Content-Type': 'application/json',
    }),
    await byKey('table', 'PUT', '/box', 'comp=acl', policy('raud')),
    await byKey('file', 'PUT', '/box', 'restype=share'),
    await byKey('file', 'PUT', '/box', 'restype=share&comp=acl', policy('rcwdl')),
  ];
  for (const { status, text } of made) assert.ok(status < 300, text);
}

async function delegationKey(
  service: ServiceName,
  role: string,
): Promise<{ fields: Record<string, string>; key: Buffer }> {
  const body = `<KeyInfo><Expiry>${later}</Expiry></KeyInfo>`;
  const headers = { Authorization: `Bearer ${tokens.get(role)}`, 'x-ms-version': sv, ...intent(service) };
  const target = `/${account}/?restype=service&comp=userdelegationkey`;
  const wire = await Wire.open(addressOf(service));
  const { status, text } = await wire.request({ method: 'POST', target, headers, body }).answer('POST');
  wire.close();
  assert.equal(status, 200, text);
  const field = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1] ?? '';
  const fields = {
    skoid: field('SignedOid'),
    sktid: field('SignedTid'),
    skt: field('SignedStart'),
    ske: field('SignedExpiry'),
    sks: field('SignedService'),
    skv: field('SignedVersion'),
  };
  return { fields, key: Buffer.from(field('Value'), 'base64') };
}

function addressOf(service: ServiceName): { port: number } {
  return { port: Number(new URL(server.urls[service] ?? '').port) };
}

async function byKey(
  service: ServiceName,
  method: string,
  path: string,
  query: string,
  body = '',
  headers: Record<string, string> = {},
): Promise<WireAnswer> {
  const wire = await Wire.open(addressOf(service));
  const sent = signed(
    {
      service,
      method,
      rawPath: `/${account}${path}`,
      rawQuery: query,
      headers,
      length: Buffer.byteLength(body),
    },
    account,
    keys[0],
  );
  const target = query === '' ? `/${account}${path}` : `/${account}${path}?${query}`;
  const answer = await wire.request({ method, target, headers: sent, body }).answer(method);
  wire.close();
  return answer;
}

interface Unsigned {
  readonly service: ServiceName;
  readonly method: string;
  readonly rawPath: string;
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly length?: number;
}

function signed(
  { service, method, rawPath, rawQuery, headers, length = 0 }: Unsigned,
  name: string,
  key: Buffer,
): Record<string, string> {
  const sent: Record<string, string> = {
    'x-ms-version': newestVersion,
    'x-ms-date': new Date().toUTCString(),
    'Content-Length': String(length),
    ...headers,
  };
  const request = {
    service,
    verb: method,
    account: name,
    rawPath,
    rawQuery,
    rawHeaders: Object.entries(sent).flat(),
    version: newestVersion,
  };
  return { ...sent, Authorization: signRequest('SharedKey', request, key) };
}

// Asking

async function askAll(service: ServiceName, cases: readonly [Target, Case][]): Promise<string[]> {
  const wrong: string[] = [];
  const queue = cases[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      let wire = await Wire.open(addressOf(service));
      for (const [target, one] of queue) {
        const answer = await wire.request(requestOf(target, one)).answer(target.method);
        if (answer.headers.get('connection') === 'close') {
          wire.close();
          wire = await Wire.open(addressOf(service));
        }
        const code = answer.headers.get('x-ms-error-code') ?? `${answer.status}`;
        if (code !== one.expected)
          wrong.push(
            `${target.operation.name} (${target.method} ${target.path}) with ${one.what}: ${code}, not ${one.expected}`,
          );
      }
      wire.close();
    }),
  );
  return wrong;
}

function requestOf(
  target: Target,
  one: Case,
): { method: string; target: string; headers: Record<string, string> } {
  const { service, method, operation } = target;
  const name = operation.on === 'secondary' ? `${account}-secondary` : account;
  const rawPath = `/${name}${target.path}`;
  const rawQuery = one.query === undefined ? target.query : `${target.query}&${one.query}`;
  const plain = { 'x-ms-version': newestVersion, 'Content-Length': '0', ...target.headers, ...one.headers };
  const headers = one.signedBy
    ? signed({ service, method, rawPath, rawQuery, headers: plain }, one.signedBy.name, one.signedBy.key)
    : plain;
  return { method, target: `${rawPath}?${rawQuery}`, headers };
}

for (const service of Object.keys(operations) as ServiceName[]) {
  test(`${service}: every operation with every kind of credential`, { timeout: 120_000 }, async (t) => {
    const targets = targetsOf(service);
    const cases = targets.flatMap((target): [Target, Case][] => [
      ...[...casesOf(target)].map((one): [Target, Case] => [target, one]),
      ...publicTargets(target),
    ]);
    const wrong = await askAll(service, cases);
    const allowed = cases.filter(([, { expected }]) => expected === passes).length;
    t.diagnostic(`${targets.length} requests x credentials: ${cases.length} cases, ${allowed} allowed`);
    assert.deepEqual(wrong, []);
    for (const target of targets) {
      const told = new Set(cases.filter(([of]) => of === target).map(([, { expected }]) => expected));
      assert.ok(
        told.has(passes) && told.has('AuthenticationFailed'),
        `${target.operation.name} is both allowed and refused`,
      );
    }
  });
}

const policyPlaces: readonly [ServiceName, path: string, query: string][] = [
  ['blob', '/box', 'restype=container&comp=acl'],
  ['queue', '/box', 'comp=acl'],
  ['table', '/box', 'comp=acl'],
  ['file', '/box', 'restype=share&comp=acl'],
];

for (const [service, path, query] of policyPlaces) {
  test(`${service}: a policy that is taken away closes at once what it opened`, async () => {
    const target = targetsOf(service).find(
      ({ expected, container }) => container !== '' && expected.service === 'r',
    );
    assert.ok(target);
    const byPolicy = [...casesOf(target)].filter(({ what }) => what.endsWith('by a stored policy'));
    assert.ok(byPolicy.length > 0);
    const answers = (expected: string) =>
      askAll(
        service,
        byPolicy.map((one): [Target, Case] => [target, { ...one, expected }]),
      );
    assert.deepEqual(await answers(passes), []);
    assert.ok((await byKey(service, 'PUT', path, query)).status < 300);
    assert.deepEqual(await answers('AuthenticationFailed'), []);
  });
}
