// Judging a change against the newest state: do its reads still hold, and what do its counters become.

import { fromMapKey, mapKey } from '../base/bytes.js';
import { decodeCounter, encodeCounter } from './counter.js';
import type { Add, Change, Key, NamedKey, Version, Versioned, Write } from './engine.js';
import { ConflictError, LimitError } from './errors.js';
import { LevelPage } from './watches.js';

type Seen = Pick<Versioned, 'version' | 'seen'>;

/** The newest commit that the reads depend on, or a conflict. `lastLost`: the newest version ever lost, or 0. */
export function judgeReads({ reads, pages }: Change, newest: (key: Key) => Seen, lastLost: Version): Version {
  let seen = 0;
  for (const { key, version, locked } of reads ?? []) {
    // Under a lock it can have changed only by a loss, and only if it was read before that.
    if (locked === true && (lastLost === 0 || version > lastLost)) {
      seen = Math.max(seen, version);
      continue;
    }
    const now = newest(key);
    if (now.version !== version) throw new ConflictError('Somebody else has changed what was read.', key);
    seen = Math.max(seen, now.seen);
  }
  for (const page of pages ?? []) {
    if (!(page instanceof LevelPage) || page.watch.broken) {
      const by = page instanceof LevelPage ? page.watch.brokenBy : undefined;
      const key = by === undefined ? undefined : fromMapKey(by);
      throw new ConflictError('Somebody else has changed a range that was read.', key);
    }
    seen = Math.max(seen, page.seen);
  }
  return seen;
}

/** What the counters become, or a refusal. */
export function countUp(adds: readonly Add[], newest: (key: NamedKey) => Versioned): Write[] {
  const counts = new Map<string, { readonly key: Key; readonly count: number }>();
  for (const { key, amount, max } of adds) {
    const name = mapKey(key);
    const count = (counts.get(name)?.count ?? decodeCounter(newest({ key, name }).value)) + amount;
    if (max !== undefined && amount > 0 && count > max) throw new LimitError(key);
    if (!Number.isSafeInteger(count)) throw new LimitError(key, 'a counter would pass 2^53, where it ends');
    counts.set(name, { key, count });
  }
  return [...counts].map(([name, { key, count }]) => ({ key, name, value: encodeCounter(count) }));
}
