// Sweeping: rows that have expired, and generations that nobody needs, are removed a few at a time. Nothing
// waits for it: what is swept has been invisible before.

import { mapKey } from '../base/bytes.js';
import type { Row, Write } from '../engine/engine.js';
import { LostError, ReadOnlyError, UnavailableError } from '../engine/errors.js';
import { decodeKey, encodeKey, prefixRange } from '../engine/keys.js';
import { generation, space } from './catalog.js';
import { Dictionary } from './dictionary.js';
import { LockTimeoutError, TransactionFaultedError, TransientError } from './errors.js';
import { expiredRange, unindexExpiry } from './expiry.js';
import type { Kernel } from './kernel.js';
import { recordChange } from './notifications.js';
import type { Registry } from './registry.js';
import { expiredValue } from './rows.js';
import { Transaction } from './transaction.js';
import { Wait } from './waits.js';

const intervalMs = 1_000;
const batch = 500;

export class Sweeper {
  readonly #kernel: Kernel;
  readonly #registry: Registry;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(kernel: Kernel, registry: Registry) {
    this.#kernel = kernel;
    this.#registry = registry;
  }

  start(): void {
    this.#timer = setInterval(() => void this.run(), intervalMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** A round that begins after this call. */
  async runAnew(): Promise<void> {
    await this.#running;
    await this.run();
  }

  /** One round. Rounds do not overlap. */
  run(): Promise<void> {
    this.#running ??= this.#round()
      .catch((error) => {
        if (!this.#ended && !passes(error)) this.#kernel.notifier.report(error);
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  get #ended(): boolean {
    return this.#kernel.closed || this.#kernel.role !== 'primary';
  }

  async #round(): Promise<void> {
    if (this.#ended) return;
    await this.#sweepGenerations();
    await this.#sweepExpired();
  }

  async #sweepGenerations(): Promise<void> {
    const { from, to } = prefixRange([space.garbage]);
    const page = await this.#kernel.engine.range(from, to, { limit: 10, keysOnly: true });
    await this.#kernel.engine.settled(page.seen); // a clear that was lost has its rows again
    for (const { key } of page.rows) {
      const id = decodeKey(key)[1] as number;
      for (const kind of [space.rows, space.expiry]) {
        const rows = prefixRange([kind, id]);
        while (!this.#ended && (await this.#removeSome(rows.from, rows.to)));
      }
      if (this.#ended) return;
      const counters = [space.count, space.expiring].map((kind) => ({
        key: encodeKey([kind, id]),
        value: undefined,
      }));
      await this.#remove([...counters, { key, value: undefined }]);
    }
  }

  /** Whether there may be more. */
  async #removeSome(from: Buffer, to: Buffer): Promise<boolean> {
    const page = await this.#kernel.engine.range(from, to, { limit: batch, keysOnly: true });
    if (page.rows.length > 0) await this.#remove(page.rows.map(({ key }) => ({ key, value: undefined })));
    return page.more;
  }

  async #remove(writes: readonly Write[]): Promise<void> {
    await (await this.#kernel.engine.commit({ writes })).durable;
  }

  /** The index is by collection, so each is looked at from its own beginning. */
  async #sweepExpired(): Promise<void> {
    let { from, to } = prefixRange([space.expiry]);
    while (!this.#ended) {
      const page = await this.#kernel.engine.range(from, to, { limit: 1, keysOnly: true });
      const first = page.rows[0];
      if (first === undefined) return;
      const id = decodeKey(first.key)[1] as number;
      await this.#sweepCollection(id);
      from = prefixRange([space.expiry, id]).to;
    }
  }

  async #sweepCollection(id: number): Promise<void> {
    let [from, to] = expiredRange(generation(id), this.#kernel.engine.clock.now());
    while (!this.#ended) {
      const page = await this.#kernel.engine.range(from, to, { limit: batch, keysOnly: true });
      if (page.rows.length > 0) await this.#expire(id, page.rows);
      const last = page.rows[page.rows.length - 1];
      if (!page.more || last === undefined) return;
      from = Buffer.concat([last.key, Buffer.of(0)]); // those in use are passed over until the next round
    }
  }

  /** All in one transaction, each under its lock: somebody may be about to replace it, and then it stays. */
  async #expire(id: number, index: readonly Row[]): Promise<void> {
    await using tx = new Transaction(this.#kernel, { snapshot: 'first read', timeoutMs: 0 });
    for (const { key } of index) {
      const row = Buffer.from(decodeKey(key)[3] as Uint8Array);
      if (await this.#tryLock(tx, mapKey(row))) await this.#expireRow(tx, id, key, row);
    }
    await tx.commit();
  }

  async #tryLock(tx: Transaction, name: string): Promise<boolean> {
    try {
      await tx.call(() => tx.lock(name, 'exclusive', new Wait(undefined, tx)));
      return true;
    } catch (error) {
      if (error instanceof LockTimeoutError) return false;
      throw error;
    }
  }

  async #expireRow(tx: Transaction, id: number, key: Uint8Array, row: Buffer): Promise<void> {
    const name = mapKey(row);
    const index = await tx.read({ key, name: mapKey(key) }, true, true);
    const stored = await tx.read({ key: row, name }, true, true);
    if (index.value === undefined || stored.value === undefined) return; // it was replaced, or swept
    const keys = generation(id);
    const dictionary = this.#registry.ofGeneration(id);
    unindexExpiry(tx, keys, row, stored.value);
    tx.write(name, row, undefined);
    tx.changes.add(keys.count.name, keys.count.key, -1);
    if (dictionary instanceof Dictionary && dictionary.listeners.size > 0)
      recordChange(tx, dictionary, { key: row, value: expiredValue(stored.value) }, undefined);
  }
}

/** Nothing to report: the next round finds the same work. */
function passes(error: unknown): boolean {
  return [LostError, ReadOnlyError, UnavailableError, TransientError, TransactionFaultedError].some(
    (kind) => error instanceof kind,
  );
}
