// Find Blobs by Tags, in a container or in all of an account.
//
// A search walks the index rows of one of its comparisons, the most telling one, and holds the others against the
// blobs they name. It looks at a bounded number of rows: a page may be short and still have more behind it.

import type { Transaction } from '../../collections/index.js';
import { invalidParameter } from '../common/errors.js';
import {
  compares,
  matchesTags,
  type TagComparison,
  type TagSearch,
  type Tags,
} from '../common/tags-filter.js';
import { committed } from './guards.js';
import type { BlobStore, TagKey } from './model.js';
import { seen } from './rows.js';

export interface FoundBlob {
  readonly container: string;
  readonly name: string;
  /** Those that the search asked for. */
  readonly tags: Tags;
}

export interface FoundBlobs {
  readonly blobs: readonly FoundBlob[];
  readonly next: string | undefined;
}

const mostRows = 5000;

export function findBlobs(
  store: BlobStore,
  account: string,
  search: TagSearch,
  { marker, max }: { readonly marker: string | undefined; readonly max: number },
): Promise<FoundBlobs> {
  const after = marker === undefined ? undefined : parseMarker(marker, account);
  const { container } = search;
  const telling = search.all.find(({ operator }) => operator === '=') ?? search.all[0];
  if (telling === undefined) return Promise.resolve({ blobs: [], next: undefined });
  return store.run(async (tx) => {
    const blobs: FoundBlob[] = [];
    let looked = 0;
    let last: TagKey | undefined;
    for await (const key of store.tags.keys(tx, rangeOf(account, telling, container, after))) {
      if (blobs.length === max || looked === mostRows) return { blobs, next: formatMarker(last ?? key) };
      last = key;
      looked++;
      if (!compares(key[2], telling) || (container !== undefined && key[3] !== container)) continue;
      const tags = await tagsAt(store, tx, key);
      if (tags !== undefined && matchesTags({ all: search.all }, tags)) {
        blobs.push({ container: key[3], name: key[5], tags: askedFor(tags, search) });
      }
    }
    return { blobs, next: undefined };
  });
}

/** The rows that a comparison can be true of. */
function rangeOf(
  account: string,
  { name, operator, value }: TagComparison,
  container: string | undefined,
  after: TagKey | undefined,
) {
  const prefix = operator === '=' ? [account, name, value] : [account, name];
  if (operator === '=' && container !== undefined) prefix.push(container);
  return { prefix, pageSize: 500, ...(after === undefined ? {} : { after }) };
}

/** The tags of the blob that a row names, if it is still what it was. */
async function tagsAt(
  store: BlobStore,
  tx: Transaction,
  [account, , , container, id, name]: TagKey,
): Promise<Tags | undefined> {
  const entry = await store.containers.get(tx, [account, container], { lock: 'none' });
  if (entry?.id !== id) return undefined;
  return committed(seen(await store.blobs.get(tx, [id, name], { lock: 'none' }), tx))?.tags;
}

function askedFor(tags: Tags, { all }: TagSearch): Tags {
  return tags.filter(([tag]) => all.some(({ name }) => name === tag));
}

function formatMarker([, ...rest]: TagKey): string {
  return Buffer.from(JSON.stringify(rest)).toString('base64url');
}

function parseMarker(marker: string, account: string): TagKey {
  try {
    const parts = JSON.parse(Buffer.from(marker, 'base64url').toString()) as unknown[];
    const [tag, value, container, id, blob] = parts;
    if (parts.length === 5 && typeof id === 'number' && [tag, value, container, blob].every(isText)) {
      return [account, String(tag), String(value), String(container), id, String(blob)];
    }
  } catch {
    // told below
  }
  throw invalidParameter('marker', marker);
}

function isText(part: unknown): boolean {
  return typeof part === 'string';
}
