// Index tags of a blob.
//
//   at most 10; name 1 to 128 and value 0 to 256 characters; letters, digits, blank and + - . / : = _
//
// They come in a header, `name=value&name=value` with percent-encoding and 2 KiB at most, or in XML.

import { StorageError } from './errors.js';
import type { Tags } from './tags-filter.js';

export const noTags: Tags = [];

const mostTags = 10;
const mostHeaderBytes = 2 * 1024;
const allowed = /^[A-Za-z0-9 +\-./:=_]*$/;

/** Throws if a blob may not have these. */
export function checkTags(tags: Tags): void {
  if (tags.length > mostTags) throw new StorageError('TagsTooLarge');
  const names = new Set<string>();
  for (const [name, value] of tags) {
    const wrong = name === '' || name.length > 128 || value.length > 256 || names.has(name);
    if (wrong || !allowed.test(name) || !allowed.test(value)) throw new StorageError('InvalidTag');
    names.add(name);
  }
}

/** The tags of `x-ms-tags`, checked. */
export function parseTags(header: string | undefined): Tags {
  if (header === undefined || header === '') return noTags;
  if (header.length > mostHeaderBytes) throw new StorageError('TagsTooLarge');
  const tags = header.split('&').map((pair): readonly [string, string] => {
    const at = pair.indexOf('=');
    if (at < 0) throw new StorageError('InvalidTag');
    return [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
  });
  checkTags(tags);
  return tags;
}

/** As in a query string, where clients also write a blank as a plus. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new StorageError('InvalidTag');
  }
}
