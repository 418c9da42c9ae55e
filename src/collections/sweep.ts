// Sweeping: rows that have expired, and generations that nobody needs, are removed a few at a time. Nothing
// waits for it: what is swept has been invisible before.

import { mapKey } from '../base/bytes.js';
import type { Row, Write } from '../engine/engine.js';
import { decodeKey, encodeKey, prefixRange } from '../engine/keys.js';
import { space } from './catalog.js';
import type { Kernel } from './kernel.js';
import { Transaction } from './transaction.js';
import { Wait } from './waits.js';

const intervalMs = 1_000;
const batch = 500;

export class Sweeper {
  readonly #kernel: Kernel;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  start(): void {
    this.#timer = setInterval(() => void this.run(), intervalMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One round. Rounds do not overlap. */
  run(): Promise<void> {
    this.#running ??= this.#round()
      .catch(this.#kernel.reportError)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #round(): Promise<void> {
    if (this.#kernel.role !== 'primary') return;
    await this.#sweepGenerations();
    await this.#sweepExpired();
  }

  async #sweepGenerations(): Promise<void> {
    const { from, to } = prefixRange([space.garbage]);
    const page = await this.#kernel.engine.range(from, to, { limit: 10, keysOnly: true });
    for (const { key } of page.rows) {
      const id = decodeKey(key)[1] as number;
      for (const kind of [space.rows, space.expiry]) {
        const rows = prefixRange([kind, id]);
        while (!this.#kernel.closed && (await this.#removeSome(rows.from, rows.to)));
      }
      if (this.#kernel.closed) return;
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
    for (;;) {
      const page = await this.#kernel.engine.range(from, to, { limit: 1, keysOnly: true });
      const first = page.rows[0];
      if (first === undefined || this.#kernel.closed) return;
      const id = decodeKey(first.key)[1] as number;
      const due = encodeKey([space.expiry, id, this.#kernel.engine.clock.now()]);
      while (!this.#kernel.closed) {
        const expired = await this.#kernel.engine.range(first.key, due, { limit: batch, keysOnly: true });
        if (expired.rows.length === 0) break;
        for (const row of expired.rows) await this.#expire(id, row);
        if (!expired.more) break;
      }
      from = prefixRange([space.expiry, id]).to;
    }
  }

  /** Under the row's lock: somebody may be about to replace it. */
  async #expire(id: number, { key }: Row): Promise<void> {
    const row = decodeKey(key)[3] as Uint8Array;
    await using tx = new Transaction(this.#kernel, { snapshot: 'first read', timeoutMs: 0 });
    try {
      await tx.call(() => tx.lock(mapKey(row), 'exclusive', new Wait({ timeoutMs: 0 }, 0)));
    } catch {
      return; // it is in use: next time
    }
    const [index, stored] = await this.#kernel.engine.getMany([key, row]);
    if (index?.value === undefined) return;
    const count = encodeKey([space.count, id]);
    const expiring = encodeKey([space.expiring, id]);
    tx.write(mapKey(key), key, undefined);
    tx.add(mapKey(expiring), expiring, -1);
    if (stored?.value !== undefined) {
      tx.write(mapKey(row), row, undefined);
      tx.add(mapKey(count), count, -1);
    }
    await tx.commit();
  }
}
