import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
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
