// Memory follows what is under way, not what is stored or sent: a body that is larger than it, and a container with
// more blobs than fit into a page. Small unless LAZULI_FULL=1: then 5 GiB and 100,000 blobs.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Bulk, eachOf } from '../support/bulk.js';
import { Program } from '../support/restartable.js';

const full = process.env['LAZULI_FULL'] === '1';
const mebibyte = 1024 * 1024;
const limit = { timeout: 1_200_000 };

/** Half of what the process may have in all. */
const mostGrowth = 128 * mebibyte;

async function givenBulk(t: TestContext): Promise<{ program: Program; bulk: Bulk }> {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-scale-'));
  const program = await Program.start(join(folder, 'data'));
  const bulk = new Bulk(program);
  t.after(async () => {
    bulk[Symbol.dispose]();
    await program.kill();
    rmSync(folder, { recursive: true });
  });
  await bulk.put('/box?restype=container');
  return { program, bulk };
}

async function checkStop(program: Program): Promise<void> {
  assert.equal(program.complaints, '');
  assert.equal(await program.stop(), 0);
}

const blockBytes = 8 * mebibyte;

/** Each block is another one; made at once, as a client's disk would. */
function blockOf(base: Buffer, number: number): Buffer {
  const block = Buffer.from(base);
  for (let at = 0; at < block.length; at += 4096) block.writeUInt32LE(number * 7919 + at, at);
  return block;
}

test(`a body of ${full ? '5 GiB' : '96 MiB'} goes up in blocks and down again`, limit, async (t) => {
  const { program, bulk } = await givenBulk(t);
  const count = full ? 640 : 12;
  const base = Buffer.alloc(blockBytes, createHash('sha512').update('seed').digest());
  const idOf = (number: number) => Buffer.from(String(number).padStart(6, '0')).toString('base64');
  bulk.look();
  const before = bulk.peakBytes;
  const started = performance.now();
  await eachOf(count, 4, (number) =>
    bulk.put(`/box/large?comp=block&blockid=${encodeURIComponent(idOf(number))}`, {}, blockOf(base, number)),
  );
  const ids = Array.from({ length: count }, (_, number) => `<Latest>${idOf(number)}</Latest>`);
  await bulk.put('/box/large?comp=blocklist', {}, `<BlockList>${ids.join('')}</BlockList>`);
  const up = performance.now();
  const upPeak = bulk.peakBytes;

  bulk.peakBytes = 0;
  const answer = await bulk.open('/box/large');
  assert.equal(answer.headers['content-length'], String(count * blockBytes));
  let [at, block] = [0, blockOf(base, 0)];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    for (let from = 0; from < chunk.length; ) {
      const inBlock = at % blockBytes;
      if (inBlock === 0) block = blockOf(base, at / blockBytes);
      const length = Math.min(chunk.length - from, blockBytes - inBlock);
      const isSame = chunk.subarray(from, from + length).equals(block.subarray(inBlock, inBlock + length));
      assert.ok(isSame, `the bytes from ${at} on are those that were sent`);
      [from, at] = [from + length, at + length];
    }
  }
  assert.equal(at, count * blockBytes);
  const down = performance.now();
  const rate = (ms: number) => `${(at / mebibyte / (ms / 1000)).toFixed(0)} MiB/s`;
  const shown = (bytes: number) => `${(bytes / mebibyte).toFixed(0)} MiB`;
  t.diagnostic(
    `up ${rate(up - started)}, down ${rate(down - up)}; RssAnon ${shown(before)} before, at most ${shown(upPeak)} while it went up, ${shown(bulk.peakBytes)} down`,
  );
  for (const peak of [upPeak, bulk.peakBytes])
    assert.ok(peak - before < mostGrowth, `it held ${shown(peak - before)} more`);
  await checkStop(program);
});

test(`${full ? '100,000' : '3,000'} blobs are listed page by page`, limit, async (t) => {
  const { program, bulk } = await givenBulk(t);
  const count = full ? 100_000 : 3000;
  const nameOf = (number: number) => `folder-${number % 10}/${String(number).padStart(7, '0')}`;
  const headers = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-meta-number': 'some words of metadata' };
  await eachOf(count, 32, (number) => bulk.put(`/box/${nameOf(number)}`, headers, `content ${number}`));
  const names = Array.from({ length: count }, (_, number) => nameOf(number)).sort();

  bulk.peakBytes = 0;
  bulk.look();
  const before = bulk.peakBytes;
  for (const [pageSize, query] of [
    [5000, ''],
    [1000, '&include=metadata,snapshots,uncommittedblobs,tags'],
  ] as const) {
    const started = performance.now();
    const times: number[] = [];
    const found: string[] = [];
    for (let marker = ''; ; ) {
      const begun = performance.now();
      const page = await bulk.text(
        `/box?restype=container&comp=list&maxresults=${pageSize}${query}&marker=${encodeURIComponent(marker)}`,
      );
      times.push(performance.now() - begun);
      const onPage = [...page.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name = '']) => name);
      assert.ok(onPage.length <= pageSize);
      for (const name of onPage) found.push(name);
      marker = /<NextMarker>([^<]+)</.exec(page)?.[1] ?? '';
      if (marker === '') break;
    }
    const [first = 0, last = 0] = [times[0], times.at(-2)];
    t.diagnostic(
      `${found.length} in ${times.length} pages of ${pageSize}: ${(performance.now() - started).toFixed(0)} ms, the first ${first.toFixed(0)} ms, a late one ${last.toFixed(0)} ms`,
    );
    assert.deepEqual(found, names);
  }
  const grown = (bulk.peakBytes - before) / mebibyte;
  t.diagnostic(
    `RssAnon ${(before / mebibyte).toFixed(0)} MiB with ${count} blobs, ${grown.toFixed(0)} MiB more while they were listed`,
  );
  assert.ok(grown * mebibyte < mostGrowth, `it held ${grown} MiB more`);
  await checkStop(program);
});
