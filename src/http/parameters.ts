// Values of query parameters, checked.

import { invalidParameter, missingParameter, parameterOutOfRange } from '../services/common/errors.js';
import type { Call } from './call.js';

/** 400 `MissingRequiredQueryParameter` if it is not there or empty. */
export function requireParameter(call: Call, name: string): string {
  const value = call.query.get(name);
  if (!value) throw missingParameter(name);
  return value;
}

/** A parameter that is there and not empty. */
export function parameter(call: Call, name: string): string | undefined {
  return call.query.get(name) || undefined;
}

/** A whole number within bounds; 400 with the bounds if it is outside. */
export function integerParameter(call: Call, name: string, least: number, most: number): number | undefined {
  const value = wholeNumber(call, name);
  if (value === undefined) return undefined;
  if (value < least || value > most) throw parameterOutOfRange(name, String(value), least, most);
  return value;
}

/** How many entries a listing gives at most: `maxresults`, never more than the service's own page. */
export function pageSize(call: Call, most = 5000): number {
  const value = wholeNumber(call, 'maxresults');
  if (value === undefined) return most;
  if (value < 1) throw parameterOutOfRange('maxresults', String(value), 1, most);
  return Math.min(value, most);
}

function wholeNumber(call: Call, name: string): number | undefined {
  const text = parameter(call, name);
  if (text === undefined) return undefined;
  if (!/^-?\d{1,10}$/.test(text)) throw invalidParameter(name, text);
  return Number(text);
}

/** A comma-separated list of known words, in any case: `include=metadata,snapshots`. */
export function listParameter<Word extends string>(
  call: Call,
  name: string,
  words: readonly Word[],
): ReadonlySet<Word> {
  const found = new Set<Word>();
  const text = parameter(call, name);
  if (text === undefined) return found;
  for (const part of text.split(',')) {
    const wanted = part.trim().toLowerCase();
    const word = words.find((one) => one.toLowerCase() === wanted);
    if (word !== undefined) found.add(word);
    else if (wanted !== '') throw invalidParameter(name, text);
  }
  return found;
}
