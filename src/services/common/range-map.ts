// The contents of a page blob or a file: slices by their first byte, which never overlap; where none is,
// bytes are zero. Pure functions: from the slices that a write touches to the rows that change.
//
// A snapshot is one number. A content counts the snapshots taken of it, its epoch, and a slice carries the epoch
// it was written in; snapshot k shows what was written in epoch k or before. What is overwritten while a
// snapshot still shows it is kept:
//
//   slice written in     newest snapshot there is     overwriting it
//   epoch e              none, or older than e        drops it
//   epoch e              k, and e <= k                keeps it with `until` k: snapshots e to k show it
//
// So snapshot k is the current slices of epoch k or before, and the kept ones with epoch <= k <= until: for
// each byte one of them at most.
//
// Of a slice that is overwritten in part the rest stays as it is, with its epoch: a row becomes two or three,
// and the extent behind it is named as often. `references` tells what changes.

import type { Bytes } from '../../base/bytes.js';
import type { Extent } from '../../extents/extents.js';

/** Where the bytes are: in an extent from `offset` on, here, or nowhere: zeros that were written. */
export type Source =
  | { readonly kind: 'extent'; readonly extent: Extent; readonly offset: number }
  | { readonly kind: 'bytes'; readonly bytes: Bytes }
  | { readonly kind: 'zeros' };

/** The bytes from `start` up to but not including `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface Slice extends Range {
  readonly epoch: number;
  readonly source: Source;
}

/** One that is overwritten, and that snapshots from `epoch` to `until` show. */
export interface KeptSlice extends Slice {
  readonly until: number;
}

/** The rows that change, all in one transaction. */
export interface Edit {
  /** Where rows go. */
  readonly removed: readonly number[];
  /** Rows that come, or change; `removed` first. */
  readonly written: readonly Slice[];
  readonly kept: readonly KeptSlice[];
  /** By how much the number of rows that name each extent changes. */
  readonly references: readonly ReferenceChange[];
}

export interface ReferenceChange {
  readonly extent: Extent;
  readonly change: number;
}

/** The smallest unit that is allocated, listed and compared. */
export const pageBytes = 512;

/** Writes a slice. `touched`: all that overlap it; `newestSnapshot`: of those there are. */
export function overwrite(touched: readonly Slice[], slice: Slice, newestSnapshot: number | undefined): Edit {
  return replace(touched, slice, [slice], newestSnapshot);
}

/** Makes a hole. */
export function clear(touched: readonly Slice[], range: Range, newestSnapshot: number | undefined): Edit {
  return replace(touched, range, [], newestSnapshot);
}

/**
 * As the file service clears: pages that lie within the range become holes; of those that lie in it in part, that
 * part becomes zeros where something was written, so that they stay allocated.
 */
export function clearPages(
  touched: readonly Slice[],
  range: Range,
  epoch: number,
  newestSnapshot: number | undefined,
): Edit {
  const whole = { start: roundUp(range.start), end: roundDown(range.end) };
  const edges =
    whole.start > whole.end
      ? [range]
      : [
          { start: range.start, end: whole.start },
          { start: whole.end, end: range.end },
        ];
  const zeros = edges.flatMap((edge) =>
    overlapping(touched, edge).map((slice) => ({
      ...intersect(slice, edge),
      epoch,
      source: { kind: 'zeros' } as const,
    })),
  );
  return replace(touched, range, zeros, newestSnapshot);
}

function replace(
  touched: readonly Slice[],
  range: Range,
  by: readonly Slice[],
  newestSnapshot: number | undefined,
): Edit {
  const removed: number[] = [];
  const written: Slice[] = [...by];
  const kept: KeptSlice[] = [];
  const references = new Map<string, ReferenceChange>();
  for (const slice of overlapping(touched, range)) {
    const left = cut(slice, slice.start, range.start);
    const right = cut(slice, range.end, slice.end);
    const shown = newestSnapshot !== undefined && slice.epoch <= newestSnapshot;
    const middle = shown ? cut(slice, range.start, range.end) : undefined;
    if (!left) removed.push(slice.start);
    for (const rest of [left, right]) if (rest) written.push(rest);
    if (middle) kept.push({ ...middle, until: newestSnapshot as number });
    const rows = [left, right, middle].filter((part) => part !== undefined).length;
    if (slice.source.kind === 'extent') count(references, slice.source.extent, rows - 1);
  }
  written.sort((a, b) => a.start - b.start);
  const changes = [...references.values()].filter(({ change }) => change !== 0);
  return { removed, written, kept, references: changes };
}

/** What snapshot `epoch` shows: of current slices and of kept ones, in order. */
export function shownBy(epoch: number, current: readonly Slice[], kept: readonly KeptSlice[]): Slice[] {
  const old = kept.filter((slice) => slice.epoch <= epoch && epoch <= slice.until);
  const still = current.filter((slice) => slice.epoch <= epoch);
  return [...old, ...still].sort((a, b) => a.start - b.start);
}

/** Whether one of the snapshots there are shows this slice; if none does, it is to be dropped. */
export function isShown(slice: KeptSlice, snapshots: readonly number[]): boolean {
  return snapshots.some((epoch) => slice.epoch <= epoch && epoch <= slice.until);
}

/** The range as slices and, with no source, the holes between them; without gaps. */
export function fill(slices: readonly Slice[], range: Range): (Range & { readonly source?: Source })[] {
  const parts: (Range & { readonly source?: Source })[] = [];
  let at = range.start;
  for (const slice of overlapping(slices, range)) {
    const part = cut(slice, range.start, range.end);
    if (!part) continue;
    if (part.start > at) parts.push({ start: at, end: part.start });
    parts.push({ start: part.start, end: part.end, source: part.source });
    at = part.end;
  }
  if (at < range.end) parts.push({ start: at, end: range.end });
  return parts;
}

/** The pages that were written, as the longest runs there are; the last is cut at `size`. */
export function pageRanges(slices: readonly Range[], size: number): Range[] {
  const runs: { start: number; end: number }[] = [];
  for (const slice of slices) {
    const start = roundDown(slice.start);
    const end = Math.min(roundUp(slice.end), size);
    const last = runs.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else if (start < end) runs.push({ start, end });
  }
  return runs;
}

export interface Difference extends Range {
  readonly kind: 'written' | 'cleared';
}

/**
 * What changed since snapshot `epoch`. `now`: the slices shown now, or by the later snapshot that is asked about.
 * `gone`: those that snapshot `epoch` shows and `now` has not.
 */
export function differences(
  now: readonly Slice[],
  gone: readonly Slice[],
  epoch: number,
  size: number,
): Difference[] {
  const written = pageRanges(
    now.filter((slice) => slice.epoch > epoch),
    size,
  );
  const allocated = pageRanges(now, size);
  const cleared = subtract(pageRanges(gone, size), allocated);
  return [
    ...written.map((range) => ({ ...range, kind: 'written' as const })),
    ...cleared.map((range) => ({ ...range, kind: 'cleared' as const })),
  ].sort((a, b) => a.start - b.start);
}

/** The part of a slice that lies in a range, or nothing. */
export function cut(slice: Slice, from: number, to: number): Slice | undefined {
  const { start, end } = intersect(slice, { start: from, end: to });
  if (start >= end) return undefined;
  const skipped = start - slice.start;
  return { ...slice, start, end, source: cutSource(slice.source, skipped, end - start) };
}

function cutSource(source: Source, skipped: number, length: number): Source {
  switch (source.kind) {
    case 'extent':
      return { ...source, offset: source.offset + skipped };
    case 'bytes':
      return { kind: 'bytes', bytes: source.bytes.subarray(skipped, skipped + length) };
    case 'zeros':
      return source;
  }
}

function overlapping<R extends Range>(ranges: readonly R[], { start, end }: Range): R[] {
  if (start >= end) return [];
  return ranges.filter((range) => range.start < end && start < range.end);
}

function intersect(a: Range, b: Range): Range {
  return { start: Math.max(a.start, b.start), end: Math.min(a.end, b.end) };
}

/** What lies in `ranges` and not in `others`; both in order. */
function subtract(ranges: readonly Range[], others: readonly Range[]): Range[] {
  const rest: Range[] = [];
  let next = 0;
  for (const { start, end } of ranges) {
    let at = start;
    while ((others[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    for (let index = next; ; index++) {
      const other = others[index];
      if (!other || other.start >= end) break;
      if (other.start > at) rest.push({ start: at, end: other.start });
      at = Math.max(at, other.end);
    }
    if (at < end) rest.push({ start: at, end });
  }
  return rest;
}

function count(references: Map<string, ReferenceChange>, extent: Extent, change: number): void {
  const name = `${extent.segment} ${extent.offset}`;
  references.set(name, { extent, change: change + (references.get(name)?.change ?? 0) });
}

function roundDown(offset: number): number {
  return offset - (offset % pageBytes);
}

function roundUp(offset: number): number {
  return roundDown(offset + pageBytes - 1);
}
