// The newest state: the overlay over the store, for readers and for the commits that are judged by it.

import { mapKey } from '../base/bytes.js';
import type { Awaitable, Key, NamedKey, Version, Versioned, Write } from './engine.js';
import { ClosedError, UnavailableError } from './errors.js';
import type { Group, Groups } from './groups.js';
import { type Handle, shown } from './handle.js';
import { KnownRecords } from './known.js';
import type { LiveStore } from './live-store.js';
import { newestIn, type View } from './overlay.js';
import { Watches } from './watches.js';

export class Newest {
  readonly watches = new Watches();
  /** Whether anybody has asked since this was last set back. */
  active = false;
  /** Nothing more is answered. */
  closing = false;
  readonly #live: LiveStore;
  readonly #groups: Groups;
  readonly #known = new KnownRecords();
  /** The newest version that a view was taken at. */
  #viewed = 0;

  constructor(live: LiveStore, groups: Groups) {
    this.#live = live;
    this.#groups = groups;
  }

  /** The store below; nothing while it is being opened again, see `later`. */
  handle(): Handle | undefined {
    if (this.closing) throw new ClosedError('The store was closed.');
    this.active = true;
    return this.#live.handle;
  }

  openHandle(): Handle {
    const handle = this.handle();
    if (handle === undefined) throw new UnavailableError('The store is being opened again. Try again.');
    return handle;
  }

  /** Once the store is open again. */
  async later<T>(read: () => Awaitable<T>): Promise<T> {
    await this.#live.opened;
    return read();
  }

  find(handle: Handle, key: NamedKey): Versioned {
    const entry = newestIn(this.#groups.list, key.name);
    if (entry !== undefined) return shown(entry);
    return this.#known.get(key.name) ?? this.#stored(handle, key.key, key.name);
  }

  /** The version alone, mostly without going to the store. */
  version(handle: Handle, key: Key): Pick<Versioned, 'version' | 'seen'> {
    const name = mapKey(key);
    const entry = newestIn(this.#groups.list, name);
    if (entry !== undefined) return shown(entry);
    const version = this.#known.version(name);
    return version === undefined ? this.#stored(handle, key, name) : { version, seen: 0 };
  }

  /** All that is ordered, fixed. */
  view(): View {
    this.#viewed = this.#groups.lastVersion;
    return { layers: this.#groups.list, version: this.#viewed };
  }

  put(group: Group, { key, value, name = mapKey(key) }: Write, version: Version): void {
    group.put(name, { key, value, version }, this.#viewed);
    this.watches.wrote(name);
  }

  /** The group is in the store, and about to leave the overlay. */
  stored(group: Group): void {
    if (group.size <= this.#known.size) {
      for (const [name, { value, version }] of group.named()) this.#known.renew(name, value, version);
      return;
    }
    for (const name of this.#known.names()) {
      const entry = group.newest(name);
      if (entry !== undefined) this.#known.renew(name, entry.value, entry.version);
    }
  }

  /** Something was lost, or has turned up. */
  reset(): void {
    this.#known.clear();
    this.watches.breakAll();
  }

  #stored(handle: Handle, key: Key, name: string): Versioned {
    const found = handle.get(key);
    this.#known.set(name, found);
    return found;
  }
}
