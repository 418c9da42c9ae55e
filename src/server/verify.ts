// Reads everything that is stored, and says what is damaged: every record, every extent with its checksums, whether
// blobs name bytes that are there, the indexes of tables fit their entities, and shares hold together. A damaged
// extent is told with the blobs it belongs to.

import { DamageError } from '../base/errors.js';
import type { Transaction } from '../collections/index.js';
import { SegmentGoneError } from '../extents/errors.js';
import type { Extent } from '../extents/extents.js';
import type { BlobContent, BlobStore } from '../services/blob/model.js';
import { openContentRows, placeOf, unpackPiece } from '../services/common/content-rows.js';
import type { Progress } from './admin/calls.js';
import type { OpenStore } from './open-store.js';
import { opened } from './services.js';

export interface ContentsReport {
  readonly rows: number;
  readonly extents: number;
  readonly bytes: number;
  /** Rows of indexes on properties of tables. */
  readonly indexRows: number;
  /** A sentence each. */
  readonly damage: readonly string[];
}

export async function verifyContents(
  store: OpenStore,
  progress: (done: Progress) => void,
): Promise<ContentsReport> {
  const damage: string[] = [];
  const rows = await readRows(store, damage, progress);
  using _pinned = store.extents.pinAll();
  const found = await readExtents(store, progress);
  for (const { key, message } of found.damaged) {
    const owners = await ownersOf(store, key);
    damage.push(owners.length === 0 ? message : `${message}; it belongs to ${owners.join(', ')}`);
  }
  const indexRows = damage.length === 0 ? await readIndexes(store, damage) : 0;
  if (damage.length === 0) await readBlobs(store, damage);
  if (damage.length === 0) await readShares(store, damage);
  return { rows, extents: found.extents, bytes: found.bytes, indexRows, damage };
}

/** Only where all rows can be read. */
async function readIndexes(open: OpenStore, damage: string[]): Promise<number> {
  const { verifyIndexes } = await import('../services/table/verify-indexes.js');
  const report = await verifyIndexes((await opened(open, 'table')).store);
  damage.push(...report.damage);
  return report.rows;
}

async function readBlobs(open: OpenStore, damage: string[]): Promise<void> {
  const { verifyBlobs } = await import('../services/blob/verify-blobs.js');
  damage.push(...(await verifyBlobs((await opened(open, 'blob')).store)));
}

async function readShares(open: OpenStore, damage: string[]): Promise<void> {
  const { verifyShares } = await import('../services/file/verify-shares.js');
  damage.push(...(await verifyShares((await opened(open, 'file')).store)).damage);
}

const pageSize = { limit: 1000, maxBytes: 4 * 1024 * 1024 };

/** Each is checked as it is read. */
async function readRows({ engine }: OpenStore, damage: string[], progress: (done: Progress) => void) {
  using snapshot = engine.snapshot();
  let count = 0;
  let from: Uint8Array = Buffer.alloc(0);
  try {
    for (;;) {
      const { rows, more } = await snapshot.range(from, undefined, pageSize);
      count += rows.length;
      progress({ what: 'rows', done: count });
      const last = rows.at(-1);
      if (!more || last === undefined) return count;
      from = Buffer.concat([last.key, Buffer.of(0)]);
    }
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    damage.push(error.message);
    return count;
  }
}

interface Damaged {
  readonly key: readonly [segment: number, offset: number];
  readonly message: string;
}

async function readExtents(
  { state, extents }: OpenStore,
  progress: (done: Progress) => void,
): Promise<{ extents: number; bytes: number; damaged: Damaged[] }> {
  const rows = await openContentRows(state);
  const damaged: Damaged[] = [];
  let [count, bytes] = [0, 0];
  await using tx = state.begin();
  for await (const [key, row] of rows.extents.entries(tx)) {
    const place = placeOf(key, row);
    count++;
    if (place === undefined) continue;
    try {
      using reader = extents.read(place);
      for await (const chunk of reader) bytes += chunk.length;
    } catch (error) {
      if (!(error instanceof DamageError || error instanceof SegmentGoneError)) throw error;
      damaged.push({ key, message: error.message });
    }
    if (count % 64 === 0) progress({ what: 'bytes', done: bytes });
  }
  return { extents: count, bytes, damaged };
}

/** The blobs, snapshots and versions whose bytes lie in this extent. */
async function ownersOf(open: OpenStore, damaged: Damaged['key']): Promise<string[]> {
  const { store } = await opened(open, 'blob');
  const owners: string[] = [];
  await using tx = store.state.begin();
  const containers = new Map<number, string>();
  for await (const [[account, name], { id }] of store.containers.entries(tx)) {
    containers.set(id, `${account}/${name}`);
  }
  const kinds = [
    ['blob', store.blobs],
    ['snapshot of', store.snapshots],
    ['version of', store.versions],
  ] as const;
  for (const [kind, dictionary] of kinds) {
    for await (const [key, record] of dictionary.entries(tx)) {
      if (!('content' in record) || !(await liesIn(store, tx, record.content, damaged))) continue;
      owners.push(`${kind} ${containers.get(key[0]) ?? '?'}/${key[1]}`);
    }
  }
  return owners;
}

async function liesIn(
  store: BlobStore,
  tx: Transaction,
  content: BlobContent,
  [segment, offset]: Damaged['key'],
): Promise<boolean> {
  const isIt = (extent: Extent) => extent.segment === segment && extent.offset === offset;
  if (content.kind === 'piece') return isIt(unpackPiece(content.piece).extent);
  if (content.kind === 'empty') return false;
  const slices = await store.slices.touched(tx, content.map, { start: 0, end: Number.MAX_SAFE_INTEGER });
  return slices.some(({ source }) => source.kind === 'extent' && isIt(source.extent));
}
