// Signatures: HMAC-SHA256 over UTF-8 text, in base64, compared in constant time.

import { createHmac, timingSafeEqual } from 'node:crypto';

export function sign(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('base64');
}

/** Whether one of the keys made this signature of the text. */
export function signedBy(keys: readonly Buffer[], text: string, signature: string): boolean {
  const given = Buffer.from(signature, 'base64');
  if (given.length !== 32) return false;
  return keys.some((key) => timingSafeEqual(createHmac('sha256', key).update(text, 'utf8').digest(), given));
}
