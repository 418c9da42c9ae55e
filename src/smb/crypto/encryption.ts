// Encrypted messages: a transform header of 52 bytes, then the ciphertext of one message or one chain.
//
//   0   4   FD 53 4D 42
//   4   16  authentication tag
//   20  16  nonce, of which the cipher uses the first 11 (CCM) or 12 (GCM) bytes
//   36  4   size of the plaintext
//   40  2   reserved
//   42  2   flags: 1
//   44  8   session id
//
// The bytes from 20 on are authenticated with the ciphertext.

import {
  type CipherCCM,
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  type DecipherCCM,
  type DecipherGCM,
} from 'node:crypto';
import type { CipherName } from './keys.js';

export const transformSize = 52;
export const transformId = 0x424d53fd;

const ciphers = {
  'AES-128-CCM': { algorithm: 'aes-128-ccm', nonceSize: 11 },
  'AES-128-GCM': { algorithm: 'aes-128-gcm', nonceSize: 12 },
  'AES-256-CCM': { algorithm: 'aes-256-ccm', nonceSize: 11 },
  'AES-256-GCM': { algorithm: 'aes-256-gcm', nonceSize: 12 },
} as const;

/** One direction's cipher with its key. */
export interface Sealer {
  readonly cipher: CipherName;
  readonly key: Buffer;
}

/** The session an encrypted message names, or nothing if the header is not a transform header at all. */
export function transformSession(message: Buffer): bigint | undefined {
  if (message.length < transformSize || message.readUInt32LE(0) !== transformId) return undefined;
  if (message.readUInt16LE(42) !== 1) return undefined;
  return message.readBigUInt64LE(44);
}

/** The message inside, or nothing if it was altered or its size is wrong. */
export function unseal(sealer: Sealer, message: Buffer): Buffer | undefined {
  const { algorithm, nonceSize } = ciphers[sealer.cipher];
  const ciphertext = message.subarray(transformSize);
  if (message.readUInt32LE(36) !== ciphertext.length) return undefined;
  const options = { authTagLength: 16 };
  const nonce = message.subarray(20, 20 + nonceSize);
  const decipher = createDecipheriv(algorithm as 'aes-128-ccm', sealer.key, nonce, options) as DecipherCCM &
    DecipherGCM;
  try {
    decipher.setAuthTag(message.subarray(4, 20));
    decipher.setAAD(message.subarray(20, transformSize), { plaintextLength: ciphertext.length });
    const plain = decipher.update(ciphertext);
    decipher.final();
    return plain;
  } catch {
    return undefined; // A wrong tag: CCM tells in update, GCM in final.
  }
}

/** The encrypted message, as pieces to be written one after the other. The nonce must never repeat. */
export function seal(sealer: Sealer, sessionId: bigint, nonce: Buffer, message: readonly Buffer[]): Buffer[] {
  const { algorithm, nonceSize } = ciphers[sealer.cipher];
  const size = message.reduce((sum, piece) => sum + piece.length, 0);
  const header = Buffer.alloc(transformSize);
  header.writeUInt32LE(transformId, 0);
  nonce.copy(header, 20, 0, nonceSize);
  header.writeUInt32LE(size, 36);
  header.writeUInt16LE(1, 42);
  header.writeBigUInt64LE(sessionId, 44);

  const options = { authTagLength: 16 };
  const cipher = createCipheriv(
    algorithm as 'aes-128-ccm',
    sealer.key,
    header.subarray(20, 20 + nonceSize),
    options,
  ) as CipherCCM & CipherGCM;
  cipher.setAAD(header.subarray(20), { plaintextLength: size });
  // CCM takes its plaintext in one piece.
  const pieces = algorithm.endsWith('ccm') && message.length > 1 ? [Buffer.concat(message)] : message;
  const sealed = pieces.map((piece) => cipher.update(piece));
  cipher.final();
  header.set(cipher.getAuthTag(), 4);
  return [header, ...sealed];
}
