// Versions of stored keys that were read lately. A key is mostly read shortly before the commit that checks it,
// which then need not go to the store again: 3 microseconds become 0.2.
//
// Two generations: when the young one is full it becomes the old one, and the old one is forgotten. A key that
// is written is forgotten at once; the overlay has the word from then on.

import type { Version } from './engine.js';

const generationSize = 8192;

export class KnownVersions {
  #young = new Map<string, Version>();
  #old = new Map<string, Version>();

  get(name: string): Version | undefined {
    return this.#young.get(name) ?? this.#old.get(name);
  }

  set(name: string, version: Version): void {
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, version);
  }

  forget(name: string): void {
    this.#young.delete(name);
    this.#old.delete(name);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
