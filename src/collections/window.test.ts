// What can happen to the window of a concurrent queue while it is being filled.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Item, Window } from './window.js';

const item = (place: number, version = place): Item => ({ place, row: Buffer.of(place), version, seen: 0 });

/** A window over these places; a read answers when it is let go, with what was there when it began. */
function given(...places: number[]) {
  const stored = new Set(places);
  const reads: (() => void)[] = [];
  const window = new Window((after) => {
    const items = [...stored].filter((place) => place > after).sort((a, b) => a - b);
    return new Promise((resolve) =>
      reads.push(() => resolve({ items: items.slice(0, 3).map((place) => item(place)), seen: 0 })),
    );
  });
  return {
    window,
    stored,
    reads,
    /** The place that is taken; reads are let go. */
    async take(): Promise<number | undefined> {
      let isTaken = false;
      const taken = Promise.resolve(window.take()).finally(() => {
        isTaken = true;
      });
      for (; !isTaken; await turn()) reads.shift()?.();
      return (await taken).place;
    },
  };
}

test('items are taken in order, a window at a time, and nothing when there are none', async () => {
  const { take } = given(1, 2, 3, 4, 5);
  const taken: unknown[] = [];
  for (let n = 0; n < 6; n++) taken.push(await take());
  assert.deepEqual(taken, [1, 2, 3, 4, 5, undefined]);
});

test('several that find it empty share one read, and who gets nothing by it another one', async () => {
  const { window, reads } = given(1, 2, 3);
  const taken = [window.take(), window.take(), window.take(), window.take(), window.take()];
  assert.equal(reads.length, 1);
  reads.shift()?.();
  await taken[2];
  await turn();
  assert.equal(reads.length, 1);
  reads.shift()?.();
  assert.deepEqual(
    (await Promise.all(taken)).map((found) => found.place),
    [1, 2, 3, undefined, undefined],
  );
});

test('an item that was committed before it is asked for is found, whoever reads at that time', async () => {
  const { window, reads, stored } = given();
  const early = window.take();
  stored.add(1);
  window.arrived(item(1));
  const late = window.take(); // the read under way does not have it
  reads.shift()?.();
  assert.equal((await early).place, undefined);
  await turn();
  reads.shift()?.();
  assert.equal((await late).place, 1);
});

test('an item that is committed while the window is filled is not missed, nor there twice', async () => {
  const { window, reads, stored } = given(2);
  const first = window.take();
  stored.add(1);
  window.arrived(item(1)); // behind where the read began, before where it ends
  window.arrived(item(2)); // the read has it, too
  reads.shift()?.();
  assert.deepEqual([(await first).place, (await window.take()).place], [1, 2]);
  const third = window.take();
  reads.shift()?.();
  assert.equal((await third).place, undefined);
});

test('an item that is removed while the window is filled anew is not handed out again', async () => {
  const { window, reads, take } = given(1, 2);
  assert.equal(await take(), 1);
  window.forget();
  const next = window.take(); // the read still has place 1
  window.gone(item(1), 7);
  reads.shift()?.();
  assert.equal((await next).place, 2);
  assert.equal(await take(), undefined);
});

test('an item that is out when the window is filled anew comes back to its place', async () => {
  const { window, take } = given(1, 2);
  const first = Promise.resolve(window.take());
  assert.equal(await take(), 2);
  window.forget();
  assert.equal(await take(), undefined, 'both are out');
  window.returned((await first) as Item);
  assert.equal(await take(), 1);
});

test('what is read while all is forgotten counts for nothing, and is read again', async () => {
  const { window, reads, stored } = given(1);
  const waiting = window.take();
  stored.delete(1);
  stored.add(2);
  window.forget();
  reads.shift()?.(); // says 1
  await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  reads.shift()?.();
  assert.equal((await waiting).place, 2);
});

test('an item that is returned twice is there once', async () => {
  const { window, take, reads } = given(1);
  const taken = window.take();
  reads.shift()?.();
  const first = (await taken) as Item;
  window.returned(first);
  window.returned(first);
  assert.deepEqual([await take(), await take()], [1, undefined]);
});

test('a read that fails leaves the window usable', async () => {
  let fails = true;
  const window = new Window(async () => {
    if (fails) throw new Error('the disk');
    return { items: [item(1)], seen: 0 };
  });
  await assert.rejects(async () => window.take(), /the disk/);
  fails = false;
  assert.equal((await window.take()).place, 1);
});

test('of many that share a read nobody is told of an empty queue before its end is reached', async () => {
  const { window, reads } = given(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  const taken = Promise.all(Array.from({ length: 11 }, () => window.take()));
  for (let left = 12; left > 0; left--) {
    reads.shift()?.();
    await turn();
  }
  assert.deepEqual(
    (await taken).map(({ place }) => place),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, undefined],
  );
});

test('an item that was lost while it was out is not handed out again when it comes back', async () => {
  const { window, stored, take } = given(1, 2);
  assert.equal(await take(), 1);
  const lost = (await window.take()) as Item;
  stored.delete(2);
  window.forget();
  stored.add(3);
  window.arrived(item(3));
  assert.equal(await take(), 3);
  window.returned(lost);
  assert.equal(await take(), undefined);
});

test('who found nothing because of a commit depends on it, whatever is forgotten meanwhile', async () => {
  const { window, take, reads, stored } = given(1);
  assert.equal(await take(), 1);
  stored.delete(1);
  window.gone(item(1), 7);
  const taken = window.take();
  reads.shift()?.();
  for (let step = 0; step < 2; step++) await Promise.resolve(); // the read counts, and nobody was told yet
  window.forget();
  for (let left = 5; left > 0; left--) {
    reads.shift()?.();
    await turn();
  }
  const { place, seen } = await taken;
  assert.deepEqual([place, seen], [undefined, 7]);
});
