// The rows that name bytes: docs/formats/contents.md has them. Here values become arrays and back; who may
// change them when is in contents.ts, content-maps.ts and reclaim.ts.

import type { Counters, Dictionary, StateManager } from '../../collections/index.js';
import { type Extent, storedBytes } from '../../extents/extents.js';
import type { KeptSlice, Slice, Source } from './range-map.js';

/** Bytes that an owner means: part of an extent, which is named by where it was first written. */
export interface Piece {
  readonly extent: Extent;
  readonly offset: number;
  readonly length: number;
}

/** As it is stored in an owner's record. */
export type PackedPiece = readonly [
  segment: number,
  offset: number,
  length: number,
  from: number,
  to: number,
];

export function packPiece({ extent, offset, length }: Piece): PackedPiece {
  return [extent.segment, extent.offset, extent.length, offset, offset + length];
}

export function unpackPiece([segment, at, length, from, to]: PackedPiece): Piece {
  return { extent: { segment, offset: at, length }, offset: from, length: to - from };
}

/** The segment of extents whose bytes lie in their row. */
export const inlineSegment = 0;

type ExtentKey = [segment: number, offset: number];
export type ExtentRow =
  | readonly [length: number, more: number]
  | readonly [length: number, more: number, segment: number, offset: number]
  | readonly [bytes: Uint8Array, more: number];

export function extentKey({ segment, offset }: Extent): ExtentKey {
  return [segment, offset];
}

/** Where the bytes of an extent of this name lie now; nothing if they lie in the row. */
export function placeOf([segment, offset]: ExtentKey, row: ExtentRow): Extent | undefined {
  const [length] = row;
  if (typeof length !== 'number') return undefined;
  return row.length === 4 ? { segment: row[2], offset: row[3], length } : { segment, offset, length };
}

/** The row after its bytes were moved. */
export function movedTo([length, more]: ExtentRow, place: Extent): ExtentRow {
  return [length as number, more, place.segment, place.offset];
}

export function withMore(row: ExtentRow, more: number): ExtentRow {
  return [row[0], more, ...row.slice(2)] as unknown as ExtentRow;
}

export type SliceRow =
  | readonly [end: number, epoch: number]
  | readonly [end: number, epoch: number, bytes: Uint8Array]
  | readonly [end: number, epoch: number, segment: number, offset: number, length: number, from: number];

export function packSlice({ end, epoch, source }: Slice): SliceRow {
  switch (source.kind) {
    case 'zeros':
      return [end, epoch];
    case 'bytes':
      return [end, epoch, source.bytes];
    case 'extent': {
      const { segment, offset, length } = source.extent;
      return [end, epoch, segment, offset, length, source.offset];
    }
  }
}

export function unpackSlice(start: number, row: SliceRow): Slice {
  return { start, end: row[0], epoch: row[1], source: unpackSource(row) };
}

function unpackSource(row: SliceRow): Source {
  if (row.length === 2) return { kind: 'zeros' };
  if (row.length === 3) return { kind: 'bytes', bytes: row[2] };
  return { kind: 'extent', extent: { segment: row[2], offset: row[3], length: row[4] }, offset: row[5] };
}

export function unpackKept(until: number, start: number, row: SliceRow): KeptSlice {
  return { ...unpackSlice(start, row), until };
}

/** The place of the row that says that a map exists: before its first byte. */
export const mapHeader = -1;
type MapHeaderRow = readonly [more: number];

export type Garbage =
  | readonly [kind: 'map', map: number]
  | readonly [kind: 'extents', ...names: (readonly [segment: number, offset: number])[]]
  | readonly [kind: 'kept', map: number, before: number, snapshots: readonly number[]]
  | readonly [kind: 'newer', map: number, newestSnapshot: number];

export interface ContentRows {
  readonly extents: Dictionary<ExtentKey, ExtentRow>;
  readonly live: Counters<number>;
  readonly moved: Dictionary<[segment: number, bornIn: number, bornAt: number], 0>;
  readonly maps: Dictionary<[map: number, start: number], SliceRow | MapHeaderRow>;
  readonly kept: Dictionary<[map: number, until: number, start: number], SliceRow>;
  readonly garbage: Dictionary<number, Garbage>;
}

export async function openContentRows(state: StateManager): Promise<ContentRows> {
  const options = { system: true, count: false };
  return {
    extents: await state.dictionary('$system/extents', options),
    live: await state.counters('$system/live', { system: true }),
    moved: await state.dictionary('$system/moved', options),
    maps: await state.dictionary('$system/maps', options),
    kept: await state.dictionary('$system/kept', options),
    garbage: await state.dictionary('$system/content-garbage', options),
  };
}

/** What an extent takes in its segment. */
export function takes(place: Extent): number {
  return storedBytes(place.length);
}
