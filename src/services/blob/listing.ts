// Listing blobs by name, flat or by hierarchy: with a delimiter, names that have it behind the prefix are told once,
// as the part up to it.
//
// A page costs what it tells: a group of names is left behind by reading on after it, however many it has.
// Snapshots and versions come before the blob they are of, oldest first. The marker names the first entry that
// did not fit; entries made before it in the meantime are not seen, as with Azure.

import { compareBytes } from '../../base/bytes.js';
import type { Transaction } from '../../collections/index.js';
import { invalidParameter } from '../common/errors.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findContainer,
  type KeptBlob,
  type UncommittedBlob,
} from './model.js';

export interface ListOptions {
  readonly prefix: string;
  /** Empty: flat. */
  readonly delimiter: string;
  readonly marker: string | undefined;
  readonly max: number;
  readonly snapshots: boolean;
  readonly versions: boolean;
  readonly uncommitted: boolean;
}

export type ListedEntry =
  | { readonly kind: 'prefix'; readonly name: string }
  | {
      readonly kind: 'blob' | 'snapshot' | 'version';
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
  const from = options.marker === undefined ? undefined : parseMarker(options.marker);
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
  const blobs = walkBlobs(store, tx, options, {
    ...range,
    ...(from === undefined ? {} : { from: [id, from.name] as const }),
  });
  const kept = { ...range, ...(from === undefined ? {} : { from: [id, from.name, from.stamp] as const }) };
  let all: AsyncIterable<BlobEntry> = blobs;
  if (options.snapshots) all = merge(walkKept(store, tx, 'snapshot', kept), all);
  if (options.versions) all = merge(walkKept(store, tx, 'version', kept), all);
  return all;
}

async function* walkBlobs(
  store: BlobStore,
  tx: Transaction,
  { uncommitted }: ListOptions,
  range: object,
): AsyncGenerator<BlobEntry> {
  for await (const [[, name], blob] of store.blobs.entries(tx, range)) {
    if (blob.type === 'uncommitted' && !uncommitted) continue;
    yield { kind: 'blob', name, blob, stamp: Number.MAX_SAFE_INTEGER };
  }
}

async function* walkKept(
  store: BlobStore,
  tx: Transaction,
  kind: 'snapshot' | 'version',
  range: object,
): AsyncGenerator<BlobEntry> {
  const dictionary = kind === 'snapshot' ? store.snapshots : store.versions;
  for await (const [[, name, stamp], blob] of dictionary.entries(tx, range)) {
    if (blob.deleted === undefined) yield { kind, name, blob, stamp };
  }
}

/** Two ordered sequences as one. */
async function* merge(
  left: AsyncIterable<BlobEntry>,
  right: AsyncIterable<BlobEntry>,
): AsyncGenerator<BlobEntry> {
  const [a, b] = [left[Symbol.asyncIterator](), right[Symbol.asyncIterator]()];
  let [x, y] = [await a.next(), await b.next()];
  while (!x.done || !y.done) {
    if (y.done || (!x.done && comesFirst(x.value, y.value))) {
      yield x.value as BlobEntry;
      x = await a.next();
    } else {
      yield y.value;
      y = await b.next();
    }
  }
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
