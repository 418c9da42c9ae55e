// Records of stored keys that were read lately. A container is looked up by every request for what is in it, and a
// key is mostly read shortly before the commit that checks its version: neither need go to the store again. 4
// microseconds become 0.2.
//
// Two generations: when the young one is full it becomes the old one, and the old one is forgotten; what is found
// in the old one moves to the young. A key that is written has its new record here when that leaves the overlay, which
// has the word until then. Of a long value only the version is kept: contents would drive out everything else.

import { ownCopy } from '../base/bytes.js';
import type { Version, Versioned } from './engine.js';

const generationKeys = 8192;
const generationBytes = 4 * 1024 * 1024;
const longestBytes = 8 * 1024;
/** Small, as one value can keep all of it: 32 MiB in all at worst. */
const slabBytes = 2 * 1024;

/** Of a value too long to be kept, the version alone. */
type Known = Versioned | { readonly version: Version; readonly value: 'long' };

export class KnownRecords {
  #young = new Map<string, Known>();
  #old = new Map<string, Known>();
  /** Of the young ones. */
  #bytes = 0;
  /** What is left of it for short values. */
  #slab = Buffer.alloc(0);

  get(name: string): Versioned | undefined {
    const known = this.#find(name);
    return known === undefined || known.value === 'long' ? undefined : (known as Versioned);
  }

  version(name: string): Version | undefined {
    return this.#find(name)?.version;
  }

  /** Keeps what was read in the store now. */
  set(name: string, found: Versioned): void {
    this.#add(name, isLong(found.value) ? { version: found.version, value: 'long' } : found);
  }

  /** A known key has a new record in the store; one that nobody has read stays unknown. */
  renew(name: string, value: Uint8Array | undefined, version: Version): void {
    if (!this.#young.has(name) && !this.#old.has(name)) return;
    if (value === undefined) this.#add(name, { value, version: 0, seen: 0 });
    else if (isLong(value)) this.#add(name, { value: 'long', version });
    else this.#add(name, { value: this.#copyOf(value), version, seen: 0 });
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  names(): string[] {
    return [...this.#young.keys(), ...this.#old.keys()];
  }

  /** Of its own, as the value may be part of something larger. Short ones share some memory: that is cheaper. */
  #copyOf(value: Uint8Array): Uint8Array {
    if (value.length > slabBytes / 4) return ownCopy(value);
    if (this.#slab.length < value.length) this.#slab = Buffer.allocUnsafeSlow(slabBytes);
    const copy = this.#slab.subarray(0, value.length);
    copy.set(value);
    this.#slab = this.#slab.subarray(value.length);
    return copy;
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
    const before = this.#young.get(name);
    this.#bytes += bytesOf(name, known) - (before === undefined ? 0 : bytesOf(name, before));
    this.#young.set(name, known);
  }
}

function isLong(value: Uint8Array | undefined): boolean {
  return value !== undefined && value.length > longestBytes;
}

function bytesOf(name: string, { value }: Known): number {
  return name.length + (value?.length ?? 0);
}
