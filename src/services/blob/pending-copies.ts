// Copies from other servers: the target is there at once, empty and pending, and its bytes come in the background. A
// copy is a row of its own until it has ended, so it goes on after a restart.
//
//   pending ── all came ────────────────────> success     the content is there, with a new ETag
//      ├────── aborted by a client ─────────> aborted     the target stays empty
//      ├────── the source failed, or 2 weeks > failed     the target stays empty
//      └────── overwritten or deleted ──────>             the copy ends with its target
//
// While it is pending nobody else writes to the target; whoever ends it does so in a transaction that finds the copy
// still pending, so it ends once.

import { assert } from '../../base/assert.js';
import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { nameContent } from './content.js';
import { committed } from './guards.js';
import type { BlobContent, BlobKey, BlobRecord, BlobStore, CopyState, PendingCopy } from './model.js';

/** What a source gives: its bytes, all of `length`. */
export interface FetchedSource {
  readonly length: number;
  readonly body: AsyncIterable<Buffer>;
}

/** Reads a source again from the beginning. Throws if it is another one than it was. */
export type FetchPending = (copy: PendingCopy, signal: AbortSignal) => Promise<FetchedSource>;

const longestMs = 14 * 24 * 3600 * 1000;
const progressMs = 1000;

export class PendingCopies {
  readonly #store: BlobStore;
  readonly #fetch: FetchPending;
  readonly #report: (error: unknown) => void;
  readonly #running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  constructor(store: BlobStore, fetch: FetchPending, report: (error: unknown) => void) {
    this.#store = store;
    this.#fetch = fetch;
    this.#report = report;
  }

  /** Goes on with all that were pending when the server stopped. */
  async resume(): Promise<void> {
    const rows = await this.#store.run(async (tx) => {
      const found: (readonly [BlobKey, PendingCopy])[] = [];
      for await (const row of this.#store.copies.entries(tx)) found.push(row);
      return found;
    });
    for (const [key, copy] of rows) this.start(key, copy);
  }

  start(key: BlobKey, copy: PendingCopy): void {
    const stop = new AbortController();
    const ended = this.#run(key, copy, stop.signal)
      .catch(this.#report)
      .finally(() => this.#running.delete(copy.id));
    this.#running.set(copy.id, { stop, ended });
  }

  /** A client has aborted it: its bytes need not come. */
  stop(id: string): void {
    this.#running.get(id)?.stop.abort();
  }

  /** Those under way stay pending, for the next start. */
  async close(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { stop } of all) stop.abort('closing');
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #run(key: BlobKey, copy: PendingCopy, signal: AbortSignal): Promise<void> {
    try {
      const source = await this.#fetch(copy, signal);
      const counted = this.#counted(key, copy, source.body);
      using body = await this.#store.contents.receive(counted, source.length, {});
      await finish(this.#store, key, copy, body);
    } catch (error) {
      if (signal.reason === 'closing') return;
      const late = this.#store.now() - copy.began > longestMs;
      const words = error instanceof Error ? error.message : String(error);
      await fail(this.#store, key, copy, late ? '500 OperationCancelled' : `500 InternalError "${words}"`);
    }
  }

  /** Tells now and then how far it is. */
  async *#counted(key: BlobKey, copy: PendingCopy, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let copied = 0;
    let toldAt = this.#store.now();
    for await (const chunk of chunks) {
      yield chunk;
      copied += chunk.length;
      const now = this.#store.now();
      if (now - copy.began > longestMs) throw new Error('the copy took longer than two weeks');
      if (now - toldAt < progressMs) continue;
      toldAt = now;
      await tell(this.#store, key, copy, copied);
    }
  }
}

/** The target, if the copy is still pending. */
async function findPending(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  { id }: PendingCopy,
): Promise<(BlobRecord & { readonly copy: CopyState }) | undefined> {
  const blob = committed(await store.blobs.get(tx, key, { lock: 'update' }));
  const { copy } = blob ?? {};
  return blob !== undefined && copy?.id === id && copy.status === 'pending' ? { ...blob, copy } : undefined;
}

function tell(store: BlobStore, key: BlobKey, copy: PendingCopy, copied: number): Promise<void> {
  return store.run(async (tx) => {
    const blob = await findPending(store, tx, key, copy);
    if (blob === undefined) throw new Error('the copy has ended');
    await store.blobs.set(tx, key, { ...blob, copy: { ...blob.copy, copied } });
  });
}

function finish(store: BlobStore, key: BlobKey, copy: PendingCopy, body: Body): Promise<void> {
  return store.run(async (tx) => {
    await store.copies.delete(tx, key);
    const blob = await findPending(store, tx, key, copy);
    if (blob === undefined) return;
    const content = await contentOf(store, tx, blob, body);
    const { length } = body;
    const done: CopyState = { ...blob.copy, status: 'success', copied: length, completed: tx.now };
    await store.blobs.set(tx, key, { ...blob, content, length, copy: done, stamp: tx.stamp(blob.stamp) });
  });
}

/** Blobs that are written further have a map of their own. */
async function contentOf(
  store: BlobStore,
  tx: Transaction,
  { type, content }: BlobRecord,
  body: Body,
): Promise<BlobContent> {
  if (type === 'BlockBlob' || body.length === 0)
    return body.length === 0 ? content : nameContent(store, tx, body);
  const source = await store.contents.source(tx, body);
  if (type === 'AppendBlob') {
    const map = await store.maps.create(tx);
    await store.maps.append(tx, map, 0, [{ source, length: body.length }]);
    return { kind: 'map', map };
  }
  assert(content.kind === 'pages', 'the content of a page blob is pages');
  await store.maps.append(tx, content.map, 0, [{ source, length: body.length }]);
  return content;
}

function fail(store: BlobStore, key: BlobKey, copy: PendingCopy, description: string): Promise<void> {
  return store.run(async (tx) => {
    await store.copies.delete(tx, key);
    const blob = await findPending(store, tx, key, copy);
    if (blob === undefined) return;
    const failed: CopyState = { ...blob.copy, status: 'failed', completed: tx.now, description };
    await store.blobs.set(tx, key, { ...blob, copy: failed, stamp: tx.stamp(blob.stamp) });
  });
}
