// Percent-encoding, decoded exactly once. What does not decode to UTF-8 is refused, never guessed. A byte
// beyond ASCII that was not encoded never comes here: it is no part of a URL (address.ts).

import { invalidParameter, StorageError } from '../services/common/errors.js';

/** Text of a path; 400 `InvalidUri` if it is not percent-encoded UTF-8 or holds U+0000. */
export function decodePath(raw: string): string {
  const text = decode(raw);
  if (text === undefined || text.includes('\0')) throw new StorageError('InvalidUri');
  return text;
}

/**
 * Names in lower case, values decoded, the first of several; a parameter without `=` is empty. `+` is a
 * plus, as the service's clients have it; only in the options of OData (`$filter`), where they write it for
 * a blank, it is one.
 */
export function parseQuery(raw: string): ReadonlyMap<string, string> {
  if (raw === lastRaw) return lastQuery;
  const query = new Map<string, string>();
  let start = 0;
  while (start < raw.length) {
    let end = raw.indexOf('&', start);
    if (end < 0) end = raw.length;
    if (end > start) {
      const [name, value] = parameterOf(raw.slice(start, end));
      if (!query.has(name)) query.set(name, value);
    }
    start = end + 1;
  }
  lastRaw = raw;
  lastQuery = query;
  return query;
}

/** The last one read: who works with a SAS sends the same query again and again. */
let lastRaw = '';
let lastQuery: ReadonlyMap<string, string> = new Map();

/** The same, every one of them, in the order sent. */
export function parameters(raw: string): [name: string, value: string][] {
  return raw
    .split('&')
    .filter((part) => part !== '')
    .map(parameterOf);
}

function parameterOf(part: string): [name: string, value: string] {
  const equals = part.indexOf('=');
  const rawName = equals < 0 ? part : part.slice(0, equals);
  const name = decode(rawName);
  const sent = equals < 0 ? '' : part.slice(equals + 1);
  const value = decode(name?.startsWith('$') ? sent.replaceAll('+', ' ') : sent);
  if (name === undefined || value === undefined) {
    throw invalidParameter(name ?? rawName, sent, 'The value is not percent-encoded UTF-8.');
  }
  return [name.toLowerCase(), value];
}

/** Mostly there is nothing to decode, and mostly what there is is ASCII: `decodeURIComponent` costs much more. */
function decode(raw: string): string | undefined {
  let at = raw.indexOf('%');
  if (at < 0) return raw;
  let text = '';
  let start = 0;
  while (at >= 0) {
    const code = hexOf(raw, at + 1) * 16 + hexOf(raw, at + 2);
    if (!(code < 0x80)) return decodeAny(raw);
    text += raw.slice(start, at) + String.fromCharCode(code);
    start = at + 3;
    at = raw.indexOf('%', start);
  }
  return text + raw.slice(start);
}

/** NaN if there is no such character or it is no digit. */
function hexOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

function decodeAny(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined; // a stray %, an overlong or cut sequence, half a surrogate pair
  }
}
