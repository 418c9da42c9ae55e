// The types a property can have, and their values in one form each, so that equal values are equal texts.
//
//   Edm.String     text
//   Edm.Boolean    true, false
//   Edm.Int32      a whole number
//   Edm.Int64      a bigint
//   Edm.Double     any number, NaN and the infinities included; -0 is 0
//   Edm.DateTime   UTC with seven digits, '2008-07-10T00:00:00.0000000Z': texts order as times do
//   Edm.Guid       lower case with dashes
//   Edm.Binary     bytes
//
// The parsers here take a text as a client writes it, in a filter or in JSON, and give nothing if it is none.

import type { Stamp } from '../../base/stamps.js';
import { stampToMs } from '../../base/stamps.js';
import { formatIsoTime, parseIsoTime } from '../../base/times.js';

export type EdmValue = Readonly<
  | { type: 'Edm.String'; value: string }
  | { type: 'Edm.Boolean'; value: boolean }
  | { type: 'Edm.Int32'; value: number }
  | { type: 'Edm.Int64'; value: bigint }
  | { type: 'Edm.Double'; value: number }
  | { type: 'Edm.DateTime'; value: string }
  | { type: 'Edm.Guid'; value: string }
  | { type: 'Edm.Binary'; value: Uint8Array }
>;

export type EdmType = EdmValue['type'];

const int32Limit = 2 ** 31;
const int64Limit = 2n ** 63n;

export function parseInt32(text: string): number | undefined {
  if (!/^[+-]?\d{1,20}$/.test(text)) return undefined;
  const value = Number(text) + 0; // -0 is 0
  return value >= -int32Limit && value < int32Limit ? value : undefined;
}

export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,30}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= -int64Limit && value < int64Limit ? value : undefined;
}

const specialDoubles: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  INF: Number.POSITIVE_INFINITY,
  '-INF': Number.NEGATIVE_INFINITY,
};

export function parseDouble(text: string): number | undefined {
  if (Object.hasOwn(specialDoubles, text)) return specialDoubles[text];
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  return Number(text) + 0;
}

/** With an offset, or without a zone for UTC; further digits of the fraction than seven are dropped. */
export function parseDateTime(text: string): string | undefined {
  const plain = inUtc.exec(text);
  if (plain !== null) return isDate(plain) ? `${plain[1]}.${(plain[7] ?? '').padEnd(7, '0')}Z` : undefined;
  const time = parseIsoTime(text.slice(0, 64).replace(/(\.\d{7})\d+/, '$1'));
  if (time === undefined || time.ms < firstMs || time.ms > lastMs) return undefined;
  return formatIsoTime(time);
}

/** As nearly everybody writes it: then the text is the value, but for its fraction. */
const inUtc = /^((\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):[0-5]\d)(?:\.(\d{1,7})\d{0,20})?Z?$/;

function isDate([, , year = '', month = '', day = '']: readonly (string | undefined)[]): boolean {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  return y > 0 && m >= 1 && m <= 12 && d >= 1 && d <= daysIn(y, m);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** The earliest a property can hold; a filter may ask for earlier ones. */
export const earliestDateTime = '1601-01-01T00:00:00.0000000Z';

/** As it is told: without the zeros at the end of its fraction. */
export function formatDateTime(value: string): string {
  let end = value.length - 1;
  while (value.charCodeAt(end - 1) === 0x30 && end > pointAt) end--;
  if (end === pointAt + 1) end--; // the point itself
  return `${value.slice(0, end)}Z`;
}

const pointAt = '2008-07-10T00:00:00'.length;

/** The time of a stamp, as the value of Timestamp. */
export function stampDateTime(stamp: Stamp): string {
  const ms = stampToMs(stamp);
  return formatIsoTime({ ms, ticks: (stamp - ms * 1000) * 10 });
}

export function parseGuid(text: string): string | undefined {
  const guid = text.toLowerCase();
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(guid) ? guid : undefined;
}

export function parseHex(text: string): Uint8Array | undefined {
  return text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text)
    ? plainBytes(Buffer.from(text, 'hex'))
    : undefined;
}

export function parseBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return plainBytes(Buffer.from(text, 'base64'));
}

/** Memory of its own, not a piece of the pool that small buffers share. */
function plainBytes(bytes: Buffer): Uint8Array {
  return new Uint8Array(bytes);
}
