import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ClassicLevel } from 'classic-level';
import { realFiles } from '../base/files.js';
import { decodeMark, encodeMark, logName, logNumbers, MarkWriter, readMark } from './durable-mark.js';
import { flipped } from './leveldb/made.suite.js';

test('a mark is read as it was written, and every flipped bit makes it none', () => {
  const mark = { logNumber: 123_456_789_012, size: 98_765_432_101 };
  const bytes = encodeMark(mark);
  assert.deepEqual(decodeMark(bytes), mark);
  for (let bit = 0; bit < bytes.length * 8; bit++) assert.equal(decodeMark(flipped(bytes, bit)), undefined);
  assert.equal(decodeMark(bytes.subarray(1)), undefined);
  assert.equal(decodeMark(Buffer.alloc(0)), undefined);
});

test('the mark follows the log that LevelDB writes, from one to the next', async (t) => {
  const location = await mkdtemp(join(tmpdir(), 'lazuli-mark-'));
  t.after(() => rm(location, { recursive: true, force: true }));
  const records = join(location, 'store');
  assert.equal(await readMark(realFiles, location), undefined);
  const level = new ClassicLevel(records, { writeBufferSize: 64 * 1024 });
  await level.open();
  const synced: string[] = [];
  const files = { ...realFiles, syncFolder: async (folder: string) => void synced.push(folder) };
  const writer = new MarkWriter(files, location, records);
  const numbers = new Set<number>();
  for (let index = 0; index < 60; index++) {
    await level.put(`key ${index}`, 'v'.repeat(5000), { sync: true });
    await writer.note();
    const newest = logNumbers(await readdir(records)).at(-1) ?? 0;
    const { size } = await stat(join(records, logName(newest)));
    assert.deepEqual(await readMark(realFiles, location), { logNumber: newest, size });
    numbers.add(newest);
  }
  assert.ok(numbers.size > 2, 'LevelDB has begun several logs');
  assert.deepEqual(synced, Array(numbers.size).fill(records), 'the name of each was synced once');
  await level.close();
  writer.close();
});
