// Versions: what an account that keeps them keeps.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

const versioned = { settings: { versioning: true } } as const;
const id = (answer: WireAnswer) => header(answer, 'x-ms-version-id');

test('every write of a content makes a version, and the earlier ones can be read', async (t) => {
  const { blob, container } = await given(t, versioned);
  const first = await gives(blob.upload('v1'), 201);
  const second = await gives(blob.upload('v2'), 201);
  await gives(blob.putBlock('a', 'v3'), 201);
  const third = await gives(blob.commit(['Latest a']), 201);
  const ids = [first, second, third].map(id);
  assert.equal(new Set(ids).size, 3);
  const contents = await Promise.all(ids.map((version) => blob.text(`versionid=${version}`)));
  assert.deepEqual(contents, ['v1', 'v2', 'v3']);
  const current = await gives(blob.head(), 200);
  assert.equal(id(current), ids[2]);
  assert.equal(header(current, 'x-ms-is-current-version'), 'true');
  const earlier = await gives(blob.head(`versionid=${ids[0]}`), 200);
  assert.equal(id(earlier), ids[0]);
  assert.equal(earlier.headers.has('x-ms-is-current-version'), false);
  assert.equal(earlier.headers.has('x-ms-lease-state'), false);
  assert.equal(header(earlier, 'etag'), header(first, 'etag'));
  const { text } = await gives(container.list('include=versions'), 200);
  assert.deepEqual(
    [...text.matchAll(/<VersionId>(.*?)<\/VersionId>(<IsCurrentVersion>)?/g)].map(([, version, now]) => [
      version,
      now !== undefined,
    ]),
    ids.map((version, index) => [version, index === 2]),
  );
  assert.deepEqual(await container.names(), ['cat.jpg']);
});

const operations = [
  // operation          makes a version
  ['set metadata', true],
  ['snapshot', true],
  ['set properties', false],
  ['set tags', false],
  ['set tier', false],
  ['lease', false],
  ['put block', false],
] as const;

for (const [operation, makes] of operations) {
  test(`${operation} makes ${makes ? 'a' : 'no'} version`, async (t) => {
    const { blob, container } = await given(t, { ...versioned, content: 'v1' });
    const before = id(await blob.head());
    const requests: Readonly<Record<string, () => Promise<WireAnswer>>> = {
      'set metadata': () => blob.put('comp=metadata', { 'x-ms-meta-a': '1' }),
      snapshot: () => blob.put('comp=snapshot'),
      'set properties': () => blob.put('comp=properties'),
      'set tags': () => blob.put('comp=tags', {}, '<Tags><TagSet></TagSet></Tags>'),
      'set tier': () => blob.put('comp=tier', { 'x-ms-access-tier': 'Cool' }),
      lease: () => blob.acquire(15),
      'put block': () => blob.putBlock('a', 'x'),
    };
    const answer = await (requests[operation] as () => Promise<WireAnswer>)();
    assert.ok(answer.status < 300, answer.text);
    const after = id(await blob.head());
    assert.equal(after !== before, makes);
    if (makes) assert.equal(id(answer), after);
    assert.equal((await container.names('include=versions')).length, makes ? 2 : 1);
    assert.equal(await blob.text(`versionid=${before}`), 'v1');
  });
}

test('a delete makes the current version an earlier one', async (t) => {
  const { blob, container } = await given(t, { ...versioned, content: 'v1' });
  const version = id(await blob.head());
  await gives(blob.delete(), 202);
  await refuses(blob.get(), 404, 'BlobNotFound');
  assert.deepEqual(await container.names(), []);
  assert.equal(await blob.text(`versionid=${version}`), 'v1');
  const { text } = await gives(container.list('include=deletedwithversions'), 200);
  assert.match(text, /<Name>cat.jpg<\/Name><HasVersionsOnly>true<\/HasVersionsOnly>/);
  await gives(blob.copyFrom(`${blob.url}?versionid=${version}`), 202);
  assert.equal(await blob.text(), 'v1');
});

test('a version is deleted by its id, the current one too', async (t) => {
  const { blob, container } = await given(t, { ...versioned, content: 'v1' });
  const first = id(await blob.head());
  const second = id(await gives(blob.upload('v2'), 201));
  await gives(blob.delete(`versionid=${first}`), 202);
  await refuses(blob.get(`versionid=${first}`), 404, 'BlobNotFound');
  assert.equal(await blob.text(), 'v2');
  await gives(blob.delete(`versionid=${second}`), 202);
  await refuses(blob.get(), 404, 'BlobNotFound');
  assert.deepEqual(await container.names('include=versions'), []);
});

test('versions of page blobs and append blobs keep what they were', async (t) => {
  const { container, server } = await given(t, versioned);
  const pages = container.blob('pages');
  await gives(pages.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }), 201);
  const put = (letter: string) =>
    gives(
      pages.put('comp=page', { 'x-ms-page-write': 'update', Range: 'bytes=0-511' }, letter.repeat(512)),
      201,
    );
  await put('a');
  const before = id(await pages.head());
  await gives(pages.put('comp=metadata'), 200);
  await put('b');
  const log = container.blob('log');
  await gives(log.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  await gives(log.append('one'), 201);
  const logBefore = id(await log.head());
  await gives(log.put('comp=metadata'), 200);
  await gives(log.append('two'), 201);
  await server.running.sweep();
  assert.equal(await pages.text(`versionid=${before}`), 'a'.repeat(512));
  assert.equal(await pages.text(), 'b'.repeat(512));
  assert.equal(await log.text(`versionid=${logBefore}`), 'one');
  assert.equal(await log.text(), 'onetwo');
});

test('immutability: a policy and a hold keep a blob from being changed', async (t) => {
  const { blob } = await given(t, {
    settings: { versioning: true, versionLevelImmutability: true },
    content: 'v1',
  });
  const began = Date.now();
  const until = (days: number) => new Date(began + days * 24 * 3600 * 1000).toUTCString();
  const policy = (days: number, mode?: string) =>
    blob.put('comp=immutabilityPolicies', {
      'x-ms-immutability-policy-until-date': until(days),
      'x-ms-immutability-policy-mode': mode,
    });
  const set = await gives(policy(10), 200);
  assert.equal(header(set, 'x-ms-immutability-policy-mode'), 'Unlocked');
  await refuses(blob.delete(), 409, 'BlobImmutableDueToPolicy');
  await refuses(blob.put('comp=metadata'), 409, 'BlobImmutableDueToPolicy');
  assert.equal(header(await blob.head(), 'x-ms-immutability-policy-until-date'), until(10));
  await gives(policy(5), 200);
  await gives(blob.delete('comp=immutabilityPolicies'), 200);
  await gives(policy(5, 'Locked'), 200);
  await refuses(policy(4, 'Locked'), 409, 'BlobImmutableDueToPolicy');
  await refuses(policy(6, 'Unlocked'), 409, 'BlobImmutableDueToPolicy');
  await refuses(blob.delete('comp=immutabilityPolicies'), 409, 'BlobImmutableDueToPolicy');
  await gives(policy(6, 'Locked'), 200);
  await gives(blob.upload('v2'), 201);
  await gives(blob.put('comp=legalhold', { 'x-ms-legal-hold': 'true' }), 200);
  await refuses(blob.delete(), 409, 'BlobImmutableDueToLegalHold');
  await gives(blob.put('comp=legalhold', { 'x-ms-legal-hold': 'false' }), 200);
  await gives(blob.delete(), 202);
  await refuses(policy(-1), 400, 'InvalidHeaderValue');
});

test('an account that does not allow immutability says so', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  await refuses(blob.put('comp=legalhold', { 'x-ms-legal-hold': 'true' }), 400, 'UnsupportedHeader');
});
