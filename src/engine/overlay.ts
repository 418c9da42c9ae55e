// The overlay: commits that are ordered and not yet in the store, in front of it for every reader.
//
// It is a short list of layers, oldest first: the group being written and those being gathered. A layer maps
// each key to what stands under it, newest first:
//
//   key a   version 7 -> version 5        both kept: a view was taken between them
//   key b   version 6                     its version 4 was replaced while nobody looked
//
// A view is the list as it was at one moment and the newest version in it: it looks below what came later.
// Layers are only added to at the end of the list and taken away at the front, so a view needs no copy.

import { mapKey } from '../base/bytes.js';
import { lowerBound } from '../base/sorted.js';
import type { Key, Version } from './engine.js';

export interface Entry {
  readonly key: Key;
  /** Nothing: removed. */
  readonly value: Uint8Array | undefined;
  readonly version: Version;
  /** What stood here before in this layer, if a view may still need it. */
  readonly older: Entry | undefined;
}

export interface View {
  /** Oldest first. */
  readonly layers: readonly Layer[];
  readonly version: Version;
}

export class Layer {
  readonly #entries = new Map<string, Entry>();
  /** The names in order, as far as ranges have asked; the rest waits in `#unsorted`. */
  #sorted: string[] = [];
  #unsorted: string[] = [];

  get size(): number {
    return this.#entries.size;
  }

  /** `viewed`: the newest version that a view was taken at; what is older than that may still be needed. */
  put(name: string, { key, value, version }: Omit<Entry, 'older'>, viewed: Version): void {
    const before = this.#entries.get(name);
    if (before === undefined) this.#unsorted.push(name);
    const older = before === undefined || before.version <= viewed ? before : before.older;
    this.#entries.set(name, { key, value, version, older });
  }

  newest(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  at(name: string, version: Version): Entry | undefined {
    let entry = this.#entries.get(name);
    while (entry !== undefined && entry.version > version) entry = entry.older;
    return entry;
  }

  /** The newest of each key, in no order. */
  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** Likewise, each with its name. */
  named(): Iterable<[name: string, entry: Entry]> {
    return this.#entries;
  }

  /** The names from `from` up to but not including `to`, in order. */
  names(from: string, to: string | undefined): string[] {
    this.#sort();
    const begin = lowerBound(this.#sorted, from);
    return this.#sorted.slice(begin, to === undefined ? undefined : lowerBound(this.#sorted, to));
  }

  #sort(): void {
    if (this.#unsorted.length === 0) return;
    if (this.#unsorted.length > 16) {
      this.#sorted = this.#sorted.concat(this.#unsorted).sort(compareNames);
    } else {
      for (const name of this.#unsorted) this.#sorted.splice(lowerBound(this.#sorted, name), 0, name);
    }
    this.#unsorted = [];
  }
}

/** The newest entry for a key in any of the layers; nothing: the store has the word. */
export function newestIn(layers: readonly Layer[], name: string): Entry | undefined {
  for (let index = layers.length - 1; index >= 0; index--) {
    const entry = layers[index]?.newest(name);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** The entry that a view shows for a key; nothing: the store has the word. */
export function lookUp(view: View, name: string): Entry | undefined {
  for (let index = view.layers.length - 1; index >= 0; index--) {
    const entry = view.layers[index]?.at(name, view.version);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** The entries of a view between two keys, in order, as they were when this was made. */
export class OverlayCursor {
  readonly #view: View;
  readonly #reverse: boolean;
  readonly #names: string[][];

  constructor(view: View, from: Key, to: Key | undefined, reverse: boolean) {
    this.#view = view;
    this.#reverse = reverse;
    const first = mapKey(from);
    const end = to === undefined ? undefined : mapKey(to);
    // What comes next is at the end of each list, where taking it away is cheap.
    this.#names = view.layers
      .map((layer) => layer.names(first, end))
      .filter((names) => names.length > 0)
      .map((names) => (reverse ? names : names.reverse()));
  }

  /** The next entry, and past it; nothing at the end. */
  next(): Entry | undefined {
    while (true) {
      const name = this.#takeName();
      if (name === undefined) return undefined;
      const entry = lookUp(this.#view, name);
      if (entry !== undefined) return entry;
    }
  }

  #takeName(): string | undefined {
    let nearest: string | undefined;
    for (const names of this.#names) {
      const name = names[names.length - 1];
      if (name === undefined) continue;
      if (nearest === undefined || (this.#reverse ? name > nearest : name < nearest)) nearest = name;
    }
    for (const names of this.#names) if (names[names.length - 1] === nearest) names.pop();
    return nearest;
  }
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
