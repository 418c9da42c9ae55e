// When a blob was last read, where the account keeps track of it (lastAccessTime). As with Azure it is exact to a day: a
// blob that was read or changed within the last 24 hours is left as it is, so a read costs a comparison, and the one
// write a day happens behind the answer. It changes no ETag. A write under way when the server crashes is lost, and
// the next read makes it again.
//
// A change counts as an access: what is told is the later of both, so nothing need be written for a blob that is new.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { lastModifiedMs } from '../common/etag.js';
import { type BlobAddress, lockRow } from './address.js';
import { type BlobRecord, type BlobStore, type ContainerKey, findPlace } from './model.js';

const dayMs = 24 * 3600 * 1000;
/** So many are written at once; who is read beyond that is noted by the next read. */
const mostAtOnce = 64;

/** In milliseconds since 1970. */
export function lastAccess({ accessed = 0, stamp }: Pick<BlobRecord, 'accessed' | 'stamp'>): number {
  return Math.max(accessed, lastModifiedMs(stamp));
}

export class LastAccess {
  readonly #store: BlobStore;
  readonly #report: (error: unknown) => void;
  readonly #writing = new Map<string, Promise<void>>();

  constructor(store: BlobStore, report: (error: unknown) => void) {
    this.#store = store;
    this.#report = report;
  }

  /** Whether the account keeps track of it. */
  isKept(account: string): boolean {
    return this.#store.settings(account).lastAccessTime;
  }

  /** The blob was read now. */
  note(container: ContainerKey, address: BlobAddress, blob: BlobRecord, now: number): void {
    if (now - lastAccess(blob) < dayMs || this.#writing.size >= mostAtOnce) return;
    const key = JSON.stringify([container, address]);
    if (this.#writing.has(key)) return;
    const written = this.#store
      .run((tx) => touch(this.#store, tx, container, address))
      .catch((error: unknown) => {
        if (!(error instanceof StorageError)) this.#report(error); // else it is gone meanwhile
      })
      .finally(() => this.#writing.delete(key));
    this.#writing.set(key, written);
  }

  /** What is being written is there, or given up. */
  async close(): Promise<void> {
    await Promise.all(this.#writing.values());
  }
}

async function touch(
  store: BlobStore,
  tx: Transaction,
  container: ContainerKey,
  address: BlobAddress,
): Promise<void> {
  const { key } = await findPlace(store, tx, container, address.name);
  const { blob, write } = await lockRow(store, tx, key, address);
  if (tx.now - lastAccess(blob) >= dayMs) await write({ ...blob, accessed: tx.now });
}
