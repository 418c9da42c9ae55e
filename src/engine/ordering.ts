// Ordering: a change is judged by the newest state and put into the overlay, in one synchronous step. From
// then on every reader sees it, and its place in history is fixed.

import { measureChange, onlyFrees, onlyReads } from './change.js';
import type { Awaitable, Change, Committed } from './engine.js';
import { ReadOnlyError } from './errors.js';
import type { Groups } from './groups.js';
import type { LiveStore } from './live-store.js';
import type { Newest } from './newest.js';
import type { Space } from './space.js';
import { countUp, judgeReads } from './verdict.js';

/** At most so much waits for the disk; then a commit waits. */
const maxWaitingBytes = 32 * 1024 * 1024;
/** At most so many versions are drawn ahead of the disk while anything waits for it. */
export const maxAhead = 1 << 20;

export class Ordering {
  readonly #live: LiveStore;
  readonly #newest: Newest;
  readonly #groups: Groups;
  readonly #space: Space;

  constructor(live: LiveStore, newest: Newest, groups: Groups, space: Space) {
    this.#live = live;
    this.#newest = newest;
    this.#groups = groups;
    this.#space = space;
  }

  commit(change: Change): Awaitable<Committed> {
    change.after?.catch(() => {}); // heard when its group is written, which may be later or never
    if (this.#mustWait()) return this.#commitLater(change);
    try {
      return this.#commit(change);
    } finally {
      closePages(change);
    }
  }

  #mustWait(): boolean {
    const { bytes, lastVersion, durableVersion, list } = this.#groups;
    if (list.length === 0) return false; // what was lost is behind the disk for good: nothing would end the wait
    return bytes > maxWaitingBytes || lastVersion - durableVersion >= maxAhead - 1;
  }

  async #commitLater(change: Change): Promise<Committed> {
    try {
      while (this.#mustWait()) await this.#groups.list[0]?.durable.catch(() => {});
      return this.#commit(change);
    } finally {
      closePages(change);
    }
  }

  #commit(change: Change): Committed {
    const bytes = measureChange(change);
    const writes = !onlyReads(change);
    if (writes) this.#assertWritable(change);
    const handle = this.#newest.openHandle();
    const seen = judgeReads(change, (key) => this.#newest.version(handle, key), this.#groups.lastLost);
    if (!writes) {
      return { version: this.#groups.newest, durable: this.#groups.settled(seen) ?? Promise.resolve() };
    }
    const counters = countUp(change.adds ?? [], (key) => this.#newest.find(handle, key));
    return this.#apply(change, counters, bytes);
  }

  /** Nothing is refused from here on. */
  #apply({ writes = [], after }: Change, counters: Change['writes'] & object, bytes: number): Committed {
    const group = this.#groups.next(after);
    const version = group.lastVersion;
    for (const write of writes) this.#newest.put(group, write, version);
    for (const write of counters) this.#newest.put(group, write, version);
    return this.#groups.ordered(group, { version, writes }, bytes);
  }

  #assertWritable(change: Change): void {
    if (this.#newest.closing) return; // told by the handle that is asked for next
    if (!this.#live.writable) throw readOnly(this.#live.cause);
    if (!this.#space.low || onlyFrees(change)) return;
    this.#space.note(0);
    throw new ReadOnlyError(
      `The disk is nearly full: ${this.#space.freeBytes} bytes are free. New data is refused until something is deleted.`,
    );
  }
}

export function readOnly(cause: unknown): ReadOnlyError {
  return new ReadOnlyError('Writes are refused for now, because a write to disk failed. Try again later.', {
    cause,
  });
}

function closePages({ pages }: Change): void {
  for (const page of pages ?? []) page[Symbol.dispose]();
}
