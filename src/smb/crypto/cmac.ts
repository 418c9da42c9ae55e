// AES-CMAC (RFC 4493) out of AES-CBC: all blocks but the last are run through the cipher, the last one is
// mixed with a subkey first. The message may come in pieces.

import { createCipheriv } from 'node:crypto';

export interface CmacKey {
  readonly key: Buffer;
  /** Mixed into a whole last block, and into a padded one. */
  readonly whole: Buffer;
  readonly padded: Buffer;
}

const blockSize = 16;
const zeros = Buffer.alloc(blockSize);

export function cmacKey(key: Buffer): CmacKey {
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const whole = double(cipher.update(zeros));
  return { key, whole, padded: double(whole) };
}

/** Twice the value in GF(2^128). */
function double(value: Buffer): Buffer {
  const twice = Buffer.alloc(blockSize);
  for (let i = 0; i < blockSize; i++) {
    twice[i] = (((value[i] ?? 0) << 1) | ((value[i + 1] ?? 0) >>> 7)) & 0xff;
  }
  if ((value[0] ?? 0) & 0x80) twice[15] = (twice[15] ?? 0) ^ 0x87;
  return twice;
}

/** What is run through the cipher at once; its output is thrown away, so it is kept small. */
const step = 64 * 1024;

export function cmac(key: CmacKey, pieces: readonly Buffer[]): Buffer {
  const cipher = createCipheriv('aes-128-cbc', key.key, zeros).setAutoPadding(false);
  const last = Buffer.alloc(blockSize);
  let left = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const tail = left === 0 ? 0 : ((left - 1) % blockSize) + 1;
  let filled = 0;
  for (const piece of pieces) {
    const chained = Math.min(piece.length, Math.max(0, left - tail));
    for (let at = 0; at < chained; at += step)
      cipher.update(piece.subarray(at, Math.min(chained, at + step)));
    last.set(piece.subarray(chained), filled);
    filled += piece.length - chained;
    left -= piece.length;
  }
  if (tail < blockSize) last[tail] = 0x80;
  const subkey = tail < blockSize ? key.padded : key.whole;
  for (let i = 0; i < blockSize; i++) last[i] = (last[i] ?? 0) ^ (subkey[i] ?? 0);
  return cipher.update(last).subarray(-blockSize);
}
