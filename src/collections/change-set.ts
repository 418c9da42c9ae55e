// What a transaction means to do to the store at its commit: what it writes and adds, and what must still be
// so. It grows call by call and goes to the engine in one step; an abort just forgets it.

import type {
  Add,
  Change,
  CheckedPage,
  Key,
  KeyRead,
  NamedKey,
  Version,
  Versioned,
  Write,
} from '../engine/engine.js';

/** A key that was read, with what stood there. */
class SetRead implements KeyRead {
  readonly row: NamedKey;
  readonly version: Version;
  readonly locked: boolean;
  readonly found: Versioned | undefined;

  constructor(row: NamedKey, version: Version, locked: boolean, found: Versioned | undefined) {
    this.row = row;
    this.version = version;
    this.locked = locked;
    this.found = found;
  }

  get key(): Key {
    return this.row.key;
  }
}

export class ChangeSet {
  /** By the key as a string, as all here. */
  writes: Map<string, Write> | undefined;
  adds: Map<string, Add> | undefined;
  #reads: Map<string, SetRead> | undefined;
  #pages: CheckedPage[] | undefined;
  /** What the commit fails with if a counter would pass its limit. */
  #refusals: Map<string, () => Error> | undefined;
  #bringsData = false;
  #after: Promise<unknown> | undefined;
  /** Of all keys and values to be written. */
  bytes = 0;

  get isEmpty(): boolean {
    return this.writes === undefined && this.adds === undefined;
  }

  /** Whether something was read that no lock protects, and must be looked at again. */
  get mustBeChecked(): boolean {
    if (this.#pages !== undefined) return true;
    for (const read of this.#reads?.values() ?? []) if (!read.locked) return true;
    return false;
  }

  /** `frees`: what is written gives space back, like the note of a removal. */
  write(name: string, key: Key, value: Uint8Array | undefined, frees = false): void {
    this.writes ??= new Map();
    if (value !== undefined && !frees) this.#bringsData = true;
    const old = this.writes.get(name);
    this.bytes += (value?.length ?? 0) - (old === undefined ? -key.length : (old.value?.length ?? 0));
    this.writes.set(name, { key, name, value });
  }

  /** Of several limits the smallest counts. */
  add(name: string, key: Key, amount: number, max?: number, refusal?: () => Error): void {
    this.adds ??= new Map();
    const old = this.adds.get(name);
    const sum = (old?.amount ?? 0) + amount;
    const limit = old?.max === undefined ? max : Math.min(old.max, max ?? old.max);
    this.adds.set(name, limit === undefined ? { key, amount: sum } : { key, amount: sum, max: limit });
    if (max !== undefined && refusal !== undefined) (this.#refusals ??= new Map()).set(name, refusal);
  }

  /** What must still be so at the commit. The first that was seen counts; a lock on the same makes it sure. */
  expect(row: NamedKey, version: Version, locked: boolean, found?: Versioned): void {
    this.#reads ??= new Map();
    const known = this.#reads.get(row.name);
    if (known === undefined || (!known.locked && locked && known.version === version)) {
      this.#reads.set(row.name, new SetRead(row, version, locked, found));
    }
  }

  /** What a read under a lock found: it cannot have changed since. */
  known(name: string): Versioned | undefined {
    const read = this.#reads?.get(name);
    return read?.locked ? read.found : undefined;
  }

  expectPage(page: CheckedPage): void {
    (this.#pages ??= []).push(page);
  }

  refusal(name: string): Error | undefined {
    return this.#refusals?.get(name)?.();
  }

  after(work: Promise<unknown>): void {
    this.#after = this.#after === undefined ? work : Promise.all([this.#after, work]);
    this.#after.catch(() => {}); // the commit reports it, if there is one
  }

  /** The pages belong to the engine from now on, which closes them. `frees`: the caller says that it does. */
  take(frees: boolean): Change {
    const pages = this.#pages ?? [];
    this.#pages = undefined;
    return {
      reads: this.#reads === undefined ? [] : [...this.#reads.values()],
      pages,
      writes: this.writes === undefined ? [] : [...this.writes.values()],
      adds: this.adds === undefined ? [] : [...this.adds.values()],
      after: this.#after,
      frees: frees || !this.#bringsData,
    };
  }

  /** Nothing of it is used any more. */
  close(): void {
    for (const page of this.#pages ?? []) page[Symbol.dispose]();
    this.#pages = undefined;
  }
}
