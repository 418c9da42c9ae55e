import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Given, given, Resource, Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

async function keepDeleted({ server }: Given, days: number): Promise<void> {
  const policy = `<ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>${days}</Days></ShareDeleteRetentionPolicy>`;
  const body = `<StorageServiceProperties>${policy}</StorageServiceProperties>`;
  await gives(new Resource(server, '/').put('restype=service&comp=properties', {}, body), 202);
}

async function deletedVersion({ server }: Given): Promise<string> {
  const { text } = await gives(new Resource(server, '/').get('comp=list&include=deleted'), 200);
  assert.match(text, /<Deleted>true<\/Deleted>/);
  return /<Version>([0-9A-F]{16})<\/Version>/.exec(text)?.[1] ?? '';
}

test('with soft delete on, a deleted share is kept, listed and restored with all that is in it', async (t) => {
  const it = await given(t, { file: 'docs/a.txt', content: 'kept' });
  await keepDeleted(it, 7);
  const { share } = it;
  const snapshot = await share.snapshot();
  await gives(share.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  await refuses(share.get(), 404, 'ShareNotFound');
  const listed = await gives(new Resource(it.server, '/').get('comp=list'), 200);
  assert.doesNotMatch(listed.text, /<Share>/);
  const version = await deletedVersion(it);
  const headers = { 'x-ms-deleted-share-name': 'files', 'x-ms-deleted-share-version': version };
  await gives(share.put('comp=undelete', headers), 201);
  assert.equal(await it.file.text(), 'kept');
  assert.equal(await it.file.text(`sharesnapshot=${snapshot}`), 'kept');
  await refuses(share.put('comp=undelete', headers), 404, 'ShareNotFound');
});

test('it can be restored under another name, but not over a share that is there', async (t) => {
  const it = await given(t, { file: 'a.txt', content: 'old' });
  await keepDeleted(it, 7);
  await gives(it.share.delete(), 202);
  await gives(it.share.put(), 201);
  const version = await deletedVersion(it);
  const headers = { 'x-ms-deleted-share-name': 'files', 'x-ms-deleted-share-version': version };
  await refuses(it.share.put('comp=undelete', headers), 409, 'ShareAlreadyExists');
  const other = new Share(it.server, 'restored');
  await gives(other.put('comp=undelete', headers), 201);
  assert.equal(await other.file('a.txt').text(), 'old');
  assert.deepEqual(await it.share.root.names(), []);
});

test('when its days are over it is gone', async (t) => {
  const it = await given(t);
  await keepDeleted(it, 1);
  await gives(it.share.delete(), 202);
  const version = await deletedVersion(it);
  it.server.pass(24 * 3600 + 1);
  const headers = { 'x-ms-deleted-share-name': 'files', 'x-ms-deleted-share-version': version };
  await refuses(it.share.put('comp=undelete', headers), 404, 'ShareNotFound');
});

test('versions that are none are refused', async (t) => {
  const it = await given(t);
  const name = { 'x-ms-deleted-share-name': 'files' };
  await refuses(it.share.put('comp=undelete', name), 400, 'MissingRequiredHeader');
  for (const version of ['', 'x', '123', 'G1D2AC0C18EDFE36']) {
    const headers = { ...name, 'x-ms-deleted-share-version': version };
    await refuses(it.share.put('comp=undelete', headers), 400, 'InvalidHeaderValue');
  }
  for (const version of ['01DC0000000000A0', '01D2AC0C18EDFE36', 'FFFFFFFFFFFFFFFF']) {
    const headers = { ...name, 'x-ms-deleted-share-version': version };
    await refuses(it.share.put('comp=undelete', headers), 404, 'ShareNotFound');
  }
});
