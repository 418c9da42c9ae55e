import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { combineCrc64, crc64, crc64Bytes } from './crc64.js';

const seed = 20260803;

/** As the definition has it: one bit at a time. */
function slow(bytes: Uint8Array): bigint {
  let crc = 0xffffffffffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x9a6c9329ac4bc9b5n : crc >> 1n;
  }
  return crc ^ 0xffffffffffffffffn;
}

const bytes = fc.uint8Array({ maxLength: 200 });

describe('crc64', () => {
  const published: [string, string][] = [
    ['', 'AAAAAAAAAAA='],
    ['AAA', 'Cc/2Kr4DuKg='],
    ['123456789', 'iJh5CoYUi64='],
  ];
  for (const [text, base64] of published) {
    test(`of '${text}' is ${base64} in a header`, () => {
      assert.equal(crc64Bytes(crc64(Buffer.from(text))).toString('base64'), base64);
    });
  }

  test('the check value', () => {
    assert.equal(crc64(Buffer.from('123456789')), 0xae8b14860a799888n);
  });

  test('agrees with the definition at every length up to 100', () => {
    const all = Uint8Array.from({ length: 100 }, (_, i) => i * 37);
    for (let length = 0; length <= 100; length++) {
      assert.equal(crc64(all.subarray(0, length)), slow(all.subarray(0, length)), `${length} bytes`);
    }
  });

  test(`in pieces as in one (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.array(bytes), (pieces) => {
        const streamed = pieces.reduce((crc, piece) => crc64(piece, crc), 0n);
        assert.equal(streamed, crc64(Buffer.concat(pieces)));
      }),
      { seed },
    );
  });

  test(`two checksums combine to that of both in a row (seed ${seed})`, () => {
    fc.assert(
      fc.property(bytes, bytes, (first, second) => {
        const both = crc64(Buffer.concat([first, second]));
        assert.equal(combineCrc64(crc64(first), crc64(second), second.length), both);
      }),
      { seed },
    );
  });

  test('of more than fits the memory of the module at once', () => {
    const large = Buffer.alloc(300_001).map((_, i) => (i * 31) & 0xff);
    const half = large.subarray(0, 150_000);
    const rest = large.subarray(150_000);
    assert.equal(crc64(rest, crc64(half)), crc64(large));
    assert.equal(combineCrc64(crc64(half), crc64(rest), rest.length), crc64(large));
    assert.equal(crc64(large.subarray(0, 70_000)), slow(large.subarray(0, 70_000)));
  });
});
