// Listing blobs by name, flat or by hierarchy: with a delimiter, names that have it behind the prefix are told once,
// as the part up to it.
//
// A page costs what it tells: a group of names is left behind by reading on after it, however many it has.
// Snapshots and versions come before the blob they are of, oldest first. The marker names the first entry that
// did not fit; entries made before it in the meantime are not seen, as with Azure.

import { compareBytes } from '../../base/bytes.js';
import { mergeOrdered } from '../../base/merge.js';
import type { Transaction } from '../../collections/index.js';
import { invalidParameter } from '../common/errors.js';
import { committed } from './guards.js';
import { isLive, isRestorable } from './history.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findContainer,
  type KeptBlob,
  type KeptKey,
  type UncommittedBlob,
} from './model.js';
import { hasExpired, seen } from './rows.js';

export interface ListOptions {
  readonly prefix: string;
  /** Empty: flat. */
  readonly delimiter: string;
  readonly marker: string | undefined;
  /** The first name, where there is no marker. */
  readonly startFrom?: string | undefined;
  readonly max: number;
  readonly snapshots: boolean;
  readonly versions: boolean;
  readonly uncommitted: boolean;
  /** Also what is deleted softly: blobs, and of snapshots and versions those that are asked for. */
  readonly deleted: boolean;
  /** Also names that have versions and no blob now. */
  readonly versionsOnly: boolean;
}

export type ListedEntry =
  | { readonly kind: 'prefix'; readonly name: string }
  | {
      readonly kind: 'blob' | 'snapshot' | 'version' | 'versions only';
      readonly name: string;
      readonly blob: BlobRecord | UncommittedBlob | KeptBlob;
      /** What a snapshot or version is called by; above all of them for the blob as it is now. */
      readonly stamp: number;
    };

export interface BlobListing {
  readonly entries: readonly ListedEntry[];
  readonly next: string | undefined;
  readonly now: number;
}

export function listBlobs(
  store: BlobStore,
  container: ContainerKey,
  options: ListOptions,
): Promise<BlobListing> {
  const { marker, startFrom } = options;
  const first = startFrom === undefined ? undefined : { name: startFrom, stamp: 0 };
  const from = marker === undefined ? first : parseMarker(marker);
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, container, 'read');
    const entries: ListedEntry[] = [];
    for await (const entry of grouped(store, tx, id, options, from)) {
      if (entries.length === options.max) return { entries, next: formatMarker(entry), now: tx.now };
      entries.push(entry);
    }
    return { entries, next: undefined, now: tx.now };
  });
}

interface Position {
  readonly name: string;
  readonly stamp: number;
}

type BlobEntry = Exclude<ListedEntry, { kind: 'prefix' }>;

/** After so many names of a group it is cheaper to look for the first one behind it. */
const patience = 32;

async function* grouped(
  store: BlobStore,
  tx: Transaction,
  id: number,
  options: ListOptions,
  from: Position | undefined,
): AsyncGenerator<ListedEntry> {
  const { prefix, delimiter } = options;
  let start = from;
  let group: string | undefined;
  let skipped = 0;
  while (true) {
    let again = false;
    for await (const entry of walk(store, tx, id, options, start)) {
      if (group !== undefined && entry.name.startsWith(group)) {
        if (++skipped < patience) continue;
        again = true;
        break;
      }
      group = groupOf(entry.name, prefix, delimiter);
      skipped = 0;
      if (group === undefined) yield entry;
      else yield { kind: 'prefix', name: group };
    }
    const behind = again && group !== undefined ? successor(group) : undefined;
    if (behind === undefined) return;
    start = { name: behind, stamp: 0 };
    skipped = 0;
  }
}

function groupOf(name: string, prefix: string, delimiter: string): string | undefined {
  const at = delimiter === '' ? -1 : name.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : name.slice(0, at + delimiter.length);
}

/** The first text behind all that begin with this one, in the order of code points; nothing if there is none. */
export function successor(text: string): string | undefined {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last === 0x10ffff) continue;
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}

/** All entries that are asked for, in order. */
function walk(
  store: BlobStore,
  tx: Transaction,
  id: number,
  options: ListOptions,
  from: Position | undefined,
): AsyncIterable<BlobEntry> {
  const range = {
    prefix: [id],
    startsWith: options.prefix,
    pageSize: Math.min(options.max + 1, 500),
  };
  const names = { ...range, ...(from === undefined ? {} : { from: [id, from.name] as const }) };
  const blobs = walkBlobs(store, tx, options, names);
  const kept = { ...range, ...(from === undefined ? {} : { from: [id, from.name, from.stamp] as const }) };
  let all: AsyncIterable<BlobEntry> = blobs;
  if (options.snapshots || options.deleted) {
    all = mergeOrdered(walkSnapshots(store, tx, options, kept), all, comesFirst);
  }
  if (options.versions) all = mergeOrdered(walkVersions(store, tx, options, kept), all, comesFirst);
  if (options.versionsOnly) all = mergeOrdered(walkVersionsOnly(store, tx, names), all, comesFirst);
  return all;
}

async function* walkBlobs(
  store: BlobStore,
  tx: Transaction,
  { uncommitted }: ListOptions,
  range: object,
): AsyncGenerator<BlobEntry> {
  for await (const [[, name], blob] of store.blobs.entries(tx, range)) {
    if ((blob.type === 'uncommitted' && !uncommitted) || hasExpired(blob, tx)) continue;
    yield { kind: 'blob', name, blob, stamp: Number.MAX_SAFE_INTEGER };
  }
}

async function* walkSnapshots(
  store: BlobStore,
  tx: Transaction,
  { snapshots, deleted }: ListOptions,
  range: object,
): AsyncGenerator<BlobEntry> {
  for await (const [key, blob] of store.snapshots.entries(tx, range)) {
    const [, name, stamp] = key;
    if (isLive(blob)) {
      if (snapshots) yield { kind: 'snapshot', name, blob, stamp };
    } else if (deleted && isRestorable(blob, tx.now)) {
      if (blob.deleted?.wasBase && (await isLastBase(store, tx, key)))
        yield { kind: 'blob', name, blob, stamp };
      else if (snapshots) yield { kind: 'snapshot', name, blob, stamp };
    }
  }
}

/** Whether it is what Undelete would make the blob: nothing has the name now, and nothing had it later. */
async function isLastBase(store: BlobStore, tx: Transaction, [id, name, stamp]: KeptKey): Promise<boolean> {
  if (committed(seen(await store.blobs.get(tx, [id, name], { lock: 'none' }), tx)) !== undefined)
    return false;
  for await (const [, later] of store.snapshots.entries(tx, {
    prefix: [id, name],
    after: [id, name, stamp],
  })) {
    if (later.deleted?.wasBase) return false;
  }
  return true;
}

async function* walkVersions(
  store: BlobStore,
  tx: Transaction,
  { deleted }: ListOptions,
  range: object,
): AsyncGenerator<BlobEntry> {
  for await (const [[, name, stamp], blob] of store.versions.entries(tx, range)) {
    if (isLive(blob) || (deleted && isRestorable(blob, tx.now))) yield { kind: 'version', name, blob, stamp };
  }
}

/** One entry for each name that has no blob now, with what its last version says. */
async function* walkVersionsOnly(
  store: BlobStore,
  tx: Transaction,
  range: object,
): AsyncGenerator<BlobEntry> {
  let last: readonly [KeptKey, KeptBlob] | undefined;
  for await (const row of store.versions.entries(tx, range)) {
    if (last !== undefined && last[0][1] !== row[0][1]) yield* versionsOnly(store, tx, last);
    last = row;
  }
  if (last !== undefined) yield* versionsOnly(store, tx, last);
}

async function* versionsOnly(
  store: BlobStore,
  tx: Transaction,
  [[id, name], blob]: readonly [KeptKey, KeptBlob],
): AsyncGenerator<BlobEntry> {
  if (seen(await store.blobs.get(tx, [id, name], { lock: 'none' }), tx) !== undefined) return;
  yield { kind: 'versions only', name, blob, stamp: Number.MAX_SAFE_INTEGER };
}

function comesFirst(a: BlobEntry, b: BlobEntry): boolean {
  if (a.name === b.name) return a.stamp < b.stamp;
  return compareBytes(Buffer.from(a.name), Buffer.from(b.name)) < 0;
}

/** Opaque to clients, and in the form of Azure's: `2!LENGTH!BASE64`. */
function formatMarker(entry: ListedEntry): string {
  const stamp = entry.kind === 'prefix' ? 0 : entry.stamp;
  const text = Buffer.from(JSON.stringify([entry.name, stamp])).toString('base64url');
  return `2!${text.length}!${text}`;
}

function parseMarker(marker: string): Position {
  const [, text = ''] = /^2!\d{1,6}!([\w-]+)$/.exec(marker) ?? [];
  try {
    const [name, stamp] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (typeof name === 'string' && typeof stamp === 'number') return { name, stamp };
  } catch {
    // told below
  }
  throw invalidParameter('marker', marker);
}
