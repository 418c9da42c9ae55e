import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { md5, md5Stream } from './md5.js';

const plain = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');
const sample = (length: number, salt = 0) =>
  Buffer.alloc(length).map((_, i) => (i * 31 + (i >> 8) + salt) & 0xff);

/** In chunks of this size, waiting as told. */
async function streamed(bytes: Uint8Array, chunkBytes: number, expectedBytes: number): Promise<string> {
  const stream = md5Stream(expectedBytes);
  for (let at = 0; at < bytes.length; at += chunkBytes)
    await stream.update(bytes.subarray(at, at + chunkBytes));
  return (await stream.digest()).toString('hex');
}

describe('md5', () => {
  test('of a text', () => {
    assert.equal(md5(Buffer.from('abc')).toString('hex'), '900150983cd24fb0d6963f7d28e17f72');
  });

  const large = 4 * 1024 * 1024;
  for (const length of [0, 1, 1000, 262_143, 262_144, 262_145, 600_000, large]) {
    for (const chunk of [1000, 65_536, 262_144, large]) {
      test(`of ${length} bytes in chunks of ${chunk}, here and beside`, async () => {
        const bytes = sample(length);
        assert.equal(await streamed(bytes, chunk, 0), plain(bytes));
        assert.equal(await streamed(bytes, chunk, large), plain(bytes));
      });
    }
  }

  test('of many large bodies at once, also by a caller that does not wait', async () => {
    const bodies = Array.from({ length: 30 }, (_, i) => sample(1_500_000 + i, i));
    const streams = bodies.map(() => md5Stream(large));
    for (let at = 0; at < 1_600_000; at += 100_000) {
      streams.forEach((stream, i) => {
        const bytes = bodies[i]?.subarray(at, at + 100_000);
        if (bytes) void stream.update(bytes);
      });
    }
    const digests = await Promise.all(streams.map((stream) => stream.digest()));
    assert.deepEqual(
      digests.map((digest) => digest.toString('hex')),
      bodies.map(plain),
    );
  });

  test('a stream that is given up leaves the others as they are', async () => {
    const bytes = sample(large);
    const given = Array.from({ length: 20 }, () => md5Stream(large));
    const kept = md5Stream(large);
    for (const stream of given) void stream.update(bytes);
    const pending = kept.update(bytes);
    for (const stream of given) stream.discard();
    await pending;
    assert.equal((await kept.digest()).toString('hex'), plain(bytes));
    assert.equal(await streamed(bytes, 100_000, large), plain(bytes));
  });
});
