import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../../services/common/errors.js';
import { account, now } from './calls.suite.js';
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
