// A disk for tests that fails when it is told to, as a real one does: a write that failed may still turn up
// when the store is opened again, a handle that failed is written no more, and a store is open only once.

import assert from 'node:assert/strict';
import type { Disk } from './disk.js';
import type { Operation, Store } from './store.js';

/** What becomes of a write: done; failed and gone; failed, but there after the next start. */
export type Fate = 'done' | 'gone' | 'turns up';

export class FaultyDisk implements Disk {
  fate: () => Fate = () => 'done';
  free = Number.POSITIVE_INFINITY;
  probeFails = false;
  openFails = false;
  reserved = 1;
  probes = 0;
  opens = 0;
  /** The writes that failed and turned up, for those who must know what is there now. */
  readonly turnedUp: (readonly Operation[])[] = [];
  readonly #inner: Disk;
  /** Memory is gone when it is closed, so there it stays open. */
  readonly #keepsOpen: boolean;
  #store: Store | undefined;
  #open = false;
  #late: Operation[] = [];

  constructor(inner: Disk, keepsOpen: boolean) {
    this.#inner = inner;
    this.#keepsOpen = keepsOpen;
  }

  readonly reserve = {
    keep: async (): Promise<void> => {},
    giveUp: async (): Promise<boolean> => this.reserved-- > 0,
  };

  async open(): Promise<Store> {
    assert.ok(!this.#open, 'the store is opened twice');
    this.opens++;
    if (this.openFails) throw new Error('injected: the store does not open');
    this.#open = true;
    const store = (this.#keepsOpen ? this.#store : undefined) ?? (await this.#inner.open());
    this.#store = store;
    if (this.#late.length > 0) {
      await store.write(this.#late);
      this.turnedUp.push(this.#late);
      this.#late = [];
    }
    return this.#handle(store);
  }

  get damage() {
    return this.#inner.damage;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async probe(): Promise<void> {
    this.probes++;
    if (this.probeFails) throw new Error('injected: the probe fails');
    if (this.free === 0) throw Object.assign(new Error('injected: full'), { code: 'ENOSPC' });
  }

  async freeBytes(): Promise<number> {
    return this.free;
  }

  #handle(store: Store): Store {
    let failed = false;
    return {
      name: store.name,
      get: (key, snapshot) => store.get(key, snapshot),
      snapshot: () => store.snapshot(),
      cursor: (range) => store.cursor(range),
      write: async (operations) => {
        assert.ok(!failed, 'a handle that failed is written again');
        const fate = this.free === 0 ? 'gone' : this.fate();
        if (fate === 'done') return store.write(operations);
        failed = true;
        await new Promise((resolve) => setImmediate(resolve));
        if (fate === 'turns up') this.#late = operations;
        throw new Error(
          this.free === 0 ? 'IO error: No space left on device' : `injected: the write is ${fate}`,
        );
      },
      close: async () => {
        this.#open = false;
        if (!this.#keepsOpen) await store.close();
      },
    };
  }
}
