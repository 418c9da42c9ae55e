// A collection's key as the parts of an engine key: one part by itself, or a tuple of two or more. So a
// key reads back as it was written: 'a' and ['a'] would be the same bytes, and the second is refused.

import type { KeyPart } from '../engine/keys.js';
import { ArgumentError, ArgumentNullError } from './errors.js';

export function partsOf(key: unknown): readonly KeyPart[] {
  if (key === undefined || key === null) throw new ArgumentNullError('a key cannot be null or undefined');
  if (!Array.isArray(key)) return [key as KeyPart];
  if (key.length < 2)
    throw new ArgumentError('a key that is a tuple has two parts or more: use the part itself');
  return key;
}

/** A key in the words of an error. */
export function show(key: unknown): string {
  return JSON.stringify(key, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(key);
}

export function keyOf<K>(parts: KeyPart[]): K {
  return (parts.length === 1 ? parts[0] : parts) as K;
}
