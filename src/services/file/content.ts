// The bytes of a file: a map from offsets to slices (services/common/content-maps.ts). A file without a map is all
// holes; cutting it to nothing takes its map away, which costs the same for any size.
//
// Everything here gives back the file's new state; who calls holds its lock and puts the entry.

import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import type { MapState } from '../common/content-maps.js';
import {
  cut,
  type Difference,
  differences,
  pageRanges,
  type Range,
  type Slice,
} from '../common/range-map.js';
import type { FileState, FileStore, LiveShare } from './model.js';
import type { View } from './tree.js';

export function stateOf(share: LiveShare, map: number): MapState {
  return { map, epoch: share.epoch, newestSnapshot: share.newest };
}

/** Writes a body; the file grows where it must. */
export async function writeBytes(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  file: FileState,
  start: number,
  body: Body,
): Promise<FileState> {
  if (body.length === 0) return file;
  const { maps } = store.content;
  const map = file.map ?? (await maps.create(tx));
  const state = stateOf(share, map);
  if (file.map === undefined || start >= file.length) await maps.writeBehind(tx, state, start, body);
  else await maps.write(tx, state, start, body);
  return { ...file, map, length: Math.max(file.length, start + body.length) };
}

/** Makes holes of whole pages and zeros of the rest. */
export async function clearBytes(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  file: FileState,
  range: Range,
): Promise<FileState> {
  if (file.map !== undefined && range.start < range.end) {
    await store.content.maps.clearPages(tx, stateOf(share, file.map), range);
  }
  return file;
}

/**
 * Cuts or grows; what is new is a hole. Of the page that a cut goes through the rest becomes zeros: it has changed, and a
 * difference to a snapshot must tell it.
 */
export async function resizeBytes(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  file: FileState,
  length: number,
): Promise<FileState> {
  if (length === 0) return { ...file, length, map: undefined };
  if (file.map !== undefined && length < file.length) {
    const state = stateOf(share, file.map);
    await store.content.maps.clearPages(tx, state, { start: length, end: endOfPage(file.length) });
  }
  return { ...file, length };
}

export interface CopiedSlices {
  /** Where to go on; the file's length at the end. */
  readonly next: number;
}

/** How much of a copy one transaction takes. */
const mostSlices = 500;
const mostInlineBytes = 8 * 1024 * 1024;

/**
 * Copies slices of a file from an offset on into another map, until the end or until it is enough for one transaction.
 * They share their extents. Who calls has the source checked at commit.
 */
export async function copySlices(
  store: FileStore,
  tx: Transaction,
  source: { readonly file: FileState; readonly snapshot: number | undefined; readonly from: number },
  target: MapState,
): Promise<CopiedSlices> {
  const { map, length } = source.file;
  const { maps, contents } = store.content;
  let [slices, inline] = [0, 0];
  if (map === undefined) return { next: length };
  const range = { start: source.from, end: length };
  for await (const slice of slicesOf(store, tx, map, range, source.snapshot)) {
    if (slices++ === mostSlices || inline > mostInlineBytes) return { next: slice.start };
    if (slice.source.kind === 'extent') {
      await contents.refer(tx, { extent: slice.source.extent, change: 1 });
    } else if (slice.source.kind === 'bytes') inline += slice.end - slice.start;
    await maps.put(tx, target, slice, slice.source);
  }
  return { next: length };
}

/** Reads a part of a file that lies within it. */
export async function openBytes(
  store: FileStore,
  tx: Transaction,
  view: View,
  { map }: FileState,
  range: Range,
): Promise<AsyncIterable<Buffer>> {
  const length = range.end - range.start;
  if (map === undefined) return holes(length);
  return store.content.maps.open(tx, map, { offset: range.start, length }, view.snapshot);
}

/** Not to be written to. */
const zeros = Buffer.alloc(256 * 1024);

async function* holes(length: number): AsyncGenerator<Buffer> {
  for (let left = length; left > 0; left -= zeros.length) yield zeros.subarray(0, left);
}

/** The pages that take space and touch the range, as the longest runs there are. */
export async function allocatedRanges(
  store: FileStore,
  tx: Transaction,
  view: View,
  { map, length }: FileState,
  range: Range,
): Promise<Range[]> {
  if (map === undefined) return [];
  const slices: Range[] = [];
  const pages = wholePages(range, length);
  for await (const slice of slicesOf(store, tx, map, pages, view.snapshot)) slices.push(slice);
  return pageRanges(slices, length);
}

/** What changed in the range since an older snapshot, in which the file was `before`. */
export async function changedRanges(
  store: FileStore,
  tx: Transaction,
  view: View,
  file: FileState,
  before: FileState,
  since: number,
  range: Range,
): Promise<Difference[]> {
  const pages = wholePages(range, Math.max(file.length, before.length));
  const now = await slicesWithin(store, tx, file.map, pages, view.snapshot);
  const then = await slicesWithin(store, tx, before.map, pages, since);
  // Another map: all of it was written since.
  const shown = file.map === before.map ? now : now.map((slice) => ({ ...slice, epoch: since + 1 }));
  return differences(shown, then, since, file.length).filter(({ start }) => start < file.length);
}

async function slicesWithin(
  store: FileStore,
  tx: Transaction,
  map: number | undefined,
  range: Range,
  snapshot: number | undefined,
): Promise<Slice[]> {
  const found: Slice[] = [];
  if (map === undefined) return found;
  for await (const slice of slicesOf(store, tx, map, range, snapshot)) found.push(slice);
  return found;
}

async function* slicesOf(
  store: FileStore,
  tx: Transaction,
  map: number,
  range: Range,
  snapshot: number | undefined,
): AsyncGenerator<Slice> {
  for (let at = range.start; at < range.end; ) {
    const page = await store.content.slices.shown(tx, map, { start: at, end: range.end }, snapshot);
    for (const slice of page.slices) {
      const part = cut(slice, at, page.end);
      if (part) yield part;
    }
    at = page.end;
  }
}

const pageBytes = 512;

/** The pages that a range touches, up to the one that the file ends in. */
function wholePages({ start, end }: Range, length: number): Range {
  return { start: start - (start % pageBytes), end: endOfPage(Math.min(end, length)) };
}

function endOfPage(offset: number): number {
  return Math.ceil(offset / pageBytes) * pageBytes;
}
