import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, type Given, given, header, leaseA } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

async function pair(t: Parameters<typeof given>[0], state: Parameters<typeof given>[1] = {}) {
  const found: Given = await given(t, { content: 'v1', ...state });
  return { ...found, source: found.blob, target: found.container.blob('target') };
}

test('a copy has the content, properties and metadata of its source, and says where it came from', async (t) => {
  const { source, target } = await pair(t, {
    headers: { 'x-ms-blob-content-type': 'text/plain', 'x-ms-meta-a': '1', 'x-ms-tags': 'k=v' },
  });
  const copied = await gives(target.copyFrom(source), 202);
  assert.equal(header(copied, 'x-ms-copy-status'), 'success');
  assert.equal(header(copied, 'etag'), await target.etag());
  assert.notEqual(header(copied, 'etag'), await source.etag());
  const got = await gives(target.get(), 200);
  assert.equal(got.text, 'v1');
  assert.equal(header(got, 'content-type'), 'text/plain');
  assert.equal(header(got, 'x-ms-meta-a'), '1');
  assert.equal(got.headers.has('x-ms-tag-count'), false);
  assert.equal(header(got, 'x-ms-copy-id'), header(copied, 'x-ms-copy-id'));
  assert.equal(header(got, 'x-ms-copy-source'), source.url);
  assert.equal(header(got, 'x-ms-copy-progress'), '2/2');
  assert.ok(got.headers.has('x-ms-copy-completion-time'));
});

test('metadata and tags that are given are those of the copy', async (t) => {
  const { source, target } = await pair(t, { headers: { 'x-ms-meta-a': '1' } });
  await gives(target.copyFrom(source, { 'x-ms-meta-b': '2', 'x-ms-tags': 'x=y' }), 202);
  const head = await gives(target.head(), 200);
  assert.equal(head.headers.has('x-ms-meta-a'), false);
  assert.equal(header(head, 'x-ms-meta-b'), '2');
  assert.equal(header(head, 'x-ms-tag-count'), '1');
});

test('a copy stays when its source goes, and the source when the copy goes', async (t) => {
  const { source, target, server } = await pair(t, { content: 'x'.repeat(10_000) });
  await gives(target.copyFrom(source), 202);
  await gives(source.delete(), 202);
  await server.running.sweep();
  assert.equal((await target.text()).length, 10_000);
});

test('blocks are copied with their list', async (t) => {
  const { container } = await given(t);
  const source = container.blob('source');
  for (const id of ['a', 'b']) await gives(source.putBlock(id, id), 201);
  await gives(source.commit(['Latest b', 'Latest a']), 201);
  const target = container.blob('target');
  await gives(target.copyFrom(source), 202);
  await gives(target.commit(['Committed a']), 201);
  assert.equal(await target.text(), 'a');
  assert.equal(await source.text(), 'ba');
});

test('a copy of an append blob grows by itself', async (t) => {
  const { container, blob: source } = await given(t, { type: 'AppendBlob', content: 'one' });
  const target = container.blob('target');
  await gives(target.copyFrom(source), 202);
  await gives(target.append('two'), 201);
  await gives(source.append('drei'), 201);
  assert.equal(await target.text(), 'onetwo');
  assert.equal(await source.text(), 'onedrei');
});

test('a snapshot is promoted by copying it over its blob', async (t) => {
  const { source } = await pair(t);
  const snapshot = await source.snapshot();
  await gives(source.upload('v2'), 201);
  await gives(source.copyFrom(`${source.url}?snapshot=${snapshot}`), 202);
  assert.equal(await source.text(), 'v1');
});

test('a blob can be copied over itself', async (t) => {
  const { source } = await pair(t);
  await gives(source.copyFrom(source, { 'x-ms-meta-a': '1' }), 202);
  assert.equal(await source.text(), 'v1');
  assert.equal(header(await source.head(), 'x-ms-meta-a'), '1');
});

test('a source that is not there, not allowed or no address is refused', async (t) => {
  const { source, target, server } = await pair(t);
  await refuses(target.copyFrom(`${source.url}x`), 404, 'CannotVerifyCopySource');
  await refuses(
    target.copyFrom(`${source.url}?snapshot=2020-01-01T00:00:00.0000000Z`),
    404,
    'CannotVerifyCopySource',
  );
  await refuses(target.copyFrom('nowhere'), 400, 'InvalidHeaderValue');
  await refuses(
    target.copyFrom(`http://127.0.0.1:${server.address.port}/nobody/c/b`),
    404,
    'CannotVerifyCopySource',
  );
  await refuses(
    target.copyFrom(`${source.url}?sig=x&sv=2020-08-04&sr=b&sp=r&se=2099-01-01`),
    403,
    'CannotVerifyCopySource',
  );
  await refuses(target.get(), 404, 'BlobNotFound');
});

test('conditions on the source are judged against the source', async (t) => {
  const { source, target } = await pair(t);
  const etag = await source.etag();
  const copy = (name: string, value: string) =>
    target.copyFrom(source, { [`x-ms-source-if-${name}`]: value });
  await refuses(copy('match', '"0x1"'), 412, 'SourceConditionNotMet');
  await refuses(copy('none-match', etag), 412, 'SourceConditionNotMet');
  await refuses(copy('unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT'), 412, 'SourceConditionNotMet');
  await refuses(copy('modified-since', 'Fri, 01 Jan 2100 00:00:00 GMT'), 412, 'SourceConditionNotMet');
  await gives(copy('match', etag), 202);
});

test('conditions on the target are judged against the target', async (t) => {
  const { source, target } = await pair(t);
  await gives(target.copyFrom(source, { 'If-None-Match': '*' }), 202);
  await refuses(target.copyFrom(source, { 'If-None-Match': '*' }), 409, 'BlobAlreadyExists');
  await refuses(target.copyFrom(source, { 'If-Match': '"0x1"' }), 412, 'TargetConditionNotMet');
  await gives(target.copyFrom(source, { 'If-Match': await target.etag() }), 202);
});

test('a leased target needs the id of an infinite lease', async (t) => {
  const { source, target } = await pair(t);
  await gives(target.upload('old'), 201);
  await gives(target.acquire(60), 201);
  await refuses(target.copyFrom(source), 412, 'LeaseIdMissing');
  await refuses(target.copyFrom(source, { 'x-ms-lease-id': leaseA }), 412, 'InfiniteLeaseDurationRequired');
  await gives(target.acquire(-1), 201);
  await gives(target.copyFrom(source, { 'x-ms-lease-id': leaseA }), 202);
  assert.equal(header(await target.head(), 'x-ms-lease-duration'), 'infinite');
});

test('a blob of another type is not copied over', async (t) => {
  const { source, container } = await pair(t);
  const log: Blob = container.blob('log');
  await gives(log.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  await refuses(log.copyFrom(source), 409, 'InvalidBlobType');
});

test('the copy that a blob came from is told until it is written again', async (t) => {
  const { source, target } = await pair(t);
  await gives(target.copyFrom(source), 202);
  await gives(target.upload('v2'), 201);
  assert.equal((await target.head()).headers.has('x-ms-copy-id'), false);
});

test('a source of a service that is not served here is not found', async (t) => {
  const { container, server } = await given(t);
  const source = `https://${server.account.name}.file.core.windows.net/share/file?sig=none`;
  await refuses(container.blob('target').copyFrom(source), 404, 'CannotVerifyCopySource');
});
