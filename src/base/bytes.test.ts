import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { afterPrefix, buffer, compareBytes, emptyBytes, equalBytes, fromMapKey, mapKey } from './bytes.js';

const seed = 20260804;
const few = fc.array(fc.constantFrom(0, 1, 0x7f, 0x80, 0xfe, 0xff), { maxLength: 4 });
const bytes = fc.oneof(few, fc.array(fc.nat(255), { maxLength: 6 })).map((list) => new Uint8Array(list));

/** As the words are meant: byte by byte, a prefix first. */
function plainCompare(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
  }
  return a.length - b.length;
}

describe('bytes', () => {
  test('buffer is the same memory, and a Buffer itself', () => {
    const inside = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    const seen = buffer(inside);
    inside[0] = 9;
    assert.deepEqual([...seen], [9, 3]);
    assert.equal(buffer(seen), seen);
  });

  test(`compareBytes and equalBytes agree with a plain comparison (seed ${seed})`, () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        assert.equal(Math.sign(compareBytes(a, b)), Math.sign(plainCompare(a, b)));
        assert.equal(equalBytes(a, b), plainCompare(a, b) === 0);
      }),
      { seed, numRuns: 1000 },
    );
  });

  test(`afterPrefix is above all that begin with the prefix, and nothing lies between (seed ${seed})`, () => {
    fc.assert(
      fc.property(bytes, bytes, (prefix, other) => {
        const after = afterPrefix(prefix);
        const begins = compareBytes(other.subarray(0, prefix.length), prefix) === 0;
        const inside =
          plainCompare(prefix, other) <= 0 && (after === undefined || plainCompare(other, after) < 0);
        assert.equal(inside, begins);
      }),
      { seed, numRuns: 2000 },
    );
  });

  test('nothing is above a prefix of nothing or of 0xff alone, and the prefix is not changed', () => {
    assert.equal(afterPrefix(emptyBytes), undefined);
    assert.equal(afterPrefix(new Uint8Array([0xff, 0xff])), undefined);
    const prefix = Buffer.from([1, 2, 0xff]);
    assert.deepEqual([...(afterPrefix(prefix) ?? [])], [1, 3]);
    assert.deepEqual([...prefix], [1, 2, 0xff]);
  });

  test(`mapKey keeps bytes and their order (seed ${seed})`, () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        assert.ok(equalBytes(fromMapKey(mapKey(a)), a));
        assert.equal(mapKey(a) < mapKey(b), plainCompare(a, b) < 0);
      }),
      { seed },
    );
  });
});
