import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

type Headers = Readonly<Record<string, string | undefined>>;

const put = (blob: Blob, first: number, content: string | Buffer, headers: Headers = {}) =>
  blob.put(
    'comp=page',
    { 'x-ms-page-write': 'update', 'x-ms-range': `bytes=${first}-${first + content.length - 1}`, ...headers },
    content,
  );
const clear = (blob: Blob, first: number, last: number, headers: Headers = {}) =>
  blob.put('comp=page', { 'x-ms-page-write': 'clear', Range: `bytes=${first}-${last}`, ...headers });

const page = (letter: string) => letter.repeat(512);
const zeros = '\0'.repeat(512);

test('pages are written anywhere, and zero where nothing was written', async (t) => {
  const { blob } = await given(t, { type: 'PageBlob' });
  assert.equal(await blob.text(), zeros + zeros);
  const before = await blob.etag();
  const written = await gives(put(blob, 512, page('b')), 201);
  assert.notEqual(header(written, 'etag'), before);
  assert.equal(header(written, 'x-ms-blob-sequence-number'), '0');
  assert.equal(header(written, 'x-ms-content-crc64').length, 12);
  assert.equal(await blob.text(), zeros + page('b'));
  await gives(put(blob, 0, page('a') + page('c')), 201);
  const cleared = await gives(clear(blob, 0, 511), 201);
  assert.equal(cleared.headers.has('x-ms-content-crc64'), false);
  assert.equal(await blob.text(), zeros + page('c'));
});

test('pages beyond 4 KiB, and ranges of them', async (t) => {
  const { blob } = await given(t, { type: 'PageBlob', headers: { 'x-ms-blob-content-length': '1048576' } });
  const content = Buffer.alloc(65_536, 'pages');
  await gives(put(blob, 512_000, content), 201);
  await gives(put(blob, 512_512, page('x')), 201);
  const got = await gives(blob.get('', { Range: 'bytes=511990-513100' }), 206);
  const expected = Buffer.alloc(1048576);
  content.copy(expected, 512_000);
  Buffer.from(page('x')).copy(expected, 512_512);
  assert.ok(got.body.equals(expected.subarray(511_990, 513_101)));
  assert.ok((await gives(blob.get(), 200)).body.equals(expected));
});

const ranges = [
  // first last     length  status code
  ['0', '511', 512, 201, ''],
  ['0', '1023', 1024, 201, ''],
  ['1', '512', 512, 416, 'InvalidPageRange'],
  ['0', '510', 511, 416, 'InvalidPageRange'],
  ['512', '1535', 1024, 416, 'InvalidPageRange'],
  ['1024', '1535', 512, 416, 'InvalidPageRange'],
  ['0', '511', 511, 400, 'InvalidHeaderValue'],
  ['0', '511', 1024, 400, 'InvalidHeaderValue'],
  ['512', '0', 512, 400, 'InvalidHeaderValue'],
  ['0', '', 512, 400, 'InvalidHeaderValue'],
] as const;

for (const [first, last, length, status, code] of ranges) {
  test(`${length} bytes to ${first}-${last} of two pages give ${status} ${code}`, async (t) => {
    const { blob } = await given(t, { type: 'PageBlob' });
    const headers = { 'x-ms-page-write': 'update', Range: `bytes=${first}-${last}` };
    const answer = blob.put('comp=page', headers, 'x'.repeat(length));
    if (status === 201) await gives(answer, status);
    else await refuses(answer, status, code);
  });
}

test('a page needs its range, what to do, and a page blob that exists', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  await refuses(put(blob, 0, page('a')), 409, 'InvalidBlobType');
  await refuses(put(container.blob('none'), 0, page('a')), 404, 'BlobNotFound');
  await refuses(blob.put('comp=page', { Range: 'bytes=0-511' }, page('a')), 400, 'MissingRequiredHeader');
  await refuses(
    blob.put('comp=page', { 'x-ms-page-write': 'update' }, page('a')),
    400,
    'MissingRequiredHeader',
  );
  const large = { 'x-ms-page-write': 'update', Range: 'bytes=0-4194815' };
  await refuses(blob.put('comp=page', large, Buffer.alloc(4_194_816)), 413, 'RequestBodyTooLarge');
});

const sequences = [
  // header  with sequence number 5
  ['le', '5', 201],
  ['le', '4', 412],
  ['lt', '6', 201],
  ['lt', '5', 412],
  ['eq', '5', 201],
  ['eq', '4', 412],
] as const;

for (const [name, number, status] of sequences) {
  test(`x-ms-if-sequence-number-${name}: ${number} with number 5 gives ${status}`, async (t) => {
    const { blob } = await given(t, { type: 'PageBlob', headers: { 'x-ms-blob-sequence-number': '5' } });
    const condition = { [`x-ms-if-sequence-number-${name}`]: number };
    for (const answer of [put(blob, 0, page('a'), condition), clear(blob, 0, 511, condition)]) {
      if (status === 201) await gives(answer, 201);
      else await refuses(answer, 412, 'SequenceNumberConditionNotMet');
    }
  });
}

test('the size and the sequence number are properties', async (t) => {
  const { blob } = await given(t, { type: 'PageBlob' });
  const set = (headers: Headers) => blob.put('comp=properties', headers);
  await gives(put(blob, 512, page('b')), 201);
  await gives(set({ 'x-ms-blob-content-length': '512' }), 200);
  await gives(set({ 'x-ms-blob-content-length': '1024' }), 200);
  assert.equal(await blob.text(), zeros + zeros, 'what was cut off does not come back');
  const action = 'x-ms-sequence-number-action';
  const number = 'x-ms-blob-sequence-number';
  assert.equal(header(await gives(set({ [action]: 'update', [number]: '7' }), 200), number), '7');
  assert.equal(header(await gives(set({ [action]: 'max', [number]: '3' }), 200), number), '7');
  assert.equal(header(await gives(set({ [action]: 'max', [number]: '9' }), 200), number), '9');
  assert.equal(header(await gives(set({ [action]: 'increment' }), 200), number), '10');
  await gives(set({ [action]: 'update', [number]: '9223372036854775807' }), 200);
  await refuses(set({ [action]: 'increment' }), 409, 'SequenceNumberIncrementTooLarge');
  await refuses(set({ [action]: 'increment', [number]: '1' }), 400, 'InvalidHeaderValue');
  await refuses(set({ [number]: '1' }), 400, 'MissingRequiredHeader');
  await refuses(set({ [action]: 'update' }), 400, 'MissingRequiredHeader');
  await refuses(set({ [action]: 'update', [number]: '9223372036854775808' }), 400, 'InvalidHeaderValue');
  await refuses(set({ 'x-ms-blob-content-length': '513' }), 400, 'InvalidHeaderValue');
  assert.equal(header(await blob.head(), number), '9223372036854775807');
});

test('a page blob has a length of whole pages, and only it has one', async (t) => {
  const { container } = await given(t);
  const make = (length: string | undefined) =>
    container.blob('x').put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': length });
  await refuses(make(undefined), 400, 'MissingRequiredHeader');
  await refuses(make('500'), 400, 'InvalidHeaderValue');
  await refuses(make('8796093022720'), 413, 'RequestBodyTooLarge');
  await gives(make('8796093022208'), 201);
  await gives(make('0'), 201);
});

test('snapshots show what was there, whatever is written, resized or deleted later', async (t) => {
  const { blob, server } = await given(t, {
    type: 'PageBlob',
    headers: { 'x-ms-blob-content-length': '2048' },
  });
  const states: [snapshot: string, content: string][] = [];
  const snap = async () => states.push([await blob.snapshot(), await blob.text()]);
  await gives(put(blob, 0, page('a') + page('b')), 201);
  await snap();
  await gives(put(blob, 512, page('c') + page('d')), 201);
  await snap();
  await gives(clear(blob, 0, 511), 201);
  await gives(blob.put('comp=properties', { 'x-ms-blob-content-length': '1024' }), 200);
  await snap();
  await gives(put(blob, 0, page('e')), 201);
  const now = await blob.text();
  const check = async () => {
    await server.running.sweep();
    for (const [snapshot, content] of states) assert.equal(await blob.text(`snapshot=${snapshot}`), content);
  };
  await check();
  const [[middle]] = states.splice(1, 1) as [[string, string]];
  await gives(blob.delete(`snapshot=${middle}`), 202);
  await check();
  const [newest] = states.pop() as [string, string];
  await gives(blob.delete(`snapshot=${newest}`), 202);
  await gives(put(blob, 512, page('f')), 201);
  await check();
  assert.equal(await blob.text(), now.slice(0, 512) + page('f'));
  await gives(blob.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }), 201);
  await check();
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  await server.running.sweep();
});

test('a copy of a page blob is written by itself', async (t) => {
  const { blob, container } = await given(t, {
    type: 'PageBlob',
    headers: { 'x-ms-blob-sequence-number': '4' },
  });
  await gives(put(blob, 0, page('a')), 201);
  const snapshot = await blob.snapshot();
  await gives(put(blob, 0, page('b')), 201);
  const copy = container.blob('copy');
  const old = container.blob('old');
  await gives(copy.copyFrom(blob), 202);
  await gives(old.copyFrom(`${blob.url}?snapshot=${snapshot}`), 202);
  await gives(put(blob, 512, page('c')), 201);
  await gives(put(copy, 512, page('d')), 201);
  assert.equal(await blob.text(), page('b') + page('c'));
  assert.equal(await copy.text(), page('b') + page('d'));
  assert.equal(await old.text(), page('a') + zeros);
  assert.equal(header(await copy.head(), 'x-ms-blob-sequence-number'), '4');
});
