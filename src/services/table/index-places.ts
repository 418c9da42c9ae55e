// Where a value stands in an index. Places order as filters compare values (filter.ts), but they are coarser: a
// number is kept as a double, a long text or long bytes by their beginning. So all values of one place lie
// together, and who looks for some finds them among its places and asks the filter again.
//
//   rank 0   numbers of all types, as doubles; NaN, which nothing equals, as null before them
//   rank 1   Edm.Boolean
//   rank 2   Edm.DateTime, its text
//   rank 3   Edm.Guid, its text
//   rank 4   Edm.Binary, its first bytes
//   rank 5   Edm.String, its first characters, in UTF-16 order
//
// On disk: what stands here never changes its meaning.

import { type Utf16, utf16 } from '../../collections/index.js';
import type { EdmValue } from './edm.js';
import { type Operator, typeRank } from './filter.js';

export type PlaceValue = null | boolean | number | string | Utf16 | Uint8Array;
export type Place = readonly [rank: number, value: PlaceValue];

/** From the one to the other, both included; nothing: no end on that side. */
export interface PlaceRange {
  readonly from: Place | undefined;
  readonly to: Place | undefined;
}

/** Characters of a text, or bytes. */
const longest = 128;

export function placeOf(value: EdmValue): Place {
  const rank = typeRank[value.type];
  switch (value.type) {
    case 'Edm.String':
      return [rank, utf16(value.value.slice(0, longest))];
    case 'Edm.Binary':
      return [rank, value.value.subarray(0, longest)];
    case 'Edm.Int64':
      return [rank, Number(value.value)];
    case 'Edm.Double':
      return [rank, Number.isNaN(value.value) ? null : value.value];
    default:
      return [rank, value.value];
  }
}

/** Every place where the comparison can hold, and perhaps more. */
export function placesOf(operator: Operator, literal: EdmValue): PlaceRange {
  const place = placeOf(literal);
  if (operator === 'ne' || place[1] === null) return { from: undefined, to: undefined };
  if (operator === 'eq') return { from: place, to: place };
  return operator === 'gt' || operator === 'ge'
    ? { from: place, to: undefined }
    : { from: undefined, to: place };
}

/** The one place a range is for, if it is for one. */
export function onlyPlace({ from, to }: PlaceRange): Place | undefined {
  return from !== undefined && to !== undefined && comparePlaces(from, to) === 0 ? from : undefined;
}

/** What lies in both; nothing if that is nowhere. */
export function meetPlaces(a: PlaceRange, b: PlaceRange): PlaceRange | undefined {
  const from = a.from === undefined || (b.from && comparePlaces(a.from, b.from) < 0) ? b.from : a.from;
  const to = a.to === undefined || (b.to && comparePlaces(a.to, b.to) > 0) ? b.to : a.to;
  return from !== undefined && to !== undefined && comparePlaces(from, to) > 0 ? undefined : { from, to };
}

export function comparePlaces([rankA, a]: Place, [rankB, b]: Place): number {
  if (rankA !== rankB) return rankA - rankB;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  const [left, right] = [plain(a), plain(b)];
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  return left < right ? -1 : left > right ? 1 : 0;
}

function plain(value: PlaceValue): null | boolean | number | string {
  return typeof value === 'object' && value !== null && 'text' in value
    ? value.text
    : (value as null | boolean | number | string);
}
