// Records of stored keys that were read lately. A container is looked up by every request for what is in it, and a
// key is mostly read shortly before the commit that checks its version: neither need go to the store again. 4
// microseconds become 0.2.
//
// Two generations: when the young one is full it becomes the old one, and the old one is forgotten; what is found
// in the old one moves to the young. A key that is written is forgotten at once; the overlay has the word from
// then on. Of a long value only the version is kept: contents would drive out everything else. Who reads gets bytes
// of its own, as from the store.

import type { Version, Versioned } from './engine.js';

const generationKeys = 8192;
const generationBytes = 4 * 1024 * 1024;
const longestBytes = 8 * 1024;

interface Known {
  readonly version: Version;
  /** Of an absent key, nothing. */
  readonly value: Uint8Array | undefined;
  /** Its value was too long to be kept. */
  readonly isLong: boolean;
}

/** Short ones come out of node's pool, so this costs no allocation of memory. */
function copyOf({ version, value }: Pick<Versioned, 'version' | 'value'>): Versioned {
  return { value: value && Buffer.from(value), version, seen: 0 };
}

export class KnownRecords {
  #young = new Map<string, Known>();
  #old = new Map<string, Known>();
  /** Of the young ones, those that were forgotten included. */
  #bytes = 0;

  get(name: string): Versioned | undefined {
    const known = this.#find(name);
    return known === undefined || known.isLong ? undefined : copyOf(known);
  }

  version(name: string): Version | undefined {
    return this.#find(name)?.version;
  }

  /** Keeps what the store gave. The result is the reader's. */
  set(name: string, found: Versioned): Versioned {
    const { version, value } = found;
    const isLong = value !== undefined && value.length > longestBytes;
    this.#add(name, { version, value: isLong ? undefined : value, isLong });
    return isLong ? found : copyOf(found);
  }

  forget(name: string): void {
    this.#young.delete(name);
    this.#old.delete(name);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#bytes = 0;
  }

  #find(name: string): Known | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.#add(name, old);
    return old;
  }

  #add(name: string, known: Known): void {
    if (this.#young.size >= generationKeys || this.#bytes >= generationBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#bytes = 0;
    }
    this.#young.set(name, known);
    this.#bytes += name.length + (known.value?.length ?? 0);
  }
}
