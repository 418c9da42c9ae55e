// A running server, asked with every scheme: what its answers say, header by header.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as queue from '@azure/storage-queue';
import { account, key, otherKey } from '#src/http/auth/calls.suite.js';
import { openIssuer, type TestIssuer } from '#src/http/auth/issuer.suite.js';
import { signSas } from '#src/http/auth/sign.js';
import { type StartedServer, start } from '#src/server/start.js';
import { createAccount } from '#src/services/common/accounts.js';

let issuer: TestIssuer;
let server: StartedServer;
let root: string;

before(async () => {
  issuer = await openIssuer();
  const own = createAccount(account, [key.toString('base64'), otherKey.toString('base64')]);
  const bearer = { mode: 'verified', issuer: issuer.url, allowHttp: true } as const;
  server = await start({ services: ['queue'], accounts: [own], config: { bearer } });
  root = `${server.urls.queue}/${account}`;
});
after(async () => {
  await server.stop();
  await issuer.close();
});

const se = new Date(Date.now() + 3_600_000).toISOString();
const version = '2025-11-05';
const once = { retryOptions: { maxTries: 1 } };

function queueOf(name: string, by = key) {
  const credential = new queue.StorageSharedKeyCredential(account, by.toString('base64'));
  return new queue.QueueClient(`${root}/${name}`, credential, once);
}

function ask(
  path: string,
  token: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string,
) {
  const query = token && `${path.includes('?') ? '&' : '?'}${token}`;
  const init = { method, headers: { 'x-ms-version': version, ...headers } };
  return fetch(`${root}${path}${query}`, body === undefined ? init : { ...init, body });
}

async function refused(answer: Response, status: number, code: string): Promise<string> {
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  assert.equal(answer.headers.get('x-ms-error-code'), code);
  assert.match(text, new RegExp(`<Code>${code}</Code>`));
  return text;
}

test('both keys of the account open it, another does not', async () => {
  for (const by of [key, otherKey]) await queueOf('keys', by).createIfNotExists();
  await assert.rejects(queueOf('keys', Buffer.alloc(64)).getProperties(), {
    statusCode: 403,
    code: 'AuthenticationFailed',
  });
});

test('a wrong signature is told the string to sign', async () => {
  const headers = {
    'x-ms-date': new Date().toUTCString(),
    authorization: `SharedKey ${account}:${'A'.repeat(43)}=`,
  };
  const text = await refused(await ask('/q?comp=metadata', '', headers), 403, 'AuthenticationFailed');
  assert.match(text, /<AuthenticationErrorDetail>The MAC signature found .*string to sign: 'GET\n/s);
  assert.match(text, new RegExp(`/${account}/${account}/q\ncomp:metadata'`));
});

test('without credentials there is a challenge, in old versions a plain refusal', async () => {
  const answer = await ask('/q?comp=metadata', '');
  assert.equal(
    answer.headers.get('www-authenticate'),
    `Bearer authorization_uri=${issuer.url}/oauth2/authorize resource_id=https://storage.azure.com`,
  );
  await refused(answer, 401, 'NoAuthenticationInformation');
  await refused(
    await ask('/q?comp=metadata', '', { 'x-ms-version': '2018-03-28' }),
    403,
    'AuthenticationFailed',
  );
});

test('an account SAS does what its letters say', async () => {
  const token = signSas(
    { service: 'queue', account },
    { sv: version, ss: 'q', srt: 'co', sp: 'cr', se },
    key,
  );
  assert.equal((await ask('/account-sas', token, {}, 'PUT')).status, 201);
  assert.equal((await ask('/account-sas?comp=metadata', token)).status, 200);
  await refused(await ask('/account-sas', token, {}, 'DELETE'), 403, 'AuthorizationPermissionMismatch');
  await refused(await ask('/?comp=list', token), 403, 'AuthorizationResourceTypeMismatch');
  await refused(await ask('/account-sas?comp=acl', token), 403, 'AuthorizationFailure');
  const other = signSas(
    { service: 'queue', account },
    { sv: version, ss: 'bt', srt: 'sco', sp: 'rl', se },
    key,
  );
  await refused(await ask('/?comp=list', other), 403, 'AuthorizationServiceMismatch');
});

test('a stored policy gives and takes back', async () => {
  const client = queueOf('policy');
  await client.create();
  const expiresOn = new Date(se);
  await client.setAccessPolicy([{ id: 'p', accessPolicy: { expiresOn, permissions: 'ra' } }]);
  const token = signSas({ service: 'queue', account, container: 'policy' }, { sv: version, si: 'p' }, key);
  const message = '<QueueMessage><MessageText>x</MessageText></QueueMessage>';
  assert.equal((await ask('/policy/messages', token, {}, 'POST', message)).status, 201);
  await refused(await ask('/policy/messages', token), 403, 'AuthorizationPermissionMismatch');
  await client.setAccessPolicy([]);
  const text = await refused(await ask('/policy/messages?peekonly=true', token), 403, 'AuthenticationFailed');
  assert.match(text, /SAS identifier cannot be found/);
});

test('a token gets a user delegation key, and a SAS made with it opens what its owner may', async () => {
  await queueOf('delegated').create();
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer.url,
    aud: 'https://storage.azure.com',
    exp: now + 600,
    oid: 'me',
    tid: 't',
    roles: ['reader'],
  };
  const authorization = `Bearer ${await issuer.sign(claims)}`;
  assert.equal((await ask('/delegated?comp=metadata', '', { authorization })).status, 200);
  await refused(
    await ask('/delegated', '', { authorization }, 'DELETE'),
    403,
    'AuthorizationPermissionMismatch',
  );

  const info = `<KeyInfo><Expiry>${se}</Expiry></KeyInfo>`;
  const path = '/?restype=service&comp=userdelegationkey';
  const answer = await ask(path, '', { authorization }, 'POST', info);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const field = (name: string) =>
    new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1] ?? assert.fail(`no ${name}`);
  const userKey = {
    signedObjectId: field('SignedOid'),
    signedTenantId: field('SignedTid'),
    signedStartsOn: new Date(field('SignedStart')),
    signedExpiresOn: new Date(field('SignedExpiry')),
    signedService: field('SignedService'),
    signedVersion: field('SignedVersion'),
    value: field('Value'),
  };
  const values = {
    queueName: 'delegated',
    permissions: queue.QueueSASPermissions.parse('rap'),
    expiresOn: userKey.signedExpiresOn,
    version,
  };
  const token = queue.generateQueueSASQueryParameters(values, userKey, account).toString();
  assert.equal((await ask('/delegated/messages?peekonly=true', token)).status, 200);
  await refused(await ask('/delegated/messages', token), 403, 'AuthorizationPermissionMismatch');
});

test('a bad token is challenged', async () => {
  const answer = await ask('/q?comp=metadata', '', { authorization: 'Bearer a.b.c' });
  assert.match(`${answer.headers.get('www-authenticate')}`, /^Bearer authorization_uri=/);
  await refused(answer, 401, 'InvalidAuthenticationInfo');
  await refused(
    await ask('/q?comp=metadata', '', { authorization: 'Digest x' }),
    400,
    'InvalidAuthenticationInfo',
  );
});
