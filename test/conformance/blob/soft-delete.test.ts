// Undelete Blob, Restore Container, and what is kept of what was deleted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Given, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const day = 24 * 3600;

async function retained(
  t: Parameters<typeof given>[0],
  state: Parameters<typeof given>[1] = {},
): Promise<Given> {
  const found = await given(t, { content: 'v1', ...state });
  const body =
    '<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>';
  await gives(found.server.ask({ method: 'PUT', path: '/?restype=service&comp=properties', body }), 202);
  return found;
}

test('a deleted blob is gone and can be restored as it was', async (t) => {
  const { blob, container } = await retained(t, { headers: { 'x-ms-meta-a': '1', 'x-ms-tags': 'k=v' } });
  const etag = await blob.etag();
  const deleted = await gives(blob.delete(), 202);
  assert.equal(header(deleted, 'x-ms-delete-type-permanent'), 'false');
  await refuses(blob.get(), 404, 'BlobNotFound');
  await refuses(blob.put('comp=metadata'), 404, 'BlobNotFound');
  assert.deepEqual(await container.names(), []);
  const listed = await gives(container.list('include=deleted'), 200);
  assert.match(
    listed.text,
    /<Name>cat.jpg<\/Name><Deleted>true<\/Deleted>.*<DeletedTime>.*<RemainingRetentionDays>6<\/RemainingRetentionDays>/,
  );
  assert.doesNotMatch(listed.text, /<Snapshot>|LeaseState/);
  await gives(blob.put('comp=undelete'), 200);
  const back = await gives(blob.get(), 200);
  assert.equal(back.text, 'v1');
  assert.equal(header(back, 'etag'), etag);
  assert.equal(header(back, 'x-ms-meta-a'), '1');
  assert.equal(header(back, 'x-ms-tag-count'), '1');
});

test('snapshots come back with their blob', async (t) => {
  const { blob, container } = await retained(t);
  const snapshot = await blob.snapshot();
  await gives(blob.upload('v2'), 201);
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  await refuses(blob.get(`snapshot=${snapshot}`), 404, 'BlobNotFound');
  assert.equal((await container.names('include=deleted,snapshots')).length, 3);
  await gives(blob.put('comp=undelete'), 200);
  assert.equal(await blob.text(), 'v2');
  assert.equal(await blob.text(`snapshot=${snapshot}`), 'v1');
});

test('what is overwritten can be restored as a snapshot', async (t) => {
  const { blob, container } = await retained(t);
  await gives(blob.upload('v2'), 201);
  const { text } = await gives(container.list('include=deleted,snapshots'), 200);
  const [, snapshot = ''] = /<Snapshot>(.*?)<\/Snapshot><Deleted>true/.exec(text) ?? [];
  await refuses(blob.get(`snapshot=${snapshot}`), 404, 'BlobNotFound');
  await gives(blob.put('comp=undelete'), 200);
  assert.equal(await blob.text(`snapshot=${snapshot}`), 'v1');
  assert.equal(await blob.text(), 'v2');
});

test('of a name that was deleted twice, the last is the blob and the first a snapshot', async (t) => {
  const { blob, container } = await retained(t);
  await gives(blob.delete(), 202);
  await gives(blob.upload('v2', { 'If-None-Match': '*' }), 201);
  await gives(blob.delete(), 202);
  assert.equal((await container.names('include=deleted')).length, 1);
  await gives(blob.put('comp=undelete'), 200);
  assert.equal(await blob.text(), 'v2');
  const { text } = await gives(container.list('include=snapshots'), 200);
  const [, snapshot = ''] = /<Snapshot>(.*?)<\/Snapshot>/.exec(text) ?? [];
  assert.equal(await blob.text(`snapshot=${snapshot}`), 'v1');
});

test('after its time nothing is left', async (t) => {
  const { blob, container, server } = await retained(t, { content: 'x'.repeat(10_000) });
  await gives(blob.delete(), 202);
  server.pass(7 * day + 1);
  assert.deepEqual(await container.names('include=deleted'), []);
  await refuses(blob.put('comp=undelete'), 404, 'BlobNotFound');
  await server.running.sweep();
  await refuses(blob.put('comp=undelete'), 404, 'BlobNotFound');
});

test('undelete of what is there changes nothing; of what never was is refused', async (t) => {
  const { blob, container } = await retained(t);
  const etag = await blob.etag();
  await gives(blob.put('comp=undelete'), 200);
  assert.equal(await blob.etag(), etag);
  await refuses(container.blob('never').put('comp=undelete'), 404, 'BlobNotFound');
});

test('without the policy a delete is for good', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  assert.equal(header(await gives(blob.delete(), 202), 'x-ms-delete-type-permanent'), 'true');
  await refuses(blob.put('comp=undelete'), 404, 'BlobNotFound');
});

test('a page blob comes back and is written on', async (t) => {
  const { blob, server } = await retained(t, { type: 'PageBlob' });
  const put = (first: number, letter: string) =>
    gives(
      blob.put(
        'comp=page',
        { 'x-ms-page-write': 'update', Range: `bytes=${first}-${first + 511}` },
        letter.repeat(512),
      ),
      201,
    );
  await put(0, 'a');
  const snapshot = await blob.snapshot();
  await put(512, 'b');
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  await server.running.sweep();
  await gives(blob.put('comp=undelete'), 200);
  await put(0, 'c');
  await server.running.sweep();
  assert.equal(await blob.text(), 'c'.repeat(512) + 'b'.repeat(512));
  assert.equal(await blob.text(`snapshot=${snapshot}`), 'a'.repeat(512) + '\0'.repeat(512));
});

test('a deleted container is restored with its blobs', async (t) => {
  const { blob, container, server } = await given(t, {
    content: 'v1',
    settings: { containerRetentionDays: 3 },
  });
  await gives(container.acquire(60), 201);
  await gives(container.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
  await gives(container.delete(), 202);
  await refuses(blob.get(), 404, 'ContainerNotFound');
  const { text } = await gives(server.ask({ path: '/?comp=list&include=deleted' }), 200);
  const [, version = ''] =
    /<Name>photos<\/Name><Version>(.*?)<\/Version><Deleted>true<\/Deleted>/.exec(text) ?? [];
  const restore = (headers: Record<string, string>) =>
    container.put('comp=undelete', { 'x-ms-deleted-container-name': 'photos', ...headers });
  await refuses(restore({}), 400, 'MissingRequiredHeader');
  await refuses(restore({ 'x-ms-deleted-container-version': '0000000000000001' }), 409, 'ContainerNotFound');
  await gives(container.create(), 201);
  await refuses(restore({ 'x-ms-deleted-container-version': version }), 409, 'ContainerAlreadyExists');
  await gives(container.delete(), 202);
  await gives(restore({ 'x-ms-deleted-container-version': version }), 201);
  assert.equal(await blob.text(), 'v1');
  assert.equal(header(await container.head(), 'x-ms-lease-state'), 'available');
  await refuses(restore({ 'x-ms-deleted-container-version': version }), 409, 'ContainerNotFound');
});

test('a restored container has its tags, though another one of that name had the same', async (t) => {
  const tagged = { 'x-ms-tags': 'kind=cat' };
  const { blob, container, server } = await given(t, {
    content: 'v1',
    headers: tagged,
    settings: { containerRetentionDays: 3 },
  });
  const found = async () =>
    (await gives(server.ask({ path: "/?comp=blobs&where=kind='cat'" }), 200)).text.match(/<Blob>/g)?.length;
  await gives(container.delete(), 202);
  const { text } = await gives(server.ask({ path: '/?comp=list&include=deleted' }), 200);
  const [, version = ''] = /<Version>(.*?)<\/Version>/.exec(text) ?? [];
  await gives(container.create(), 201);
  await gives(blob.upload('v2', tagged), 201);
  assert.equal(await found(), 1);
  await gives(blob.upload('v3'), 201);
  await gives(container.delete(), 202);
  assert.equal(await found(), undefined);
  const named = { 'x-ms-deleted-container-name': 'photos', 'x-ms-deleted-container-version': version };
  await gives(container.put('comp=undelete', named), 201);
  assert.equal(await blob.text(), 'v1');
  assert.equal(await found(), 1);
});

test('after its time a container is not restored', async (t) => {
  const { container, server } = await given(t, { content: 'v1', settings: { containerRetentionDays: 3 } });
  await gives(container.delete(), 202);
  const { text } = await gives(server.ask({ path: '/?comp=list&include=deleted' }), 200);
  const [, version = ''] = /<Version>(.*?)<\/Version>/.exec(text) ?? [];
  server.pass(3 * day + 1);
  assert.doesNotMatch((await server.ask({ path: '/?comp=list&include=deleted' })).text, /photos/);
  await server.running.sweep();
  const headers = { 'x-ms-deleted-container-name': 'photos', 'x-ms-deleted-container-version': version };
  await refuses(container.put('comp=undelete', headers), 409, 'ContainerNotFound');
});
