import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('what is appended lands behind what came before', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob' });
  const before = await blob.etag();
  const first = await gives(blob.append('one'), 201);
  assert.equal(header(first, 'x-ms-blob-append-offset'), '0');
  assert.equal(header(first, 'x-ms-blob-committed-block-count'), '1');
  assert.notEqual(header(first, 'etag'), before);
  const second = await gives(blob.append(Buffer.alloc(5000, 'two')), 201);
  assert.equal(header(second, 'x-ms-blob-append-offset'), '3');
  assert.equal(header(second, 'x-ms-blob-committed-block-count'), '2');
  assert.equal(await blob.text(), `one${Buffer.alloc(5000, 'two')}`);
});

const lengths = [
  // position  max size   length 3, 3 more
  ['3', undefined, 201, ''],
  ['2', undefined, 412, 'AppendPositionConditionNotMet'],
  ['4', undefined, 412, 'AppendPositionConditionNotMet'],
  [undefined, '6', 201, ''],
  [undefined, '5', 412, 'MaxBlobSizeConditionNotMet'],
  [undefined, '2', 412, 'MaxBlobSizeConditionNotMet'],
  ['3', '6', 201, ''],
  ['9223372036854775807', undefined, 412, 'AppendPositionConditionNotMet'],
  [undefined, '9223372036854775807', 201, ''],
  [undefined, '9223372036854775808', 400, 'InvalidHeaderValue'],
  ['x', undefined, 400, 'InvalidHeaderValue'],
  [undefined, '-1', 400, 'InvalidHeaderValue'],
] as const;

for (const [position, size, status, code] of lengths) {
  test(`three bytes behind three, at ${position} and up to ${size}, give ${status} ${code}`, async (t) => {
    const { blob } = await given(t, { type: 'AppendBlob', content: 'one' });
    const append = blob.append('two', {
      'x-ms-blob-condition-appendpos': position,
      'x-ms-blob-condition-maxsize': size,
    });
    if (status === 201) await gives(append, status);
    else await refuses(append, status, code);
    assert.equal(await blob.text(), status === 201 ? 'onetwo' : 'one');
  });
}

test('only an append blob that exists is appended to', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  await refuses(blob.append('x'), 409, 'InvalidBlobType');
  await refuses(container.blob('none').append('x'), 404, 'BlobNotFound');
});

test('an append has bytes, and not too many for its version', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob' });
  await refuses(blob.append(''), 400, 'InvalidHeaderValue');
  const old = { 'x-ms-version': '2021-12-02' };
  await refuses(blob.append(Buffer.alloc(4 * 1024 * 1024 + 1), old), 413, 'RequestBodyTooLarge');
  await gives(blob.append(Buffer.alloc(4 * 1024 * 1024 + 1)), 201);
});

test('a body whose MD5 is another is not appended', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob', content: 'one' });
  await refuses(blob.append('x', { 'Content-MD5': 'XUFAKrxLKna5cZ2REBfFkg==' }), 400, 'Md5Mismatch');
  assert.equal(await blob.text(), 'one');
});
