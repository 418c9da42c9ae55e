import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const put = (blob: Blob, first: number, pages: number) =>
  gives(
    blob.put(
      'comp=page',
      { 'x-ms-page-write': 'update', Range: `bytes=${first * 512}-${(first + pages) * 512 - 1}` },
      'x'.repeat(pages * 512),
    ),
    201,
  );
const clear = (blob: Blob, first: number, pages: number) =>
  gives(
    blob.put('comp=page', {
      'x-ms-page-write': 'clear',
      Range: `bytes=${first * 512}-${(first + pages) * 512 - 1}`,
    }),
    201,
  );

/** `0-1 c2 4`: pages written, and with a c those cleared. */
async function ranges(blob: Blob, query = '', headers = {}): Promise<string> {
  const { text } = await gives(blob.get(`comp=pagelist${query}`, headers), 200);
  const found = text.matchAll(/<(Page|Clear)Range><Start>(\d+)<\/Start><End>(\d+)<\/End>/g);
  return [...found]
    .map(([, kind, start, end]) => {
      const [first, last] = [Number(start) / 512, (Number(end) + 1) / 512 - 1];
      return `${kind === 'Clear' ? 'c' : ''}${first === last ? first : `${first}-${last}`}`;
    })
    .join(' ');
}

const sized = { type: 'PageBlob', headers: { 'x-ms-blob-content-length': String(20 * 512) } } as const;

test('the pages that were written, neighbours as one', async (t) => {
  const { blob } = await given(t, sized);
  assert.equal(await ranges(blob), '');
  await put(blob, 2, 1);
  await put(blob, 3, 2);
  await put(blob, 10, 3);
  await clear(blob, 11, 1);
  assert.equal(await ranges(blob), '2-4 10 12');
  const got = await gives(blob.get('comp=pagelist'), 200);
  assert.equal(header(got, 'etag'), await blob.etag());
  assert.equal(header(got, 'x-ms-blob-content-length'), '10240');
  assert.equal(await ranges(blob, '', { Range: 'bytes=1600-5200' }), '3-4 10');
});

test('some at a time', async (t) => {
  const { blob } = await given(t, sized);
  for (const page of [0, 2, 4, 6, 8]) await put(blob, page, 1);
  const first = await gives(blob.get('comp=pagelist&maxresults=2'), 200);
  const [, marker = ''] = /<NextMarker>(.*)<\/NextMarker>/.exec(first.text) ?? [];
  assert.equal(await ranges(blob, '&maxresults=2'), '0 2');
  assert.equal(await ranges(blob, `&maxresults=2&marker=${marker}`), '4 6');
  assert.equal(await ranges(blob, `&marker=${marker}`), '4 6 8');
});

test('what changed since a snapshot, and between two', async (t) => {
  const { blob, container } = await given(t, sized);
  await put(blob, 0, 4);
  const first = await blob.snapshot();
  await put(blob, 1, 1);
  await put(blob, 8, 1);
  await clear(blob, 3, 1);
  const second = await blob.snapshot();
  await clear(blob, 8, 1);
  await put(blob, 12, 2);
  assert.equal(await ranges(blob, `&prevsnapshot=${first}`), '1 c3 12-13');
  assert.equal(await ranges(blob, `&prevsnapshot=${second}`), 'c8 12-13');
  assert.equal(await ranges(blob, `&snapshot=${second}&prevsnapshot=${first}`), '1 c3 8');
  assert.equal(await ranges(blob, `&snapshot=${second}`), '0-2 8');
  assert.equal(
    await ranges(blob, '', { 'x-ms-previous-snapshot-url': `${blob.url}?snapshot=${first}` }),
    '1 c3 12-13',
  );
  await refuses(
    blob.get(`comp=pagelist&snapshot=${first}&prevsnapshot=${second}`),
    400,
    'PreviousSnapshotCannotBeNewer',
  );
  await refuses(
    blob.get('comp=pagelist&prevsnapshot=2020-01-01T00:00:00.0000000Z'),
    409,
    'PreviousSnapshotNotFound',
  );
  await gives(blob.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }), 201);
  await refuses(blob.get(`comp=pagelist&prevsnapshot=${first}`), 409, 'BlobOverwritten');
  const block = container.blob('block');
  await gives(block.upload('x'), 201);
  await refuses(block.get('comp=pagelist'), 409, 'InvalidBlobType');
});
