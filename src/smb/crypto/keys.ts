// The keys of a session, derived from what the two sides agreed on while authenticating
// (SP800-108 in counter mode with HMAC-SHA256), and the hash over the messages of that exchange.

import { createHash, createHmac } from 'node:crypto';

export type Dialect = 0x0202 | 0x0210 | 0x0300 | 0x0302 | 0x0311;

export type CipherName = 'AES-128-CCM' | 'AES-128-GCM' | 'AES-256-CCM' | 'AES-256-GCM';

export interface SessionKeys {
  readonly signing: Buffer;
  readonly application: Buffer;
  /** Client to server and server to client; absent where the dialect has no encryption. */
  readonly decryption: Buffer | undefined;
  readonly encryption: Buffer | undefined;
}

const labels = {
  //             3.0 and 3.0.2: label, context                    3.1.1: label; the context is the hash
  signing: { old: ['SMB2AESCMAC\0', 'SmbSign\0'], new: 'SMBSigningKey\0' },
  decryption: { old: ['SMB2AESCCM\0', 'ServerIn \0'], new: 'SMBC2SCipherKey\0' },
  encryption: { old: ['SMB2AESCCM\0', 'ServerOut\0'], new: 'SMBS2CCipherKey\0' },
  application: { old: ['SMB2APP\0', 'SmbRpc\0'], new: 'SMBAppKey\0' },
} as const;

export function sessionKeys(
  dialect: Dialect,
  exportedKey: Buffer,
  preauthHash: Buffer,
  cipher: CipherName | undefined,
): SessionKeys {
  const key = exportedKey.subarray(0, 16);
  if (dialect < 0x0300)
    return { signing: key, application: key, decryption: undefined, encryption: undefined };

  const derive = (name: keyof typeof labels, bits: number) => {
    const row = labels[name];
    return dialect === 0x0311
      ? deriveKey(key, Buffer.from(row.new), preauthHash, bits)
      : deriveKey(key, Buffer.from(row.old[0]), Buffer.from(row.old[1]), bits);
  };
  const cipherBits = cipher?.startsWith('AES-256') ? 256 : 128;
  return {
    signing: derive('signing', 128),
    application: derive('application', 128),
    decryption: cipher && derive('decryption', cipherBits),
    encryption: cipher && derive('encryption', cipherBits),
  };
}

function deriveKey(key: Buffer, label: Buffer, context: Buffer, bits: number): Buffer {
  const counter = Buffer.from([0, 0, 0, 1]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bits);
  const input = [counter, label, Buffer.from([0]), context, length];
  return createHmac('sha256', key)
    .update(Buffer.concat(input))
    .digest()
    .subarray(0, bits / 8);
}

/** The pre-authentication hash before the first message. */
export const emptyHash: Buffer = Buffer.alloc(64);

/** The pre-authentication hash after one more message, its bytes as they are on the wire. */
export function extendHash(hash: Buffer, ...message: readonly Buffer[]): Buffer {
  const sha = createHash('sha512').update(hash);
  for (const piece of message) sha.update(piece);
  return sha.digest();
}
