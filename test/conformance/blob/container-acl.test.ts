// Get Container ACL, Set Container ACL.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const policy = (id: string, terms: string) =>
  `<SignedIdentifier><Id>${id}</Id><AccessPolicy>${terms}</AccessPolicy></SignedIdentifier>`;
const acl = (policies: string) => `<?xml version="1.0"?><SignedIdentifiers>${policies}</SignedIdentifiers>`;

test('public access and policies are replaced together', async (t) => {
  const { container } = await given(t);
  const before = await container.etag();
  const body = acl(
    policy(
      'p1',
      '<Start>2020-01-01</Start><Expiry>2030-01-01T00:00:00Z</Expiry><Permission>rwd</Permission>',
    ),
  );
  const set = await gives(container.put('comp=acl', { 'x-ms-blob-public-access': 'container' }, body), 200);
  assert.notEqual(header(set, 'etag'), before);
  const got = await gives(container.get('comp=acl'), 200);
  assert.equal(header(got, 'x-ms-blob-public-access'), 'container');
  assert.match(got.text, /<Id>p1<\/Id><AccessPolicy><Start>2020-01-01T00:00:00.0000000Z<\/Start>/);
  await gives(container.put('comp=acl'), 200);
  const cleared = await gives(container.get('comp=acl'), 200);
  assert.equal(cleared.headers.has('x-ms-blob-public-access'), false);
  assert.match(cleared.text, /<SignedIdentifiers \/>/);
});

test('more than five policies, and what is no list of them, are refused', async (t) => {
  const { container } = await given(t);
  const set = (body: string) => container.put('comp=acl', {}, body);
  const six = ['1', '2', '3', '4', '5', '6'].map((id) => policy(id, '<Permission>r</Permission>')).join('');
  await refuses(set(acl(six)), 400, 'InvalidXmlDocument');
  await refuses(set('<SignedIdentifiers>'), 400, 'InvalidXmlDocument');
  await refuses(set(acl(policy('p', '<Permission>q</Permission>'))), 400, 'InvalidXmlNodeValue');
  await gives(container.get('comp=acl'), 200);
});

test('what anybody may read, by public access', async (t) => {
  const { container, blob, server } = await given(t, { content: 'v1' });
  const anybody = (path: string) =>
    server.ask({ path, as: 'anybody', headers: { 'x-ms-version': '2021-12-02' } });
  const list = `${container.path}?restype=container&comp=list`;
  const outcomes = [
    // access      blob  list
    [undefined, 401, 401],
    ['blob', 200, 401],
    ['container', 200, 200],
  ] as const;
  for (const [access, read, listed] of outcomes) {
    await gives(container.put('comp=acl', { 'x-ms-blob-public-access': access }), 200);
    assert.equal((await anybody(blob.path)).status, read, `${access}: blob`);
    assert.equal((await anybody(list)).status, listed, `${access}: list`);
  }
});
