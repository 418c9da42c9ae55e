// Get Blob Tags, Set Blob Tags, Find Blobs by Tags.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlobService } from '#src/services/blob/service.js';
import { type Blob, Container, given, leaseA } from '../../support/given.js';
import { temporaryFolder } from '../../support/program.js';
import { gives, refuses, startServer, type TestServer } from '../../support/server.js';

const xml = (tags: Readonly<Record<string, string>>) =>
  `<?xml version="1.0"?><Tags><TagSet>${Object.entries(tags)
    .map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`)
    .join('')}</TagSet></Tags>`;
const set = (blob: Blob, tags: Readonly<Record<string, string>>, headers = {}) =>
  blob.put('comp=tags', headers, xml(tags));

test('tags are replaced as a whole, and change no ETag', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-tags': 'a=1' } });
  const etag = await blob.etag();
  await gives(set(blob, { b: '2', 'c d': 'x y' }), 204);
  const got = await gives(blob.get('comp=tags'), 200);
  assert.ok(got.text.endsWith(xml({ b: '2', 'c d': 'x y' }).replace(/^<\?.*?\?>/, '')), got.text);
  assert.equal(await blob.etag(), etag);
  await gives(set(blob, {}), 204);
  assert.match((await blob.get('comp=tags')).text, /<Tags><TagSet \/><\/Tags>/);
});

test('tags that break the rules are refused', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`t${index}`, 'x']));
  await refuses(set(blob, many), 400, 'TagsTooLarge');
  await refuses(set(blob, { 'a*': '1' }), 400, 'InvalidTag');
  await refuses(set(blob, { [`${'k'.repeat(129)}`]: '1' }), 400, 'InvalidTag');
  await refuses(blob.put('comp=tags', {}, '<Tags>'), 400, 'InvalidXmlDocument');
  await refuses(blob.upload('v2', { 'x-ms-tags': 'a' }), 400, 'InvalidTag');
});

test('tags need the lease, and take a condition on tags alone', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-tags': 'a=1' }, leasedSeconds: 60 });
  await refuses(set(blob, { a: '2' }), 412, 'LeaseIdMissing');
  const held = { 'x-ms-lease-id': leaseA };
  await refuses(set(blob, { a: '2' }, { ...held, 'x-ms-if-tags': "a = '2'" }), 412, 'ConditionNotMet');
  await gives(set(blob, { a: '2' }, { ...held, 'x-ms-if-tags': "a = '1'" }), 204);
  await refuses(set(blob, { a: '3' }, { ...held, 'If-Match': '*' }), 400, 'ConditionHeadersNotSupported');
});

test('a snapshot keeps its tags', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-tags': 'a=1' } });
  const snapshot = await blob.snapshot();
  await gives(set(blob, { a: '2' }), 204);
  assert.match((await blob.get(`comp=tags&snapshot=${snapshot}`)).text, /<Value>1<\/Value>/);
});

async function find(server: TestServer, where: string, path = '/?comp=blobs'): Promise<string[]> {
  const { text } = await gives(server.ask({ path: `${path}&where=${encodeURIComponent(where)}` }), 200);
  return [...text.matchAll(/<Name>(.*?)<\/Name><ContainerName>(.*?)<\/ContainerName>/g)].map(
    ([, name, container]) => `${container}/${name}`,
  );
}

async function gallery(t: Parameters<typeof given>[0]) {
  const { server, container } = await given(t, { container: 'photos' });
  const other = new Container(server, 'videos');
  await gives(other.create(), 201);
  const put = (blob: Blob, tags: string) => gives(blob.upload('x', { 'x-ms-tags': tags }), 201);
  await put(container.blob('cat'), 'kind=cat&year=2019');
  await put(container.blob('dog'), 'kind=dog&year=2020');
  await put(container.blob('old cat'), 'kind=cat&year=1999');
  await put(other.blob('cat'), 'kind=cat&year=2021');
  await gives(container.blob('plain').upload('x'), 201);
  return { server, container, other };
}

const searches = [
  [`kind = 'cat'`, ['photos/cat', 'photos/old cat', 'videos/cat']],
  [`kind = 'cat' AND year > '2000'`, ['photos/cat', 'videos/cat']],
  [`"year" >= '2019' AND "year" < '2021'`, ['photos/cat', 'photos/dog']],
  [`@container = 'videos' AND kind = 'cat'`, ['videos/cat']],
  [`kind = 'bird'`, []],
] as const;

test('blobs are found by their tags', async (t) => {
  const { server, container } = await gallery(t);
  for (const [where, expected] of searches)
    assert.deepEqual((await find(server, where)).sort(), expected, where);
  const inside = `${container.path}?restype=container&comp=blobs`;
  assert.deepEqual(await find(server, `kind = 'cat'`, inside), ['photos/cat', 'photos/old cat']);
});

test('a search sees every change at once', async (t) => {
  const { server, container, other } = await gallery(t);
  const cats = () => find(server, `kind = 'cat'`);
  await gives(set(container.blob('cat'), { kind: 'lion' }), 204);
  await gives(container.blob('old cat').delete(), 202);
  assert.deepEqual(await cats(), ['videos/cat']);
  await gives(container.blob('plain').copyFrom(other.blob('cat'), { 'x-ms-tags': 'kind=cat' }), 202);
  assert.deepEqual(await cats(), ['photos/plain', 'videos/cat']);
  await gives(other.delete(), 202);
  assert.deepEqual(await cats(), ['photos/plain']);
  await gives(container.blob('plain').upload('no tags'), 201);
  assert.deepEqual(await cats(), []);
});

test('a search tells the tags it asked for, and comes in pages', async (t) => {
  const { server } = await gallery(t);
  const where = encodeURIComponent(`kind = 'cat'`);
  const first = await gives(server.ask({ path: `/?comp=blobs&where=${where}&maxresults=2` }), 200);
  assert.match(first.text, /<Tags><TagSet><Tag><Key>kind<\/Key><Value>cat<\/Value><\/Tag><\/TagSet><\/Tags>/);
  assert.doesNotMatch(first.text, /year/);
  const [, marker = ''] = /<NextMarker>(.*)<\/NextMarker>/.exec(first.text) ?? [];
  assert.notEqual(marker, '');
  const second = await gives(server.ask({ path: `/?comp=blobs&where=${where}&marker=${marker}` }), 200);
  assert.equal(second.text.match(/<Blob>/g)?.length, 1);
});

test('a search that is none is refused', async (t) => {
  const { server } = await given(t);
  const search = (where: string) => server.ask({ path: `/?comp=blobs&where=${encodeURIComponent(where)}` });
  for (const where of ['kind', `kind <> 'x'`, `a = '1' OR b = '2'`, `(a = '1')`, `@container = 'x'`]) {
    await refuses(search(where), 400, 'InvalidQueryParameterValue');
  }
  await refuses(server.ask({ path: '/?comp=blobs' }), 400, 'MissingRequiredQueryParameter');
});

test('what is swept of a container that is gone leaves the tags of the next one of that name alone', async (t) => {
  const headers = { 'x-ms-tags': 'a=1' };
  const { blob, container, server } = await given(t, { content: 'v1', headers });
  const found = async () =>
    (await gives(server.ask({ path: "/?comp=blobs&where=a='1'" }), 200)).text.includes('cat.jpg');
  await gives(container.delete(), 202);
  assert.equal(await found(), false);
  await gives(container.create(), 201);
  await gives(blob.upload('v2', headers), 201);
  for (let round = 0; round < 3; round++) await server.running.sweep();
  assert.equal(await found(), true);
});

test('a store with the former index, which had no ids, is indexed when it is opened', async (t) => {
  const location = temporaryFolder(t);
  const stops: (() => Promise<void>)[] = [];
  const { container, server } = await given(
    { after: (stop) => stops.push(stop as () => Promise<void>) },
    { content: 'v1', headers: { 'x-ms-tags': 'a=1' }, location },
  );
  for (let at = 0; at < 1001; at += 1) {
    await gives(container.blob(`b${at}`).upload('', at % 2 === 0 ? { 'x-ms-tags': 'b=1' } : {}), 201);
  }
  const { store } = server.running.services.get('blob') as BlobService;
  await store.run((tx) => store.tags.clear(tx));
  await store.state.dictionary('$system/blob/tags', { system: true, count: false });
  assert.deepEqual(await find(server, "a = '1'"), []);
  for (const stop of stops) await stop();
  const again = await startServer(t, 'blob', { location });
  assert.deepEqual(await find(again, "a = '1'"), ['photos/cat.jpg']);
  assert.equal((await find(again, "b = '1'")).length, 501);
  assert.equal(await again.running.state.get('$system/blob/tags'), undefined);
});
