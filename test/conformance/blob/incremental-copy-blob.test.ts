import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const copy = (target: Blob, source: Blob, snapshot?: string) =>
  target.put('comp=incrementalcopy', {
    'x-ms-copy-source': snapshot === undefined ? source.url : `${source.url}?snapshot=${snapshot}`,
  });
const page = (blob: Blob, first: number, letter: string) =>
  gives(
    blob.put(
      'comp=page',
      { 'x-ms-page-write': 'update', Range: `bytes=${first}-${first + 511}` },
      letter.repeat(512),
    ),
    201,
  );

test('the snapshots of a page blob become those of another, in order', async (t) => {
  const { blob, container } = await given(t, { type: 'PageBlob' });
  const target = container.blob('target');
  await page(blob, 0, 'a');
  const first = await blob.snapshot();
  await page(blob, 512, 'b');
  const second = await blob.snapshot();
  await gives(copy(target, blob, first), 202);
  const one = header(await gives(target.head(), 200), 'x-ms-copy-destination-snapshot');
  await gives(copy(target, blob, second), 202);
  const head = await gives(target.head(), 200);
  assert.equal(header(head, 'x-ms-incremental-copy'), 'true');
  const two = header(head, 'x-ms-copy-destination-snapshot');
  assert.equal(await target.text(`snapshot=${one}`), 'a'.repeat(512) + '\0'.repeat(512));
  assert.equal(await target.text(`snapshot=${two}`), 'a'.repeat(512) + 'b'.repeat(512));
  await refuses(copy(target, blob, first), 409, 'IncrementalCopyOfEarlierVersionSnapshotNotAllowed');
  for (const other of [
    target.get(),
    target.put('comp=metadata'),
    target.put('comp=snapshot'),
    target.upload('x'),
  ]) {
    await refuses(other, 409, 'OperationNotAllowedOnIncrementalCopyBlob');
  }
  await gives(target.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
});

test('it takes snapshots of one page blob alone', async (t) => {
  const { blob, container } = await given(t, { type: 'PageBlob' });
  const snapshot = await blob.snapshot();
  const target = container.blob('target');
  await refuses(copy(target, blob), 409, 'IncrementalCopySourceMustBeSnapshot');
  const block = container.blob('block');
  await gives(block.upload('x'), 201);
  await refuses(copy(target, block, await block.snapshot()), 409, 'InvalidSourceBlobType');
  await refuses(copy(block, blob, snapshot), 409, 'IncrementalCopyBlobMismatch');
  await gives(copy(target, blob, snapshot), 202);
  const other = container.blob('other');
  await gives(other.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }), 201);
  await refuses(copy(target, other, await other.snapshot()), 409, 'IncrementalCopyBlobMismatch');
});
