import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32c, maskCrc } from './crc32c.js';
import { seededRandom } from './random.js';

// RFC 3720, B.4, and the check value of the catalogue of parametrised CRC algorithms.
const published: [string, Buffer, number][] = [
  ['nothing', Buffer.alloc(0), 0],
  ['the digits 1 to 9', Buffer.from('123456789'), 0xe3069283],
  ['32 zeros', Buffer.alloc(32), 0x8a9136aa],
  ['32 ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ['0 to 31', Buffer.from(Array.from({ length: 32 }, (_, index) => index)), 0x46dd794e],
  ['31 to 0', Buffer.from(Array.from({ length: 32 }, (_, index) => 31 - index)), 0x113fdb5c],
];

for (const [name, bytes, sum] of published) {
  test(`the sum of ${name} is the published one`, () => assert.equal(crc32c(bytes), sum));
}

/** Bit by bit, as the definition has it. */
function slow(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0x82f63b78 : sum >>> 1;
  }
  return ~sum >>> 0;
}

test('every length and alignment agrees with the definition, whole and in pieces', () => {
  const random = seededRandom(1);
  const bytes = Buffer.from(Array.from({ length: 300 }, () => random() * 256));
  for (let length = 0; length < 200; length++) {
    const piece = bytes.subarray(length % 17, (length % 17) + length);
    const cut = Math.floor(random() * length);
    assert.equal(crc32c(piece), slow(piece));
    assert.equal(crc32c(piece.subarray(cut), crc32c(piece.subarray(0, cut))), slow(piece));
  }
});

test('more bytes than the window holds', () => {
  const bytes = Buffer.alloc(9_000_000, 'some bytes that repeat');
  const half = crc32c(bytes.subarray(0, 4_500_000));
  assert.equal(crc32c(bytes), crc32c(bytes.subarray(4_500_000), half));
});

test('masking as LevelDB does it', () => {
  assert.equal(maskCrc(0), 0xa282ead8);
  assert.equal(maskCrc(0xe3069283), (((0xe3069283 >>> 15) | (0xe3069283 << 17)) + 0xa282ead8) >>> 0);
});
