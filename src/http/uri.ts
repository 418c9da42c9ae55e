// Percent-encoding, decoded exactly once. What does not decode to UTF-8 is refused, never guessed; so is a
// byte beyond ASCII that was not encoded, as node's parser refuses it in a request line.

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
export function parseQuery(raw: string): Map<string, string> {
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
  return query;
}

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

const needsDecoding = /[%\u0080-\uffff]/;
const beyondAscii = /[\u0080-\uffff]/;

function decode(raw: string): string | undefined {
  if (!needsDecoding.test(raw)) return raw;
  if (beyondAscii.test(raw)) return undefined;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined; // a stray %, an overlong or cut sequence, half a surrogate pair
  }
}
