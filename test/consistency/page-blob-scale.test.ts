// A page blob of many ranges: a write of 4 KiB and a snapshot cost what they cost with few. Counted at the engine, not
// timed: the same reads and the same writes, whatever was written before. LAZULI_FULL=1 does it with 100,000 ranges.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { putPages } from '#src/services/blob/page-blobs.js';
import type { BlobService } from '#src/services/blob/service.js';
import { noConditions } from '#src/services/common/conditions.js';
import { type Blob, given } from '../support/given.js';
import { gives } from '../support/server.js';
import { type Work, workOf } from '../support/work.js';

const full = process.env['LAZULI_FULL'] === '1';
const few = 100;
const many = full ? 100_000 : 3_000;
const page = 512;
const block = Buffer.alloc(4096, 'n');

/** So many ranges of one page each, with a page between that was never written. */
async function blobOf(t: TestContext, ranges: number) {
  const { blob, container, server } = await given(t, { container: 'disks' });
  const size = ranges * 2 * page;
  const headers = { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': String(size) };
  await gives(blob.put('', headers), 201);
  const { store } = server.running.services.get('blob') as BlobService;
  const none = { atMost: undefined, below: undefined, equal: undefined };
  const guards = { conditions: noConditions, leaseId: undefined };
  for (let at = 0; at < size; at += 2 * page) {
    using body = await store.contents.store(Buffer.alloc(page, 'o'));
    const range = { start: at, end: at + page };
    await putPages(store, [server.account.name, 'disks'], 'cat.jpg', range, body, none, guards);
  }
  return { blob, container, server, middle: Math.floor(ranges / 2) * 2 * page };
}

const write = (blob: Blob, at: number) =>
  gives(
    blob.put('comp=page', { 'x-ms-page-write': 'update', Range: `bytes=${at}-${at + 4095}` }, block),
    201,
  );

/** What it takes where nothing else is going on: the least of a few. */
function least(all: readonly Work[]): Work {
  return {
    reads: Math.min(...all.map(({ reads }) => reads)),
    commits: Math.min(...all.map(({ commits }) => commits)),
    writes: Math.min(...all.map(({ writes }) => writes)),
  };
}

async function measure(t: TestContext, ranges: number) {
  const { blob, server, middle } = await blobOf(t, ranges);
  const { engine } = server.running.store;
  const several = async (work: (round: number) => Promise<unknown>) => {
    const all: Work[] = [];
    for (let round = 0; round < 3; round++) all.push(await workOf(engine, () => work(round)));
    return least(all);
  };
  const began = performance.now();
  const written = await several((round) => write(blob, middle + round * 8192));
  const ms = (performance.now() - began) / 3;
  const snapshots: string[] = [];
  const photographed = await several(async () => snapshots.push(await blob.snapshot()));
  const over = await several((round) => write(blob, middle + (round + 3) * 8192));
  const old = await blob.get(`snapshot=${snapshots[0]}`, {
    Range: `bytes=${middle + 3 * 8192}-${middle + 3 * 8192 + 511}`,
  });
  assert.equal(old.text, 'o'.repeat(page), 'the snapshot shows what was there');
  t.diagnostic(`${ranges} ranges: ${JSON.stringify({ written, photographed, over })}, ${ms.toFixed(1)} ms`);
  return { written, photographed, over };
}

test(`a write and a snapshot cost the same with ${few} ranges and with ${many}`, async (t) => {
  const small = await measure(t, few);
  const large = await measure(t, many);
  assert.deepEqual(large, small);
  assert.equal(large.photographed.commits, 1, 'a snapshot is one commit');
  assert.ok(large.photographed.writes <= 6, 'of a few rows');
  assert.equal(large.written.commits, 1);
});
