// Get Share ACL, Set Share ACL.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const policy = (id: string, permission = 'rcwdl') =>
  `<SignedIdentifier><Id>${id}</Id><AccessPolicy><Start>2026-01-01T00:00:00.0000000Z</Start><Expiry>2030-01-01T00:00:00.0000000Z</Expiry><Permission>${permission}</Permission></AccessPolicy></SignedIdentifier>`;
const document = (...policies: string[]) => `<SignedIdentifiers>${policies.join('')}</SignedIdentifiers>`;

test('policies are kept as they are set, and replaced as a whole', async (t) => {
  const { share } = await given(t);
  assert.match((await gives(share.get('comp=acl'), 200)).text, /<SignedIdentifiers \/>$/);
  await gives(share.put('comp=acl', {}, document(policy('one'), policy('two', 'rl'))), 200);
  assert.ok(
    (await gives(share.get('comp=acl'), 200)).text.endsWith(document(policy('one'), policy('two', 'rl'))),
  );
  await gives(share.put('comp=acl'), 200);
  assert.match((await gives(share.get('comp=acl'), 200)).text, /<SignedIdentifiers \/>$/);
});

test('what is no list of policies is refused', async (t) => {
  const { share } = await given(t);
  const six = document(...['1', '2', '3', '4', '5', '6'].map((id) => policy(id)));
  await refuses(share.put('comp=acl', {}, six), 400, 'InvalidXmlDocument');
  await refuses(share.put('comp=acl', {}, document(policy('x'.repeat(65)))), 400, 'InvalidXmlDocument');
  await refuses(share.put('comp=acl', {}, document(policy('a', 'q'))), 400, 'InvalidXmlNodeValue');
  await refuses(share.put('comp=acl', {}, '<Signed'), 400, 'InvalidXmlDocument');
});

test('a leased share needs its id', async (t) => {
  const { share } = await given(t);
  await gives(share.acquire(), 201);
  await refuses(share.put('comp=acl'), 412, 'LeaseIdMissing');
});
