// Memory follows load: it grows neither with the number of keys nor with that of past transactions.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporary } from '#src/collections/scenario.suite.js';
import type { Held } from './grower.js';

const full = process.env['LAZULI_FULL'] === '1';
/** A tenth of the keys is more than is kept of those read lately, so that all caches are full by then. */
const [keys, transactions] = full ? [1_000_000, 100_000] : [180_000, 3_000];
const mebibyte = 1024 * 1024;
/** What may differ for other reasons: how full a cache is, what was compiled meanwhile. */
const slackBytes = { heap: (full ? 6 : 2) * mebibyte, buffers: 12 * mebibyte } as const;
/** As for a million blobs. */
const mostAnonymousBytes = 250 * mebibyte;

test(`ten times as much, up to ${keys} keys and ${transactions} transactions, takes no more memory`, async (t) => {
  const folder = await temporary();
  const script = join(import.meta.dirname, 'grower.js');
  const args = ['--expose-gc', script, folder, `${keys}`, `${transactions}`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const told = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Held);
  for (const { after, heapBytes, buffersBytes, anonymousBytes } of told)
    t.diagnostic(
      `${after}: heap ${show(heapBytes)}, buffers ${show(buffersBytes)}, anonymous ${show(anonymousBytes)}`,
    );
  const [first, ...later] = told as [Held, Held, Held];
  for (const { after, heapBytes, buffersBytes, anonymousBytes } of later) {
    assert.ok(heapBytes - first.heapBytes < slackBytes.heap, `the heap has grown after ${after}`);
    assert.ok(buffersBytes - first.buffersBytes < slackBytes.buffers, `buffers have grown after ${after}`);
    assert.ok(anonymousBytes < mostAnonymousBytes, `the process has grown after ${after}`);
  }
});

function show(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(1)} MiB`;
}
