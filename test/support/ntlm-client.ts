// The two tokens of a client that logs on with raw NTLM, and the key that both sides have afterwards.

import { createHmac, randomBytes } from 'node:crypto';
import { ntHash } from '#src/smb/auth/ntlm.js';
import { utf16 } from '#src/smb/wire/struct.js';

const unicode = 0x1;
const ntlm = 0x200;
const extendedSecurity = 0x80000;
const flags = unicode | ntlm | extendedSecurity;

export const ntlmNegotiate: Buffer = Buffer.concat([
  Buffer.from('NTLMSSP\0'),
  words(1, flags),
  Buffer.alloc(16),
]);

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
}

export function ntlmAuthenticate(
  challenge: Buffer,
  password: string,
  user: string,
): { token: Buffer; key: Buffer } {
  const hmac = (key: Buffer, ...pieces: readonly Buffer[]) =>
    createHmac('md5', key).update(Buffer.concat(pieces)).digest();
  const blob = Buffer.concat([
    Buffer.from('0101000000000000', 'hex'),
    Buffer.alloc(8),
    randomBytes(8),
    Buffer.alloc(8),
  ]);
  const hash = hmac(ntHash(password), utf16(user.toUpperCase()));
  const proof = hmac(hash, challenge.subarray(24, 32), blob);
  const response = Buffer.concat([proof, blob]);
  const name = utf16(user);
  const at = 64;
  const span = (length: number, offset: number) => words(length | (length << 16), offset);
  const token = Buffer.concat([
    ...[Buffer.from('NTLMSSP\0'), words(3), span(0, at), span(response.length, at), span(0, at)],
    ...[span(name.length, at + response.length), span(0, at), span(0, at), words(flags), response, name],
  ]);
  return { token, key: hmac(hash, proof) };
}
