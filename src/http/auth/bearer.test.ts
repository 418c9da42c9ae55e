import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { StorageError } from '../../services/common/errors.js';
import type { ServiceName } from '../call.js';
import { HeaderedError } from '../errors.js';
import { Bearer } from './bearer.js';
import type { BearerSettings } from './bearer-settings.js';
import { account, callOf, type Extra, now } from './calls.suite.js';
import { openIssuer, type TestIssuer } from './issuer.suite.js';

let issuer: TestIssuer;
let settings: Extract<BearerSettings, { mode: 'verified' }>;
let bearer: Bearer;

before(async () => {
  issuer = await openIssuer();
  settings = {
    mode: 'verified',
    issuer: issuer.url,
    roles: { boss: 'owner', mixed: { blob: 'contributor' }, sub1: 'reader' },
  };
  bearer = new Bearer(settings);
});
after(() => issuer.close());

const seconds = now / 1000;

function claims(change: Record<string, unknown> = {}): Record<string, unknown> {
  const all = {
    iss: issuer.url,
    aud: 'https://storage.azure.com',
    exp: seconds + 3600,
    nbf: seconds,
    oid: 'boss',
    tid: 'tenant',
    ...change,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function callWith(token: string, service: ServiceName = 'blob', extra: Extra = {}) {
  const headers = { authorization: `Bearer ${token}`, 'x-ms-version': '2025-11-05', ...extra.headers };
  return callOf(service, `GET /${account}/c`.replace('/c', service === 'blob' ? '/c/b' : '/c'), {
    secure: true,
    ...extra,
    headers,
  });
}

async function refused(run: Promise<unknown>, code: string, detail?: RegExp): Promise<StorageError> {
  let found: unknown;
  await assert.rejects(run, (error) => {
    found = error;
    return true;
  });
  assert.ok(found instanceof StorageError, String(found));
  assert.equal(found.code, code);
  if (detail !== undefined) assert.match(Object.values(found.details).join('\n') + found.message, detail);
  return found;
}

test('a token of the issuer is accepted, with the role of the settings', async () => {
  const identity = await bearer.authenticate(callWith(await issuer.sign(claims())), now);
  assert.deepEqual(identity, { kind: 'bearer', objectId: 'boss', tenantId: 'tenant', role: 'owner' });
});

const badClaims: [what: string, change: () => Record<string, unknown>, detail: RegExp][] = [
  ['is expired', () => ({ exp: seconds - 61 }), /expired/],
  ['never expires', () => ({ exp: undefined }), /expired/],
  ['expires at a text', () => ({ exp: '2099' }), /expired/],
  ['is not yet valid', () => ({ nbf: seconds + 61 }), /not yet valid/],
  ['is of another issuer', () => ({ iss: 'https://other.example' }), /Issuer/],
  ['has no issuer', () => ({ iss: undefined }), /Issuer/],
  ['is for another audience', () => ({ aud: 'https://graph.microsoft.com' }), /Audience/],
  ['is for another account', () => ({ aud: 'https://other.blob.core.windows.net' }), /Audience/],
  ['is for another service', () => ({ aud: `https://${account}.queue.core.windows.net` }), /Audience/],
  ['has no audience', () => ({ aud: undefined }), /Audience/],
  ['names nobody', () => ({ oid: undefined }), /neither oid nor sub/],
];

for (const [what, change, detail] of badClaims) {
  test(`a token that ${what} is refused with a challenge`, async () => {
    const token = await issuer.sign(claims(change()));
    const error = await refused(
      bearer.authenticate(callWith(token), now),
      'InvalidAuthenticationInfo',
      detail,
    );
    assert.ok(error instanceof HeaderedError);
    assert.equal(error.status, 401);
    assert.deepEqual(error.headers, ['WWW-Authenticate', bearer.challenge]);
  });
}

for (const audience of [
  'https://storage.azure.com/',
  `https://${account}.blob.core.windows.net`,
  ['x', 'https://storage.azure.com'],
]) {
  test(`the audience ${audience} is accepted`, async () => {
    await bearer.authenticate(callWith(await issuer.sign(claims({ aud: audience }))), now);
  });
}

test('an audience of the settings is accepted', async () => {
  const own = new Bearer({ ...settings, audiences: ['api://lazuli'] });
  await own.authenticate(callWith(await issuer.sign(claims({ aud: 'api://lazuli' }))), now);
});

// Roles

const roleCases: [change: Record<string, unknown>, service: ServiceName, role: string | undefined][] = [
  [{ oid: 'mixed' }, 'blob', 'contributor'],
  [{ oid: 'mixed', roles: ['owner'] }, 'queue', undefined],
  [{ oid: undefined, sub: 'sub1' }, 'table', 'reader'],
  [{ oid: 'x', sub: 'sub1' }, 'table', 'reader'],
  [{ oid: 'x', roles: ['reader'] }, 'queue', 'reader'],
  [{ oid: 'x', roles: ['reader', 'contributor'] }, 'queue', 'contributor'],
  [{ oid: 'x', roles: ['blob.owner', 'reader'] }, 'queue', 'reader'],
  [{ oid: 'x', roles: ['Storage Blob Data Owner'] }, 'blob', 'owner'],
  [{ oid: 'x', roles: ['Storage Blob Data Owner'] }, 'table', undefined],
  [{ oid: 'x', roles: ['Storage Queue Data Contributor', 'nonsense', 7] }, 'queue', 'contributor'],
  [{ oid: 'x', roles: 'owner' }, 'blob', undefined],
  [{ oid: '__proto__' }, 'blob', undefined],
  [{ oid: 'constructor' }, 'blob', undefined],
  [{ oid: 'x' }, 'blob', undefined],
];

for (const [change, service, role] of roleCases) {
  test(`${JSON.stringify(change)} is ${role ?? 'nobody'} for ${service}`, async () => {
    const asked = bearer.authenticate(callWith(await issuer.sign(claims(change)), service), now);
    if (role === undefined) await refused(asked, 'AuthorizationPermissionMismatch');
    else assert.equal((await asked).role, role);
  });
}

// Signatures

test('a token that nobody signed, or somebody else, or that was changed is refused', async () => {
  const { privateKey } = await generateKeyPair('RS256');
  const kid = `${issuer.keys[0]?.kid}`;
  const good = await issuer.sign(claims());
  const [head, , signature] = good.split('.');
  const changed = Buffer.from(JSON.stringify(claims({ roles: ['owner'] }))).toString('base64url');
  const forged = [
    new UnsecuredJWT(claims()).encode(),
    await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey),
    await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(Buffer.from(JSON.stringify(issuer.keys[0]))),
    `${head}.${changed}.${signature}`,
    `${head}.${changed}.`,
    'a.b.c',
    'nonsense',
  ];
  for (const token of forged) {
    await refused(bearer.authenticate(callWith(token), now), 'InvalidAuthenticationInfo');
  }
});

test('a secret among the keys does not let a public key sign', async () => {
  const { publicKey } = await generateKeyPair('RS256', { extractable: true });
  const published = await exportJWK(publicKey);
  const own = new Bearer({
    ...settings,
    jwks: {
      keys: [
        { ...published, kid: 'a' },
        { kty: 'oct', k: 'c2VjcmV0', kid: 'b' },
      ],
    },
  });
  const token = await new SignJWT(claims())
    .setProtectedHeader({ alg: 'HS256', kid: 'b' })
    .sign(Buffer.from('secret'));
  await refused(own.authenticate(callWith(token), now), 'InvalidAuthenticationInfo');
});

test('keys that are given are not fetched', async () => {
  const asked = { ...issuer.asked };
  const own = new Bearer({ ...settings, jwks: { keys: [...issuer.keys] } });
  await own.authenticate(callWith(await issuer.sign(claims())), now);
  assert.deepEqual(issuer.asked, asked);
});

test('a token is verified once and its times are judged each time', async () => {
  const token = await issuer.sign(claims({ exp: seconds + 100 }));
  const own = new Bearer({ ...settings, jwks: { keys: [...issuer.keys] } });
  await own.authenticate(callWith(token), now);
  await own.authenticate(callWith(token), now + 100_000);
  await refused(own.authenticate(callWith(token), now + 160_000), 'InvalidAuthenticationInfo', /expired/);
  await refused(own.authenticate(callWith(token), now - 61_000), 'InvalidAuthenticationInfo', /not yet/);
});

test('an issuer that is down is 503, is left alone a while, and is asked again', async (t) => {
  const own = new Bearer(settings);
  const token = await issuer.sign(claims());
  issuer.broken = 500;
  const before = issuer.asked.configuration;
  let offset = 0;
  const real = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => real() + offset);
  await refused(own.authenticate(callWith(token), now), 'ServerBusy', /issuer/);
  await refused(own.authenticate(callWith(token), now), 'ServerBusy');
  assert.equal(issuer.asked.configuration, before + 1);
  issuer.broken = undefined;
  offset = 6000;
  await own.authenticate(callWith(token), now);
});

test('a new key of the issuer is found, and the old one is believed for five minutes more', async (t) => {
  const other = await openIssuer();
  t.after(() => other.close());
  const own = new Bearer({ ...settings, issuer: other.url });
  const old = await other.sign(claims({ iss: other.url }));
  await own.authenticate(callWith(old), now);
  await other.rotate();
  const real = Date.now();
  t.mock.method(Date, 'now', () => real + 60_000); // jose asks for keys again after half a minute
  await own.authenticate(callWith(await other.sign(claims({ iss: other.url }))), now);
  await own.authenticate(callWith(old), now + 299_000);
  await refused(own.authenticate(callWith(old), now + 300_000), 'InvalidAuthenticationInfo', /Signature/);
});

test('keys come over https, or from this machine', () => {
  for (const url of ['http://issuer.example', 'ftp://127.0.0.1']) {
    assert.throws(() => new Bearer({ mode: 'verified', issuer: url }), /must come over https/);
    assert.throws(() => new Bearer({ mode: 'verified', issuer: 'https://x.example', jwksUri: url }), /https/);
  }
  new Bearer({ mode: 'verified', issuer: 'https://issuer.example' });
});

// Transport

test('tokens come over https, in a version that knows them, to files with their intent', async () => {
  const token = await issuer.sign(claims());
  const plain = callWith(token, 'blob', { secure: false });
  await refused(bearer.authenticate(plain, now), 'AuthenticationFailed', /HTTPS only/);
  await new Bearer({ ...settings, allowHttp: true }).authenticate(plain, now);
  const old = callWith(token, 'blob', { headers: { 'x-ms-version': '2017-07-29' } });
  await refused(bearer.authenticate(old, now), 'AuthenticationFailed', /not supported in this version/);
  await refused(
    bearer.authenticate(callWith(token, 'file'), now),
    'MissingRequiredHeader',
    /x-ms-file-request-intent/,
  );
  await bearer.authenticate(
    callWith(token, 'file', { headers: { 'x-ms-file-request-intent': 'backup' } }),
    now,
  );
});

test('a header that holds no token is 400', async () => {
  for (const authorization of ['Bearer', 'Bearer ', 'Bearer a b', 'Bearer ä']) {
    const call = callWith('', 'blob', { headers: { authorization } });
    await refused(bearer.authenticate(call, now), 'InvalidAuthenticationInfo');
  }
});

test('without settings every token is refused', async () => {
  const none = new Bearer();
  await refused(
    none.authenticate(callWith('a.b.c'), now),
    'InvalidAuthenticationInfo',
    /none are configured/,
  );
});

// Challenges

const challenges: [issuer: string, uri: string][] = [
  ['https://sts.windows.net/1234/', 'https://login.microsoftonline.com/1234/oauth2/authorize'],
  ['https://login.microsoftonline.com/1234/v2.0', 'https://login.microsoftonline.com/1234/oauth2/authorize'],
  ['https://id.example/realms/main', 'https://id.example/realms/main/oauth2/authorize'],
];

for (const [url, uri] of challenges) {
  test(`the challenge of ${url} names ${uri}`, () => {
    const { challenge } = new Bearer({ mode: 'verified', issuer: url });
    assert.equal(challenge, `Bearer authorization_uri=${uri} resource_id=https://storage.azure.com`);
  });
}

// Basic

const basic = new Bearer({ mode: 'basic' });
const basicClaims = {
  iss: 'https://sts.windows.net/1234/',
  aud: 'https://storage.azure.com',
  exp: seconds + 60,
  nbf: seconds,
};

function unsigned(change: Record<string, unknown> = {}): string {
  return new UnsecuredJWT({ ...basicClaims, oid: 'me', tid: 't', ...change }).encode();
}

test('basic: claims of Azure are enough, and everybody is an owner', async () => {
  const identity = await basic.authenticate(callWith(unsigned()), now);
  assert.deepEqual(identity, { kind: 'bearer', objectId: 'me', tenantId: 't', role: 'owner' });
  await basic.authenticate(callWith(unsigned({ aud: 'e406a681-f3d4-42a8-90b6-c2b029497af1' })), now);
});

for (const [what, change] of [
  ['another issuer', { iss: 'https://example.com/' }],
  ['another audience', { aud: 'https://example.com' }],
  ['an end that is past', { exp: seconds - 100 }],
  ['a beginning to come', { nbf: seconds + 100 }],
] as const) {
  test(`basic: ${what} is refused`, async () => {
    await refused(basic.authenticate(callWith(unsigned(change)), now), 'InvalidAuthenticationInfo');
  });
}

test('basic: only over https and from this machine', async () => {
  await refused(
    basic.authenticate(callWith(unsigned(), 'blob', { secure: false }), now),
    'AuthenticationFailed',
    /HTTPS/,
  );
  for (const remoteAddress of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '']) {
    const call = callWith(unsigned(), 'blob', { remoteAddress });
    await refused(basic.authenticate(call, now), 'AuthenticationFailed', /this machine/);
  }
  for (const remoteAddress of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.1.2.3']) {
    await basic.authenticate(callWith(unsigned(), 'blob', { remoteAddress }), now);
  }
});
