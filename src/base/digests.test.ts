import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { crc64 } from './crc64.js';
import { digestStream, digestsOf, md5 } from './digests.js';

const both = { md5: true, crc64: true };
const show = ({ md5: sum, crc64: crc }: { md5?: Buffer; crc64?: bigint }) =>
  `${sum?.toString('hex')} ${crc?.toString(16)}`;
const plain = (bytes: Uint8Array) =>
  show({ md5: createHash('md5').update(bytes).digest(), crc64: crc64(bytes) });
const sample = (length: number, salt = 0) =>
  Buffer.alloc(length).map((_, i) => (i * 31 + (i >> 8) + salt) & 0xff);

/** In chunks of this size, waiting as told. */
async function streamed(bytes: Uint8Array, chunkBytes: number, expectedBytes: number): Promise<string> {
  const stream = digestStream(both, expectedBytes);
  for (let at = 0; at < bytes.length; at += chunkBytes)
    await stream.update(bytes.subarray(at, at + chunkBytes));
  return show(await stream.digest());
}

describe('digests', () => {
  test('of a text', () => {
    assert.equal(md5(Buffer.from('abc')).toString('hex'), '900150983cd24fb0d6963f7d28e17f72');
  });

  test('only those that are wanted', async () => {
    for (const length of [10, 600_000]) {
      const bytes = sample(length);
      for (const kinds of [{}, { md5: true }, { crc64: true }, both]) {
        const stream = digestStream(kinds, length);
        await stream.update(bytes);
        const digests = await stream.digest();
        assert.deepEqual(digests, digestsOf(bytes, kinds));
        assert.deepEqual(Object.keys(digests).sort(), Object.keys(kinds).sort());
      }
    }
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

  test('of shared memory, which is not copied', async () => {
    const bytes = Buffer.from(new SharedArrayBuffer(large));
    bytes.set(sample(large));
    assert.equal(await streamed(bytes, 65_536, large), plain(bytes));
    const stream = digestStream(both, large);
    const ending = stream.update(bytes);
    await ending;
    bytes.fill(0);
    assert.equal(show(await stream.digest()), plain(sample(large)));
  });

  test('of many large bodies at once, also by a caller that does not wait', async () => {
    const bodies = Array.from({ length: 30 }, (_, i) => sample(1_500_000 + i, i));
    const streams = bodies.map(() => digestStream(both, large));
    for (let at = 0; at < 1_600_000; at += 100_000) {
      streams.forEach((stream, i) => {
        const bytes = bodies[i]?.subarray(at, at + 100_000);
        if (bytes) void stream.update(bytes);
      });
    }
    const digests = await Promise.all(streams.map((stream) => stream.digest()));
    assert.deepEqual(digests.map(show), bodies.map(plain));
  });

  test('a stream that is given up leaves the others as they are', async () => {
    const bytes = sample(large);
    const given = Array.from({ length: 20 }, () => digestStream(both, large));
    const kept = digestStream(both, large);
    for (const stream of given) void stream.update(bytes);
    const pending = kept.update(bytes);
    for (const stream of given) stream.discard();
    await pending;
    assert.equal(show(await kept.digest()), plain(bytes));
    assert.equal(await streamed(bytes, 100_000, large), plain(bytes));
  });
});
