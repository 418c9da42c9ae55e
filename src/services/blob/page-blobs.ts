// Page blobs: pages of 512 bytes that are written anywhere, and which of them were written.

import { assert } from '../../base/assert.js';
import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { StorageError } from '../common/errors.js';
import type { Lease } from '../common/lease.js';
import { type Difference, differences, pageRanges, type Range, type Slice } from '../common/range-map.js';
import { type BlobAddress, findWithContent } from './address.js';
import type { Pages } from './content.js';
import { checkKey } from './encryption.js';
import { lockBlob } from './expiry.js';
import { admitRead, admitWrite, checkType, existing, type Guards } from './guards.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  type Found,
  findContainer,
  findPlace,
  type Place,
  withLease,
} from './model.js';
import { writeRow } from './rows.js';

/** Each only if it was sent; all of them must hold. */
export interface SequenceConditions {
  readonly atMost: bigint | undefined;
  readonly below: bigint | undefined;
  readonly equal: bigint | undefined;
}

/** Writes the body to the pages of the range; no body: clears them. */
export function putPages(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  range: Range,
  body: Body | undefined,
  conditions: SequenceConditions,
  guards: Guards,
): Promise<BlobRecord> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const { old, lease } = admitPages(found, range, conditions, guards, tx.now);
    const state = stateOf(pagesOf(old));
    if (body === undefined) await store.maps.clear(tx, state, range);
    else await store.maps.write(tx, state, range.start, body);
    return stampPages(store, tx, place, withLease(old, lease));
  });
}

/** Whether these pages may be written, and the lease as it is then. */
export function admitPages(
  found: Found,
  range: Range,
  conditions: SequenceConditions,
  guards: Guards,
  now: number,
): { old: BlobRecord; lease: Lease } {
  const old = existing(found);
  const lease = admitWrite(old, guards, now);
  checkSequence(old, conditions);
  checkType(old, 'PageBlob');
  checkKey(old, guards.key);
  if (range.end > old.length) throw new StorageError('InvalidPageRange');
  return { old, lease };
}

/** Put Page says nothing about where the blob was copied from. */
async function stampPages(
  store: BlobStore,
  tx: Transaction,
  { key }: Place,
  old: BlobRecord,
): Promise<BlobRecord> {
  const blob = { ...old, stamp: tx.stamp(old.stamp) };
  await writeRow(store, tx, key, old, blob);
  return blob;
}

function checkSequence({ sequence = 0n }: BlobRecord, { atMost, below, equal }: SequenceConditions): void {
  const holds =
    (atMost === undefined || sequence <= atMost) &&
    (below === undefined || sequence < below) &&
    (equal === undefined || sequence === equal);
  if (!holds) throw new StorageError('SequenceNumberConditionNotMet');
}

function pagesOf({ content }: BlobRecord): Pages {
  assert(content.kind === 'pages', 'the content of a page blob is pages');
  return content;
}

function stateOf({ map, epoch, newest }: Pages) {
  return { map, epoch, newestSnapshot: newest };
}

export interface RangesRequest {
  /** The snapshot that it is compared with; nothing: all that was written. */
  readonly previous: number | undefined;
  /** Nothing: all of the blob. */
  readonly range: Range | undefined;
  readonly max: number;
}

export interface ListedRanges {
  readonly blob: BlobRecord;
  readonly ranges: readonly Difference[];
  /** Where to go on; nothing at the end. */
  readonly next: number | undefined;
}

/** The pages that were written, or what changed since a snapshot, in order. */
export function getPageRanges(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  { previous, range, max }: RangesRequest,
  guards: Guards,
): Promise<ListedRanges> {
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, container, 'read');
    const blob = await findWithContent(store, tx, id, address);
    admitRead(blob, guards, tx.now);
    checkType(blob, 'PageBlob');
    const target = pagesOf(blob);
    const since =
      previous === undefined ? undefined : await findPrevious(store, tx, id, address, previous, target);
    const limits = { start: range?.start ?? 0, end: Math.min(range?.end ?? blob.length, blob.length) };
    const found = await collect(store, tx, target, since, limits, max);
    return { blob, ...found };
  });
}

/** The epoch that the earlier snapshot shows. */
async function findPrevious(
  store: BlobStore,
  tx: Transaction,
  container: number,
  address: BlobAddress,
  previous: number,
  target: Pages,
): Promise<number> {
  const found = await store.snapshots.get(tx, [container, address.name, previous], { lock: 'none' });
  if (found === undefined || found.deleted !== undefined) throw new StorageError('PreviousSnapshotNotFound');
  if (address.kind !== 'base' && address.stamp < previous) {
    throw new StorageError('PreviousSnapshotCannotBeNewer');
  }
  if (found.content.kind !== 'pages' || found.content.map !== target.map) {
    throw new StorageError('BlobOverwritten');
  }
  return found.content.epoch;
}

/** Page after page of slices, until there are enough ranges; the last one may go on in the next page. */
async function collect(
  store: BlobStore,
  tx: Transaction,
  target: Pages,
  since: number | undefined,
  { start, end }: Range,
  max: number,
): Promise<{ ranges: Difference[]; next: number | undefined }> {
  const ranges: Difference[] = [];
  for (let at = start; at < end; ) {
    const page = await readPage(store, tx, target, since, { start: at, end });
    for (const range of page.ranges) {
      const last = ranges.at(-1);
      if (last !== undefined && last.end === range.start && last.kind === range.kind) {
        ranges[ranges.length - 1] = { ...last, end: range.end };
      } else if (ranges.length === max) return { ranges, next: range.start };
      else ranges.push(range);
    }
    at = page.end;
  }
  return { ranges, next: undefined };
}

async function readPage(
  store: BlobStore,
  tx: Transaction,
  target: Pages,
  since: number | undefined,
  range: Range,
): Promise<{ ranges: Difference[]; end: number }> {
  const snapshot = target.isKept ? target.epoch : undefined;
  const now = await store.slices.shown(tx, target.map, range, snapshot);
  if (since === undefined) {
    const written = pageRanges(clip(now.slices, range.start, now.end), now.end);
    return { ranges: written.map((run) => ({ ...run, kind: 'written' })), end: now.end };
  }
  const within = { start: range.start, end: now.end };
  const gone = await store.slices.gone(tx, target.map, within, since, snapshot);
  const until = Math.min(now.end, gone.end);
  const shown = clip(now.slices, range.start, until);
  return { ranges: differences(shown, clip(gone.slices, range.start, until), since, until), end: until };
}

function clip(slices: readonly Slice[], start: number, end: number): Slice[] {
  return slices
    .filter((slice) => slice.start < end && slice.end > start)
    .map((slice) => ({ ...slice, start: Math.max(slice.start, start), end: Math.min(slice.end, end) }));
}
