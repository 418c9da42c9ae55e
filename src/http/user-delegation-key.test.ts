import assert from 'node:assert/strict';
import { test } from 'node:test';
import { account, callOf, now } from './auth/calls.suite.js';
import type { Identity } from './auth/types.js';
import { issueUserDelegationKey } from './auth/user-delegation-key.js';
import type { Body } from './body.js';
import type { Call } from './call.js';
import { getUserDelegationKey } from './user-delegation-key.js';

const secret = Buffer.alloc(32, 1);
const owner: Identity = { kind: 'bearer', objectId: 'oid', tenantId: 'tid', role: 'contributor' };

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
  const answer = await getUserDelegationKey(asking(info), secret, owner);
  const expected = { account, service: 'blob', version: '2025-11-05', start, expiry: '2026-05-02' } as const;
  const { value } = issueUserDelegationKey(secret, owner, expected, now);
  assert.equal(answer.status, 200);
  assert.equal(
    answer.body,
    `\ufeff<?xml version="1.0" encoding="utf-8"?><UserDelegationKey><SignedOid>oid</SignedOid><SignedTid>tid</SignedTid><SignedStart>2026-05-01T12:00:00Z</SignedStart><SignedExpiry>2026-05-02T00:00:00Z</SignedExpiry><SignedService>b</SignedService><SignedVersion>2025-11-05</SignedVersion><Value>${value}</Value></UserDelegationKey>`,
  );
});

test('Get User Delegation Key for one tenant names it', async () => {
  const info = '<KeyInfo><Expiry>2026-05-02</Expiry><DelegatedUserTid>t9</DelegatedUserTid></KeyInfo>';
  const answer = await getUserDelegationKey(asking(info, 'file'), secret, owner);
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
    await assert.rejects(getUserDelegationKey(asking(info), secret, owner), { code });
  });
}

test('Get User Delegation Key for an account that is gone is 404', async () => {
  await assert.rejects(getUserDelegationKey(asking(''), undefined, owner), { code: 'ResourceNotFound' });
});
