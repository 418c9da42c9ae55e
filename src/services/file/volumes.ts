// Shares as SMB sees them: the contract of file-system.ts, kept by the same tree and the same bytes that REST serves.
//
// A write, and an open that creates or empties a file, is answered when its place in history is fixed; `flush` waits
// until it is on disk, and tells if it is not.

import { LimitError, type Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { children } from './children.js';
import { allocatedRanges, clearBytes, openBytes, writeBytes } from './content.js';
import {
  type FileNode,
  type Flushed,
  msOf,
  type ShareSummary,
  type Space,
  type Ticks,
  ticksOf,
  type Volume,
  type Volumes,
  type VolumeTransaction,
  type WriteOptions,
} from './file-system.js';
import { type FileEntry, type FileStore, gib, largestFile, type ShareKey } from './model.js';
import { FileRefused } from './refusals.js';
import { findShare, findView, isLive, propertiesOf, useSpace, volumeId } from './share-access.js';
import { findById, findChild, putEntry, type View } from './tree.js';
import { entryOf, nodeOf, ShareTransaction } from './volume-transaction.js';

type Loss = Readonly<{ error: unknown }>;

/** Writes that were answered and are not on disk yet, by share and file; and who has not been told yet of a loss. */
export class PendingWrites {
  readonly #pending = new Map<string, Set<Promise<Loss | undefined>>>();
  readonly #losses = new WeakMap<object, Loss>();

  add(key: string, by: object | undefined, durable: Promise<unknown>): void {
    const all = this.#pending.get(key) ?? new Set();
    this.#pending.set(key, all);
    const lost = (error: unknown): Loss => {
      if (by) this.#losses.set(by, { error });
      return { error };
    };
    const kept = durable
      .then(() => undefined, lost)
      .finally(() => {
        all.delete(kept);
        if (all.size === 0) this.#pending.delete(key);
      });
    all.add(kept);
  }

  /** Rejects if one of those under way is lost, or one of `by` was. */
  async settle(key: string, by: object | undefined): Promise<void> {
    const ended = await Promise.all(this.#pending.get(key) ?? []);
    const own = by && this.#losses.get(by);
    if (by) this.#losses.delete(by);
    const loss = own ?? ended.find((lost) => lost !== undefined);
    if (loss) throw loss.error;
  }
}

class ShareVolume implements Volume {
  readonly id: string;
  readonly name: string;
  readonly readOnly: boolean;
  readonly created: Ticks;
  readonly #store: FileStore;
  readonly #pending: PendingWrites;
  readonly #key: ShareKey;
  readonly #share: number;
  readonly #second: number | undefined;

  constructor(
    store: FileStore,
    pending: PendingWrites,
    key: ShareKey,
    second: number | undefined,
    view: View,
    created: Ticks,
  ) {
    this.#store = store;
    this.#pending = pending;
    this.#key = key;
    this.#share = view.share.id;
    this.#second = second;
    this.id = volumeId(view);
    [, this.name] = key;
    this.readOnly = second !== undefined;
    this.created = created;
  }

  transaction<T>(run: (tx: VolumeTransaction) => Promise<T>): Promise<T> {
    return this.#run((tx, view) => run(new ShareTransaction(this.#store, tx, view)));
  }

  ordered<T>(
    run: (tx: VolumeTransaction) => Promise<T>,
    flushedOf: (result: T) => Flushed | undefined,
  ): Promise<T> {
    return this.#runOrdered((tx, view) => run(new ShareTransaction(this.#store, tx, view)), flushedOf);
  }

  node(id: bigint): Promise<FileNode | undefined> {
    return this.#run(async (tx, view) => {
      const entry = await findById(this.#store, tx, view, Number(id), 'none');
      return entry && nodeOf(this.#store, tx, view, entry);
    });
  }

  child(parent: bigint, name: string): Promise<FileNode | undefined> {
    return this.#run(async (tx, view) => {
      const entry = await findChild(this.#store, tx, view, Number(parent), name, 'none');
      return entry && nodeOf(this.#store, tx, view, entry);
    });
  }

  children(directory: bigint, after: string | undefined, limit: number): Promise<FileNode[]> {
    return this.#run(async (tx, view) => {
      const options = { directory: Number(directory), prefix: '', after, pageSize: Math.min(limit, 1000) };
      const found: FileNode[] = [];
      for await (const [, entry] of children(this.#store, tx, view, options)) {
        found.push(await nodeOf(this.#store, tx, view, entry));
        if (found.length >= limit) break;
      }
      return found;
    });
  }

  async read(id: bigint, offset: number, length: number): Promise<Uint8Array> {
    const chunks = await this.#run(async (tx, view) => {
      const { file } = await this.#file(tx, view, id, 'checked');
      const end = Math.min(file.length, offset + length);
      if (end <= offset) return [];
      return openBytes(this.#store, tx, view, file, { start: offset, end });
    });
    const read: Buffer[] = [];
    for await (const chunk of chunks) read.push(chunk);
    return read.length === 1 && read[0] ? read[0] : Buffer.concat(read);
  }

  async write(id: bigint, offset: number, bytes: Uint8Array, options: WriteOptions): Promise<boolean> {
    if (offset + bytes.length > largestFile) throw new FileRefused('DiskFull');
    const body = await this.#store.content.contents.store(bytes, { syncLater: true });
    const work = (tx: Transaction, view: View) =>
      this.#change(tx, view, id, options, ({ file }) =>
        file.length === (options.ifEndsAt ?? file.length)
          ? writeBytes(this.#store, tx, view.share, file, offset, body)
          : undefined,
      );
    return this.#runOrdered(
      work,
      () => ({ file: id, by: options.by }),
      () => body[Symbol.dispose](),
    );
  }

  async zero(id: bigint, offset: number, end: number, options: WriteOptions): Promise<void> {
    const work = (tx: Transaction, view: View) =>
      this.#change(tx, view, id, options, ({ file }) =>
        clearBytes(this.#store, tx, view.share, file, { start: offset, end: Math.min(end, file.length) }),
      );
    await this.#runOrdered(work, () => ({ file: id, by: options.by }));
  }

  ranges(id: bigint, offset: number, length: number): Promise<{ offset: number; length: number }[]> {
    return this.#run(async (tx, view) => {
      const { file } = await this.#file(tx, view, id, 'checked');
      const end = Math.min(file.length, offset + length);
      if (end <= offset) return [];
      const found = await allocatedRanges(this.#store, tx, view, file, { start: offset, end });
      return found.map((range) => {
        const start = Math.max(range.start, offset);
        return { offset: start, length: Math.min(range.end, end) - start };
      });
    });
  }

  flush(id: bigint, by?: object): Promise<void> {
    return this.#pending.settle(`${this.id} ${id}`, by);
  }

  space(): Promise<Space> {
    return this.#run(async (tx, { share }) => {
      const totalBytes = share.quotaGib * gib;
      const used = await this.#store.usage.get(tx, share.id);
      return { totalBytes, freeBytes: Math.max(0, totalBytes - used) };
    });
  }

  async #file(tx: Transaction, view: View, id: bigint, lock: 'checked' | 'update'): Promise<FileEntry> {
    const entry = await findById(this.#store, tx, view, Number(id), lock);
    if (entry?.file === undefined) throw new FileRefused('HandleClosed');
    return entryOf(entry);
  }

  async #change(
    tx: Transaction,
    view: View,
    id: bigint,
    { keepWritten }: WriteOptions,
    change: (entry: FileEntry) => Promise<FileEntry['file']> | undefined,
  ): Promise<boolean> {
    if (this.readOnly) throw new FileRefused('WriteProtected');
    const entry = await this.#file(tx, view, id, 'update');
    const file = await change(entry);
    if (file === undefined) return false;
    await useSpace(this.#store, tx, view.share, file.length - entry.file.length);
    const now = ticksOf(tx.now);
    const written = keepWritten ? entry.written : now;
    const stamp = tx.stamp(entry.stamp);
    await putEntry(this.#store, tx, view.share, entry, { ...entry, file, stamp, written, changed: now });
    return true;
  }

  /** The share must still be the one that was opened. */
  async #run<T>(work: (tx: Transaction, view: View) => Promise<T>): Promise<T> {
    try {
      return await this.#store.run(async (tx) => {
        const view = await findView(this.#store, tx, this.#key, this.#second);
        if (view.share.id !== this.#share) throw new FileRefused('ShareNotFound');
        return work(tx, view);
      });
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /** Resolves when the commit is ordered; `flush` of the file waits for the rest. What changes nothing waits itself. */
  #runOrdered<T>(
    work: (tx: Transaction, view: View) => Promise<T>,
    flushedOf: (result: T) => Flushed | undefined,
    ended?: () => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const durable = this.#run(async (tx, view) => {
        const result = await work(tx, view);
        const flushed = flushedOf(result);
        const ordered = () => {
          if (flushed === undefined || tx.commitSequenceNumber < 0n) return;
          this.#pending.add(`${this.id} ${flushed.file}`, flushed.by, durable);
          resolve(result);
        };
        tx.onEnd({ ordered });
        return result;
      }).finally(ended);
      durable.then(resolve, reject); // Without effect where it was answered at ordered.
    });
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof LimitError) return new FileRefused('DiskFull');
  if (!(error instanceof StorageError)) return error;
  return error.code.startsWith('Share') ? new FileRefused('ShareNotFound') : error;
}

export class ShareVolumes implements Volumes {
  readonly #store: FileStore;
  readonly #pending = new PendingWrites();

  constructor(store: FileStore) {
    this.#store = store;
  }

  open(account: string, share: string, snapshot?: Ticks): Promise<Volume | undefined> {
    const key: ShareKey = [account, share.toLowerCase()];
    return this.#store.run(async (tx) => {
      const row = await this.#store.shares.get(tx, key, { lock: 'none' });
      if (!isLive(row)) return undefined;
      const second = snapshot === undefined ? undefined : Math.floor(msOf(snapshot) / 1000);
      const found =
        second === undefined
          ? undefined
          : await this.#store.snapshots.get(tx, [row.id, second], { lock: 'none' });
      if (second !== undefined && found === undefined) return undefined;
      const { created } = found ?? (await propertiesOf(this.#store, tx, row));
      return new ShareVolume(
        ...([this.#store, this.#pending, key, second] as const),
        { share: row, snapshot: found?.epoch },
        created,
      );
    });
  }

  list(account: string): Promise<ShareSummary[]> {
    return this.#store.run(async (tx) => {
      const found: ShareSummary[] = [];
      for await (const [[, name], row] of this.#store.shares.entries(tx, { prefix: [account] })) {
        if (isLive(row)) found.push({ name, comment: '' });
      }
      return found;
    });
  }

  snapshots(account: string, share: string): Promise<Ticks[]> {
    return this.#store.run(async (tx) => {
      const { id } = await findShare(this.#store, tx, [account, share.toLowerCase()]);
      const found: Ticks[] = [];
      const range = { prefix: [id], reverse: true } as const;
      for await (const [, second] of this.#store.snapshots.keys(tx, range))
        found.push(ticksOf(second * 1000));
      return found;
    });
  }
}
