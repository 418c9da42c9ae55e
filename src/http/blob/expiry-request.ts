// `x-ms-expiry-option` and `x-ms-expiry-time`: when a blob is to end by itself.

import { parseHttpDate } from '../../base/times.js';
import type { Expiry } from '../../services/blob/expiry.js';
import { invalidHeader } from '../../services/common/errors.js';
import type { Call } from '../call.js';
import { requireHeader, wordHeader } from '../headers.js';

const optionHeader = 'x-ms-expiry-option';
const timeHeader = 'x-ms-expiry-time';
const options = ['RelativeToCreation', 'RelativeToNow', 'Absolute', 'NeverExpire'] as const;

/** Puts take the headers since this version; older ones ignore them. */
const putSince = '2023-08-03';

/** What a put says of it; nothing if it says nothing. */
export function putExpiryOf(call: Call): Expiry | undefined {
  return call.version < putSince ? undefined : expiryOf(call);
}

/** A time without an option says nothing that could be done. */
export function expiryOf(call: Call): Expiry | undefined {
  const option = wordHeader(call, optionHeader, options);
  const text = call.header(timeHeader);
  if (option === undefined) {
    if (text !== undefined) requireHeader(call, optionHeader);
    return undefined;
  }
  if (option === 'NeverExpire') {
    if (text !== undefined) throw invalidHeader(timeHeader, text);
    return { option };
  }
  const time = requireHeader(call, timeHeader);
  if (option === 'Absolute') {
    const at = parseHttpDate(time);
    if (at === undefined) throw invalidHeader(timeHeader, time);
    return { option, at };
  }
  if (!/^\d{1,15}$/.test(time)) throw invalidHeader(timeHeader, time);
  return { option, ms: Number(time) };
}

export function requireExpiry(call: Call): Expiry {
  requireHeader(call, optionHeader);
  return expiryOf(call) ?? { option: 'NeverExpire' };
}
