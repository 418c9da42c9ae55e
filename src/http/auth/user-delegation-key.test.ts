import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../../services/common/errors.js';
import type { Body } from '../body.js';
import type { Call } from '../call.js';
import { account, callOf, now } from './calls.suite.js';
import { getUserDelegationKey } from './get-user-delegation-key.js';
import type { Identity } from './types.js';
import { delegationKeys, issueUserDelegationKey, type KeyRequest } from './user-delegation-key.js';

const secret = Buffer.alloc(32, 1);
const owner: Identity = { kind: 'bearer', objectId: 'oid', tenantId: 'tid', role: 'contributor' };
const day = 24 * 60 * 60 * 1000;

function issue(change: Partial<KeyRequest> = {}, identity: Identity = owner, by = secret) {
  const request: KeyRequest = {
    account,
    service: 'blob',
    version: '2025-11-05',
    start: new Date(now).toISOString(),
    expiry: new Date(now + day).toISOString(),
    ...change,
  };
  return issueUserDelegationKey(by, identity, request, now);
}

test('a key says whose it is, from when to when and for what', () => {
  const { value, ...said } = issue({ expiry: '2026-05-02T12:00:00.1234567+01:00' });
  assert.deepEqual(said, {
    objectId: 'oid',
    tenantId: 'tid',
    start: '2026-05-01T12:00:00Z',
    expiry: '2026-05-02T11:00:00Z',
    service: 'b',
    version: '2025-11-05',
    delegatedTenantId: undefined,
  });
  assert.equal(Buffer.from(value, 'base64').length, 32);
});

test('the same is always the same key, anything else is another', () => {
  const keys = [
    issue(),
    issue({ account: 'other' }),
    issue({ service: 'queue' }),
    issue({ version: '2025-07-05' }),
    issue({ start: new Date(now + 1000).toISOString() }),
    issue({ expiry: new Date(now + 2 * day).toISOString() }),
    issue({ delegatedTenantId: 'x' }),
    issue({}, { ...owner, objectId: 'o2' }),
    issue({}, { ...owner, tenantId: 't2' }),
    issue({}, { ...owner, role: 'owner' }),
    issue({}, owner, Buffer.alloc(32, 2)),
  ].map(({ value }) => value);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(issue().value, keys[0]);
});

test('what a key says leads back to it and to the role it was given for', () => {
  const { value, ...claims } = issue();
  const found = delegationKeys(secret, account, claims).filter(([, key]) => key.toString('base64') === value);
  assert.deepEqual(
    found.map(([role]) => role),
    ['contributor'],
  );
});

const refusals: [what: string, change: Partial<KeyRequest>, node: string][] = [
  ['an expiry that is no time', { expiry: 'soon' }, 'Expiry'],
  ['a start that is no time', { start: 'now' }, 'Start'],
  ['an expiry that is past', { start: '2026-04-01', expiry: '2026-04-02' }, 'Expiry'],
  ['an expiry before the start', { start: '2026-05-03', expiry: '2026-05-02' }, 'Expiry'],
  ['an expiry after seven days', { expiry: new Date(now + 7 * day + 1000).toISOString() }, 'Expiry'],
  ['a start after seven days', { start: '2026-05-09', expiry: '2026-05-10' }, 'Start'],
];

for (const [what, change, node] of refusals) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => issue(change),
      (error) => {
        assert.ok(error instanceof StorageError);
        assert.equal(error.code, 'InvalidXmlNodeValue');
        assert.equal(error.details.XmlNodeName, node);
        return true;
      },
    );
  });
}

test('seven days are allowed, and a start may be left out or past', () => {
  issue({ expiry: new Date(now + 7 * day).toISOString() });
  assert.equal(issue({ start: undefined }).start, '2026-05-01T12:00:00Z');
  assert.equal(issue({ start: '2026-04-30' }).start, '2026-04-30T00:00:00Z');
});

test('only a bearer token gets a key', () => {
  const sas: Identity = { kind: 'sas', sas: 'account', permissions: 'rwdl', overrides: [] };
  for (const identity of [{ kind: 'key' } as const, sas]) {
    assert.throws(() => issue({}, identity), { code: 'AuthorizationPermissionMismatch' });
  }
});

// The operation

function asking(text: string, service: 'blob' | 'file' = 'blob'): Call {
  const call = callOf(service, `POST /${account}/?restype=service&comp=userdelegationkey`, {
    headers: { 'x-ms-version': '2025-11-05' },
  });
  const body: Body = { ...call.body, readAll: async () => Buffer.from(text) };
  return Object.assign(Object.create(call), { body });
}

test('Get User Delegation Key answers as Azure does', async () => {
  const start = new Date(now).toISOString();
  const info = `<?xml version="1.0" encoding="utf-8"?><KeyInfo><Start>${start}</Start><Expiry>2026-05-02</Expiry></KeyInfo>`;
  const answer = await getUserDelegationKey(asking(info), { secret: () => secret }, owner);
  const { value } = issue({ expiry: '2026-05-02' });
  assert.equal(answer.status, 200);
  assert.equal(
    answer.body,
    `\ufeff<?xml version="1.0" encoding="utf-8"?><UserDelegationKey><SignedOid>oid</SignedOid><SignedTid>tid</SignedTid><SignedStart>2026-05-01T12:00:00Z</SignedStart><SignedExpiry>2026-05-02T00:00:00Z</SignedExpiry><SignedService>b</SignedService><SignedVersion>2025-11-05</SignedVersion><Value>${value}</Value></UserDelegationKey>`,
  );
});

test('Get User Delegation Key for one tenant names it', async () => {
  const info = '<KeyInfo><Expiry>2026-05-02</Expiry><DelegatedUserTid>t9</DelegatedUserTid></KeyInfo>';
  const answer = await getUserDelegationKey(asking(info, 'file'), { secret: () => secret }, owner);
  assert.match(
    `${answer.body}`,
    /<SignedService>f<.*<SignedDelegatedUserTid>t9<\/SignedDelegatedUserTid><Value>/,
  );
});

for (const [info, code] of [
  ['<KeyInfo><Start>2026-05-01</Start></KeyInfo>', 'MissingRequiredXmlNode'],
  ['<Other/>', 'InvalidXmlDocument'],
  ['', 'InvalidXmlDocument'],
  ['<KeyInfo><Expiry>2027-01-01</Expiry></KeyInfo>', 'InvalidXmlNodeValue'],
] as const) {
  test(`Get User Delegation Key with '${info}' is refused`, async () => {
    await assert.rejects(getUserDelegationKey(asking(info), { secret: () => secret }, owner), { code });
  });
}
