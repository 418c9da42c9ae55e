import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Container, type Given, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

async function blobs(t: Parameters<typeof given>[0], ...names: string[]): Promise<Given> {
  const found = await given(t);
  for (const name of names) await gives(found.container.blob(name).upload(name), 201);
  return found;
}

/** All pages, each of `max` entries. */
async function pages(container: Container, query: string, max: number): Promise<string[][]> {
  const found: string[][] = [];
  for (let marker = ''; ; ) {
    const { text } = await gives(
      container.list(`${query}&maxresults=${max}&marker=${encodeURIComponent(marker)}`),
      200,
    );
    found.push([...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name = '']) => name));
    marker = /<NextMarker>(.*)<\/NextMarker>/.exec(text)?.[1] ?? '';
    if (marker === '') return found;
  }
}

const names = ['a', 'a/1', 'a/2/x', 'a/2/y', 'b', 'b/1', 'c//d', 'Z', 'ä'];

test('blobs are listed by name, upper case first', async (t) => {
  const { container } = await blobs(t, ...names);
  assert.deepEqual(await container.names(), ['Z', 'a', 'a/1', 'a/2/x', 'a/2/y', 'b', 'b/1', 'c//d', 'ä']);
  assert.deepEqual(await container.names('prefix=a/'), ['a/1', 'a/2/x', 'a/2/y']);
  assert.deepEqual(await container.names('prefix=A'), []);
});

const hierarchies = [
  // prefix  delimiter  entries
  ['', '/', ['Z', 'a', 'a/', 'b', 'b/', 'c/', 'ä']],
  ['a/', '/', ['a/1', 'a/2/']],
  ['a/2/', '/', ['a/2/x', 'a/2/y']],
  ['a', '/', ['a', 'a/']],
  ['', '//', ['Z', 'a', 'a/1', 'a/2/x', 'a/2/y', 'b', 'b/1', 'c//', 'ä']],
  ['', '2', ['Z', 'a', 'a/1', 'a/2', 'b', 'b/1', 'c//d', 'ä']],
] as const;

for (const [prefix, delimiter, entries] of hierarchies) {
  test(`below '${prefix}' by '${delimiter}' there are ${entries.join(' ')}`, async (t) => {
    const { container } = await blobs(t, ...names);
    assert.deepEqual(await container.names(`prefix=${prefix}&delimiter=${delimiter}`), entries);
    for (const max of [1, 2, 3]) {
      const found = await pages(container, `prefix=${prefix}&delimiter=${delimiter}`, max);
      assert.deepEqual(found.flat(), entries, `pages of ${max}`);
      assert.ok(found.slice(0, -1).every((page) => page.length === max));
    }
  });
}

test('a large group is told once and costs no more for what is in it', async (t) => {
  const many = Array.from({ length: 300 }, (_, index) => `group/${String(index).padStart(3, '0')}`);
  const { container } = await blobs(t, ...many, 'behind', 'zero');
  assert.deepEqual(await container.names('delimiter=/'), ['behind', 'group/', 'zero']);
  assert.deepEqual((await pages(container, 'prefix=group/', 70)).flat(), many);
});

test('what is asked for is told again, and what an entry tells', async (t) => {
  const { container } = await given(t, {
    blob: 'photos/cat.jpg',
    content: 'hello',
    headers: { 'x-ms-blob-content-type': 'image/jpeg', 'x-ms-meta-Color': 'r<d' },
  });
  const { text } = await gives(container.list('prefix=c&maxresults=7&delimiter=/&include=metadata'), 200);
  assert.match(
    text,
    /^<\?xml version="1.0" encoding="utf-8"\?><EnumerationResults ServiceEndpoint="http:[^"]*" ContainerName="photos">/,
  );
  assert.match(text, /<Prefix>c<\/Prefix><MaxResults>7<\/MaxResults><Delimiter>\/<\/Delimiter><Blobs>/);
  assert.match(
    text,
    /<Etag>0x[0-9A-F]+<\/Etag><Content-Length>5<\/Content-Length><Content-Type>image\/jpeg<\/Content-Type><Content-Encoding \/><Content-Language \/><Content-MD5>XUFAKrxLKna5cZ2REBfFkg==<\/Content-MD5><Cache-Control \/><Content-Disposition \/><BlobType>BlockBlob<\/BlobType><AccessTier>Hot<\/AccessTier><AccessTierInferred>true<\/AccessTierInferred><LeaseStatus>unlocked<\/LeaseStatus><LeaseState>available<\/LeaseState><ServerEncrypted>true<\/ServerEncrypted>/,
  );
  assert.match(text, /<Metadata><Color>r&lt;d<\/Color><\/Metadata>/);
});

test('snapshots come before their blob, oldest first', async (t) => {
  const { container } = await blobs(t, 'a', 'b');
  const [first, second] = [await container.blob('a').snapshot(), await container.blob('a').snapshot()];
  const { text } = await gives(container.list('include=snapshots'), 200);
  const told = [...text.matchAll(/<Name>(.*?)<\/Name>(?:<Snapshot>(.*?)<\/Snapshot>)?/g)].map(
    ([, name, snapshot]) => [name, snapshot],
  );
  assert.deepEqual(told, [
    ['a', first],
    ['a', second],
    ['a', undefined],
    ['b', undefined],
  ]);
  assert.deepEqual((await pages(container, 'include=snapshots', 1)).flat(), ['a', 'a', 'a', 'b']);
  await refuses(container.list('include=snapshots&delimiter=/'), 400, 'InvalidQueryParameterValue');
});

test('blobs that are not committed are listed on request', async (t) => {
  const { container } = await blobs(t, 'b');
  await gives(container.blob('a').putBlock('x', 'one'), 201);
  assert.deepEqual(await container.names(), ['b']);
  const { text } = await gives(container.list('include=uncommittedblobs'), 200);
  assert.match(
    text,
    /<Name>a<\/Name><Properties><Content-Length>0<\/Content-Length><BlobType>BlockBlob<\/BlobType>/,
  );
});

test('copies and tags are told on request', async (t) => {
  const { container, blob } = await given(t, { content: 'v1' });
  await gives(container.blob('copy').copyFrom(blob, { 'x-ms-tags': 'k=v' }), 202);
  const { text: plain } = await gives(container.list(), 200);
  assert.doesNotMatch(plain, /CopyId|<Tags>/);
  assert.match(plain, /<TagCount>1<\/TagCount>/);
  const { text } = await gives(container.list('include=copy,tags'), 200);
  assert.match(
    text,
    /<CopyId>[-0-9a-f]{36}<\/CopyId>.*<CopyStatus>success<\/CopyStatus><CopyProgress>2\/2<\/CopyProgress>/,
  );
  assert.match(text, /<Tags><TagSet><Tag><Key>k<\/Key><Value>v<\/Value><\/Tag><\/TagSet><\/Tags>/);
});

test('a name that XML cannot carry is encoded', async (t) => {
  const { container } = await blobs(t, 'a\u0001b');
  assert.match((await container.list()).text, /<Name Encoded="true">a%01b<\/Name>/);
});

const sent: [text: string, encoding: 'utf8' | 'latin1'][] = [
  ['attachment; filename="Grüße 東京 😀.txt"', 'utf8'],
  ['attachment; filename="Grüße.txt"', 'latin1'],
];

for (const [text, encoding] of sent) {
  test(`a header in ${encoding} comes back byte for byte, and is text in a listing`, async (t) => {
    const bytes = Buffer.from(text, encoding).toString('latin1');
    const headers = {
      'x-ms-blob-content-disposition': bytes,
      'x-ms-blob-content-type': bytes,
      'x-ms-blob-cache-control': bytes,
      'x-ms-blob-content-language': bytes,
      'x-ms-blob-content-encoding': bytes,
    };
    const { blob, container } = await given(t, { content: 'v1', headers });
    const got = await gives(blob.get(), 200);
    const listed = (await gives(container.list(), 200)).text;
    for (const name of Object.keys(headers)) {
      const told = name.slice('x-ms-blob-'.length);
      assert.equal(header(got, told), bytes);
      assert.match(listed.toLowerCase(), new RegExp(`<${told}>${text.toLowerCase()}</${told}>`));
    }
  });
}

test('a listing that cannot be is refused', async (t) => {
  const { container } = await blobs(t);
  await refuses(container.list('maxresults=0'), 400, 'OutOfRangeQueryParameterValue');
  await refuses(container.list('include=nothing'), 400, 'InvalidQueryParameterValue');
  await refuses(container.list('marker=nowhere'), 400, 'InvalidQueryParameterValue');
  await gives(container.delete(), 202);
  await refuses(container.list(), 404, 'ContainerNotFound');
});

test('a listing may start from a name', async (t) => {
  const { container } = await given(t);
  for (const name of ['a', 'b/1', 'b/2', 'c']) await gives(container.blob(name).upload('x'), 201);
  assert.deepEqual(await container.names('startfrom=b%2F2'), ['b/2', 'c']);
  assert.deepEqual(await container.names('startfrom=b'), ['b/1', 'b/2', 'c']);
  assert.deepEqual(await container.names('startfrom=a&prefix=b'), ['b/1', 'b/2']);
  assert.deepEqual(await container.names('startfrom=c&prefix=b'), []);
  assert.deepEqual(await container.names('startfrom=b%2F2&delimiter=%2F'), ['b/', 'c']);
});
