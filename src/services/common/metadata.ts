// Metadata: the pairs a client attaches to a container, blob, queue, share, directory or file.
//
//   name    a C# identifier of ASCII letters; the case is kept, but two that differ in case alone are one
//   value   printable ASCII, for it travels in a header
//   all     8 KiB of names and values
//
// A write replaces the whole set.

import { StorageError } from './errors.js';

export type Metadata = readonly (readonly [name: string, value: string])[];

export const noMetadata: Metadata = [];

const mostBytes = 8 * 1024;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
const printable = /^[\t\x20-\x7e]*$/;

/** Throws if a client may not store these. */
export function checkMetadata(metadata: Metadata): void {
  const seen = new Set<string>();
  let size = 0;
  for (const [name, value] of metadata) {
    if (name === '') throw new StorageError('EmptyMetadataKey');
    const key = name.toLowerCase();
    if (!identifier.test(name) || !printable.test(value) || seen.has(key)) {
      throw new StorageError('InvalidMetadata');
    }
    seen.add(key);
    size += name.length + value.length;
  }
  if (size > mostBytes) throw new StorageError('MetadataTooLarge');
}

/** The same pairs in whatever order: what makes creating a queue twice harmless. */
export function sameMetadata(a: Metadata, b: Metadata): boolean {
  if (a.length !== b.length) return false;
  const values = new Map(a.map(([name, value]) => [name.toLowerCase(), value]));
  return b.every(([name, value]) => values.get(name.toLowerCase()) === value);
}
