import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { seededRandom } from '../base/random.js';
import type { Version } from './engine.js';
import { LostError } from './errors.js';
import { type Group, Groups } from './groups.js';

/** A disk that writes when it is told to. */
class Disk {
  readonly sizes: number[] = [];
  readonly groups: Groups;
  #done: () => void = () => {};

  constructor(isLoaded: boolean) {
    this.groups = new Groups(this, () => isLoaded);
    this.groups.startAbove(1);
  }

  write(group: Group): Promise<void> {
    this.sizes.push(group.commits.length);
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  durable(): void {}

  lost(_reason: unknown, cause: unknown): void {
    throw cause;
  }

  finish(): void {
    this.#done();
  }

  commit(): Promise<void> {
    const group = this.groups.next(undefined);
    return this.groups.ordered(group, { version: group.lastVersion, writes: [] }, 1).durable;
  }

  /** Clients that each make so many commits, one after the other. */
  async run(clients: number, commits: number): Promise<void> {
    let left = clients;
    const client = async () => {
      for (let number = 0; number < commits; number++) await this.commit();
      left--;
    };
    for (let number = 0; number < clients; number++) void client();
    while (left > 0) {
      await turn();
      this.finish();
    }
  }
}

describe('groups', () => {
  it('while the thread has time, all whom a group has woken join the next', async () => {
    const disk = new Disk(false);
    await disk.run(64, 4);
    assert.deepEqual(disk.sizes, [64, 64, 64, 64]);
  });

  it('while it has none, half of them are written while the others are served', async () => {
    const disk = new Disk(true);
    await disk.run(64, 4);
    assert.equal(disk.sizes[0], 64);
    assert.deepEqual(disk.sizes.slice(1, 6), [32, 32, 32, 32, 32]);
    assert.equal(
      disk.sizes.reduce((sum, size) => sum + size, 0),
      256,
    );
  });

  it('a group that waits is on its way before the last one is told, if the thread has no time', async () => {
    for (const isLoaded of [true, false]) {
      const disk = new Disk(isLoaded);
      const first = disk.commit().then(() => disk.sizes.length);
      await turn();
      const second = disk.commit();
      disk.finish();
      assert.equal(await first, isLoaded ? 2 : 1);
      await turn();
      disk.finish();
      await second;
    }
  });

  it('commits are told in the order in which they were made', async () => {
    const disk = new Disk(true);
    const told: number[] = [];
    for (let number = 0; number < 100; number++) void disk.commit().then(() => told.push(number));
    await turn();
    disk.finish();
    await turn();
    assert.ok(told.length >= 50);
    await turn();
    assert.deepEqual(
      told,
      Array.from({ length: 100 }, (_, number) => number),
    );
  });
});

/** Writes at once, in a turn or later, and sometimes fails; checks what it is asked to do. */
class ErraticDisk {
  readonly groups: Groups;
  readonly #random: () => number;
  readonly #told: Version[] = [];
  readonly #lost = new Set<Version>();
  #writing: Group | undefined;
  #onDisk: Version = 1;
  #begun = 0;
  #ended = 0;

  constructor(seed: number) {
    const random = seededRandom(seed);
    const loaded = random();
    this.#random = random;
    this.groups = new Groups(this, () => random() < loaded);
    this.groups.startAbove(1);
  }

  async write(group: Group): Promise<void> {
    assert.equal(this.#writing, undefined, 'two groups are written at a time');
    assert.ok(group.firstVersion > this.#onDisk, 'a group is written behind a later one');
    this.#writing = group;
    const drawn = this.#random();
    if (drawn < 0.7) await turn();
    if (drawn < 0.3) await turn();
    this.#writing = undefined;
    if (this.#random() < 0.05) throw new Error('injected: the write fails');
    this.#onDisk = group.lastVersion;
  }

  /** Somebody hears of it and commits at once. */
  durable(): void {
    if (this.#random() < 0.1) void this.commit();
  }

  lost(): void {
    for (let version = this.#onDisk + 1; version <= this.groups.lastVersion; version++)
      this.#lost.add(version);
    if (this.#random() < 0.5) void this.commit();
  }

  async commit(): Promise<void> {
    this.#begun++;
    const after = this.#random() < 0.03 ? this.#after() : undefined;
    after?.catch(() => {}); // as whoever orders commits does
    const group = this.groups.next(after);
    const version = group.lastVersion;
    try {
      await this.groups.ordered(group, { version, writes: [] }, 1).durable;
    } catch (error) {
      this.#ended++;
      assert.ok(error instanceof LostError && this.#lost.has(version), `${error}`);
      await assert.rejects(async () => this.groups.settled(version), LostError);
      return;
    }
    assert.ok(version <= this.#onDisk && !this.#lost.has(version), 'told before it is on disk');
    assert.ok(version > (this.#told.at(-1) ?? 0), 'told out of order');
    assert.equal(this.groups.settled(version), undefined);
    this.#told.push(version);
    this.#ended++;
  }

  async #after(): Promise<void> {
    if (this.#random() < 0.5) await turn();
    if (this.#random() < 0.2) throw new Error('injected: what comes first fails');
  }

  /** Clients that each make so many commits, some of them several at once, and marks in between. */
  async run(clients: number, rounds: number): Promise<void> {
    const client = async () => {
      for (let round = 0; round < rounds; round++) {
        const several = this.#random() < 0.1 ? 20 : 1;
        await Promise.all(Array.from({ length: several }, () => this.commit()));
        if (this.#random() < 0.02) await this.groups.touch().catch(() => {});
        if (this.#random() < 0.05) await turn();
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    while (this.groups.list.length > 0) await turn();
    await turn();
    assert.equal(this.groups.bytes, 0);
    assert.equal(this.#ended, this.#begun, 'each commit was told something');
  }
}

describe('groups on a disk that is fast, slow or failing', () => {
  it('are written one by one, and each commit is told in its order, once it is on disk, or that it is lost', async () => {
    const run = fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 40 }), async (seed, clients) => {
      await new ErraticDisk(seed).run(clients, 12);
    });
    await fc.assert(run, { seed: 5, numRuns: 60 });
  });
});
