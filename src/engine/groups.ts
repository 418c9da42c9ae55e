// Group commit: what is ordered and on its way to disk.
//
//   gathering   commits join it; the newest group
//   sealed      next to be written; waits for what its commits must come after
//   written     durable: its commits are told, and it leaves the overlay
//   lost        its write failed, or what it had to come after did, or an earlier group was lost
//
//   1. Groups are written one at a time, in order: a later commit is never durable before an earlier one.
//   2. One group is one synced batch, each key once. What gathers meanwhile is the next group.
//   3. A commit that must wait for something (`after`) does not hold up those before it: it begins a group.
//   4. A write begins by `setImmediate`: all whom the last group has woken can join the next. But where this thread
//      has more to do than the disk, the two take turns: a group that waits is written before the last one is told,
//      and where none waits, half of the last one is told, and what follows from that is written before the rest.

import { assert } from '../base/assert.js';
import type { Committed, DurableCommit, Version } from './engine.js';
import { LostError } from './errors.js';
import { loopLoad } from './load.js';
import { Layer } from './overlay.js';

const markBytes = 64;
const partCommits = 8;
const noop = (): void => {};

/** Some of a group's commits, in order, that are told at once. */
class Part {
  resolve: () => void = noop;
  reject: (error: Error) => void = noop;
  readonly durable = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // A commit whose caller does not wait must not end the process when it is lost.
    this.durable.catch(noop);
  }
}

export class Group extends Layer {
  readonly #parts = [new Part()];
  readonly commits: DurableCommit[] = [];
  readonly afters: Promise<unknown>[] = [];
  readonly firstVersion: Version;
  lastVersion: Version;
  bytes = 0;
  sealed = false;

  constructor(firstVersion: Version) {
    super();
    this.firstVersion = firstVersion;
    this.lastVersion = firstVersion;
  }

  /** All of it is on disk, and the first are told. */
  get durable(): Promise<void> {
    return (this.#parts[0] as Part).durable;
  }

  /** When it is on disk. */
  add(commit: DurableCommit): Promise<void> {
    if (this.commits.push(commit) > this.#parts.length * partCommits) this.#parts.push(new Part());
    return (this.#parts.at(-1) as Part).durable;
  }

  /** The first half is told, or all there is. */
  tell(what: 'half' | 'all'): void {
    const count = what === 'half' ? Math.ceil(this.#parts.length / 2) : this.#parts.length;
    for (const part of this.#parts.splice(0, count)) part.resolve();
  }

  lose(error: Error): void {
    for (const part of this.#parts) part.reject(error);
  }
}

/** A group that is on disk, for who counts. */
export interface GroupInfo {
  readonly commits: number;
  readonly bytes: number;
  /** How long its write took, the sync included. */
  readonly ms: number;
}

export interface GroupWriter {
  /** Puts the group on disk. */
  write(group: Group): Promise<void>;
  /** It is on disk, after a write of so many milliseconds, and about to leave the overlay. */
  durable(group: Group, ms: number): void;
  /** All that was ordered and not durable is gone from the overlay: because the store failed, or an `after`. */
  lost(reason: 'store' | 'after', cause: unknown): void;
}

export class Groups {
  readonly #writer: GroupWriter;
  readonly #isLoaded: () => boolean;
  /** Oldest first; a new array at each change, so that a view can keep it. */
  #list: readonly Group[] = [];
  #bytes = 0;
  #lastVersion: Version = 0;
  #durableVersion: Version = 0;
  #state: 'idle' | 'scheduled' | 'writing' = 'idle';
  readonly #lost: { readonly first: Version; last: Version }[] = [];

  /** `isLoaded`: whether this thread has had more to do than to wait since it was last asked. */
  constructor(writer: GroupWriter, isLoaded = loopLoad()) {
    this.#writer = writer;
    this.#isLoaded = isLoaded;
  }

  /** All up to `version` may have been drawn; nothing waits. */
  startAbove(version: Version): void {
    assert(this.#list.length === 0, 'a start has nothing to write');
    this.#lastVersion = version;
    this.#durableVersion = version;
  }

  get list(): readonly Group[] {
    return this.#list;
  }

  /** How much waits for the disk. */
  get bytes(): number {
    return this.#bytes;
  }

  get lastVersion(): Version {
    return this.#lastVersion;
  }

  get durableVersion(): Version {
    return this.#durableVersion;
  }

  /** The newest commit that can be seen now. */
  get newest(): Version {
    return this.#list.length === 0 ? this.#durableVersion : this.#lastVersion;
  }

  /** The newest version that was ever lost, 0 if none. */
  get lastLost(): Version {
    return this.#lost.at(-1)?.last ?? 0;
  }

  isLost(version: Version): boolean {
    return this.#lost.some(({ first, last }) => first <= version && version <= last);
  }

  /** Draws a version and gives the group it belongs to. */
  next(after: Promise<unknown> | undefined): Group {
    const version = ++this.#lastVersion;
    let group = this.#list.at(-1);
    const mustWait = after !== undefined && group !== undefined && group.afters.length === 0;
    if (group === undefined || group.sealed || mustWait) {
      group = new Group(version);
      this.#list = [...this.#list, group];
    }
    group.lastVersion = version;
    if (after !== undefined) group.afters.push(after);
    return group;
  }

  /** The commit is in its group: what follows is the disk's. */
  ordered(group: Group, commit: DurableCommit, bytes: number): Committed {
    const durable = group.add(commit);
    group.bytes += bytes;
    this.#bytes += bytes;
    this.#kick();
    return { version: commit.version, durable };
  }

  /** A write of the marks alone. */
  touch(): Promise<void> {
    const group = this.next(undefined);
    group.bytes += markBytes;
    this.#bytes += markBytes;
    this.#kick();
    return group.durable;
  }

  settled(version: Version): Promise<void> | undefined {
    if (this.#lost.length > 0 && this.isLost(version)) return Promise.reject(lostError(undefined));
    if (version <= this.#durableVersion) return undefined;
    const group = this.#list.find(({ lastVersion }) => version <= lastVersion);
    assert(group !== undefined, 'a version is settled only after it was drawn');
    return group.durable;
  }

  #lose(reason: 'store' | 'after', cause: unknown): void {
    const groups = this.#list;
    const first = groups[0];
    assert(first !== undefined, 'only what is there can be lost');
    const before = this.#lost.at(-1);
    if (before !== undefined && before.last + 1 === first.firstVersion) before.last = this.#lastVersion;
    else this.#lost.push({ first: first.firstVersion, last: this.#lastVersion });
    this.#list = [];
    this.#bytes = 0;
    this.#writer.lost(reason, cause);
    for (const group of groups) group.lose(lostError(cause));
  }

  #kick(): void {
    if (this.#state === 'idle' && this.#list.length > 0) this.#schedule();
  }

  /** In the next turn the first group is written, if there is one by then; `meanwhile` is done while it is. */
  #schedule(meanwhile = noop): void {
    this.#state = 'scheduled';
    setImmediate(() => {
      this.#state = 'idle';
      if (this.#list.length > 0) void this.#writeFirst();
      meanwhile();
    });
  }

  async #writeFirst(): Promise<void> {
    const group = this.#list[0];
    assert(group !== undefined, 'a write begins with a group');
    this.#state = 'writing';
    group.sealed = true;
    let waitsFor: 'after' | 'store' = 'after';
    let began = 0;
    try {
      if (group.afters.length > 0) await Promise.all(group.afters);
      waitsFor = 'store';
      began = performance.now();
      await this.#writer.write(group);
    } catch (cause) {
      this.#lose(waitsFor, cause);
      this.#state = 'idle';
      this.#kick();
      return;
    }
    this.#written(group, performance.now() - began);
  }

  #written(group: Group, ms: number): void {
    this.#durableVersion = group.lastVersion;
    this.#bytes -= group.bytes;
    this.#list = this.#list.slice(1);
    this.#writer.durable(group, ms);
    this.#state = 'idle';
    const isLoaded = this.#isLoaded();
    if (isLoaded && this.#list.length > 0) void this.#writeFirst();
    if (isLoaded && this.#state === 'idle') {
      group.tell('half');
      this.#schedule(() => group.tell('all'));
    } else {
      group.tell('all');
      this.#kick();
    }
  }
}

function lostError(cause: unknown): LostError {
  return new LostError(
    'A write to disk failed: this change, or one that was seen, may or may not be there. Read again before you repeat it.',
    { cause },
  );
}
