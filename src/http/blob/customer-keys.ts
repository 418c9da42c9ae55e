// `x-ms-encryption-key`: the customer's own key, its hash and its algorithm, which come together or not at all.

import { createHash } from 'node:crypto';
import type { CustomerKey } from '../../services/blob/encryption.js';
import { invalidHeader, missingHeader } from '../../services/common/errors.js';
import type { Call } from '../call.js';

const keyHeader = 'x-ms-encryption-key';
const hashHeader = 'x-ms-encryption-key-sha256';
const algorithmHeader = 'x-ms-encryption-algorithm';

export function customerKeyOf(call: Call): CustomerKey | undefined {
  const text = call.header(keyHeader);
  const hash = call.header(hashHeader);
  const algorithm = call.header(algorithmHeader);
  if (text === undefined && hash === undefined && algorithm === undefined) return undefined;
  if (text === undefined) throw missingHeader(keyHeader);
  if (hash === undefined) throw missingHeader(hashHeader);
  if (algorithm?.toUpperCase() !== 'AES256') throw invalidHeader(algorithmHeader, algorithm);
  const key = Buffer.from(text, 'base64');
  if (key.length !== 32) throw invalidHeader(keyHeader, ''); // a secret is not told again
  const sha256 = createHash('sha256').update(key).digest('base64');
  if (sha256 !== hash) throw invalidHeader(hashHeader, hash);
  return { key, sha256 };
}

/** Which key a content is encrypted with, told to who has it. */
export function keyHeaders({ key }: { readonly key?: string | undefined }): string[] {
  return key === undefined ? [] : [hashHeader, key];
}
