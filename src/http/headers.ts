// Values of request headers, checked: what a handler asks for instead of parsing text.

import type { Stamp } from '../base/stamps.js';
import { formatHttpDate } from '../base/times.js';
import { invalidHeader, missingHeader } from '../services/common/errors.js';
import { etag, lastModifiedMs } from '../services/common/etag.js';
import { checkMetadata, type Metadata } from '../services/common/metadata.js';
import type { Call } from './call.js';

/** 400 `MissingRequiredHeader` if it is not there. */
export function requireHeader(call: Call, name: string): string {
  const value = call.header(name);
  if (value === undefined) throw missingHeader(name);
  return value;
}

/** `true` or `false` in any case; `false` if it is not there. */
export function flagHeader(call: Call, name: string): boolean {
  const text = call.header(name);
  const value = text?.toLowerCase();
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw invalidHeader(name, text);
}

/** One of the words, whatever its case; nothing if the header is not there. */
export function wordHeader<Word extends string>(
  call: Call,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = call.header(name);
  if (text === undefined) return undefined;
  const word = words.find((one) => one.toLowerCase() === text.toLowerCase());
  if (word === undefined) throw invalidHeader(name, text);
  return word;
}

/** A whole number within bounds; nothing if the header is not there. */
export function integerHeader(
  call: Call,
  name: string,
  least = 0,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = call.header(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^-?\d{1,16}$/.test(text) || value < least || value > most) throw invalidHeader(name, text);
  return value;
}

/** A whole number from 0 to 2^63 - 1; nothing if the header is not there. */
export function longHeader(call: Call, name: string): bigint | undefined {
  const text = call.header(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,19}$/.test(text) || BigInt(text) >= 2n ** 63n) throw invalidHeader(name, text);
  return BigInt(text);
}

const prefix = 'x-ms-meta-';

/** The `x-ms-meta-` headers, names with the case they came with, checked. */
export function metadataOf(call: Call): Metadata {
  const { rawHeaders } = call;
  const metadata: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length >= prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix) {
      metadata.push([name.slice(prefix.length), rawHeaders[at + 1] ?? '']);
    }
  }
  checkMetadata(metadata);
  return metadata;
}

/** Adds stored metadata to the headers of an answer. */
export function addMetadata(headers: string[], metadata: Metadata): void {
  for (const [name, value] of metadata) headers.push(prefix + name, value);
}

/** When it was changed last. */
export function stampHeaders(stamp: Stamp): string[] {
  return ['ETag', etag(stamp), 'Last-Modified', formatHttpDate(lastModifiedMs(stamp))];
}
