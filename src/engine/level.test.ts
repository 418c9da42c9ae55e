// The embedded engine, on disk and in memory: what every engine promises, and what only this one has.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SystemClock } from '../base/clock.js';
import { memoryDisk } from './disk.js';
import type { Engine } from './engine.js';
import { bytes, engineSuite } from './engine.suite.js';
import { DamageError, LostError } from './errors.js';
import { openEngine, openEngineOn } from './level.js';
import { maxAhead } from './ordering.js';
import { openLevelStore, type Store } from './store.js';

function folder(t: TestContext): string {
  const location = mkdtempSync(join(tmpdir(), 'lazuli-engine-'));
  t.after(() => rmSync(location, { recursive: true, force: true }));
  return location;
}

const locations = new WeakMap<Engine, string>();

async function openIn(location: string): Promise<Engine> {
  const engine = await openEngine({ location });
  locations.set(engine, location);
  return engine;
}

engineSuite({ name: 'memory', open: () => openEngine({ memory: true }) });

engineSuite({
  name: 'level',
  open: (t) => openIn(folder(t)),
  async reopen(engine) {
    await engine.close();
    return openIn(locations.get(engine) ?? '');
  },
});

test('a damaged record is found when it is read, by its key or in a range', async (t) => {
  const location = folder(t);
  const engine = await openEngine({ location });
  await (
    await engine.commit({ writes: ['a', 'b', 'c'].map((key) => ({ key: bytes(key), value: bytes(key) })) })
  ).durable;
  await engine.close();

  const store = await openLevelStore(join(location, 'store'));
  const [a, b] = [store.get(bytes('a'), undefined), store.get(bytes('b'), undefined)];
  assert.ok(a && b);
  b[b.length - 1] = 0x62 ^ 1;
  await store.write([
    { type: 'put', key: bytes('b'), value: b }, // a bit turned over
    { type: 'put', key: bytes('moved'), value: a }, // whole, under another key
    { type: 'put', key: bytes('short'), value: a.subarray(0, 5) },
  ]);
  await store.close();

  const again = await openEngine({ location });
  t.after(() => again.close());
  const names = (key: string) => (error: Error) =>
    error instanceof DamageError &&
    error.message.includes(location) &&
    error.message.includes(bytes(key).toString('hex'));
  for (const key of ['b', 'moved', 'short']) {
    await assert.rejects(async () => again.get(bytes(key)), names(key));
    await assert.rejects(async () => again.range(bytes(key), undefined), names(key));
  }
  assert.equal(Buffer.from((await again.get(bytes('a'))).value ?? '').toString(), 'a');
});

test('the clock of a start is not behind the last one, and a shift of a test is not stored', async (t) => {
  const location = folder(t);
  let wall = Date.UTC(2030, 0, 1);
  const sources = { wall: () => wall, monotonic: () => 0 };
  const first = await openEngine({ location }, { clock: new SystemClock(0, sources) });
  first.clock.shift(3_600_000);
  await (await first.commit({ writes: [{ key: bytes('a'), value: bytes('a') }] })).durable;
  await first.close();
  wall = Date.UTC(2029, 0, 1); // the machine's clock was set back meanwhile
  const second = await openEngine({ location }, { clock: new SystemClock(0, sources) });
  assert.equal(second.clock.now(), Date.UTC(2030, 0, 1));
  await second.close();
});

test('the clock is stored each second while something is asked, and not otherwise', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const disk = memoryDisk();
  const written: number[] = [];
  const open = async (): Promise<Store> => {
    const store = await disk.open();
    return {
      ...store,
      write(operations) {
        written.push(operations.length);
        return store.write(operations);
      },
    };
  };
  const engine = await openEngineOn({ ...disk, open });
  t.after(() => engine.close());
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const second = async (): Promise<number> => {
    const before = written.length;
    t.mock.timers.tick(1000);
    await turns();
    return written.length - before;
  };
  assert.equal(await second(), 0);
  await engine.get(bytes('a'));
  assert.equal(await second(), 1);
  assert.equal(await second(), 0);
  await (await engine.commit({ writes: [{ key: bytes('a'), value: bytes('a') }] })).durable;
  assert.equal(await second(), 0);
});

test('in memory every group lets timers and sockets through, however many commit without a pause', async () => {
  const engine = await openEngine({ memory: true });
  let turns = 0;
  let left = 64;
  const client = async (number: number) => {
    const writes = [{ key: bytes(`k${number}`), value: bytes('v') }];
    for (let count = 0; count < 200; count++) await (await engine.commit({ writes })).durable;
    left--;
  };
  for (let number = 0; number < 64; number++) void client(number);
  while (left > 0) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  assert.ok(turns >= 200, `${turns} turns for 200 groups`);
  await engine.close();
});

const many = Array.from({ length: 20_000 }, (_, at) => ({ key: bytes(`key ${at}`), value: bytes('v') }));

test('a commit of many keys is written in turns, and others are served in between', async () => {
  await using engine = await openEngine({ memory: true });
  const { durable } = await engine.commit({ writes: many });
  let isDone = false;
  const done = durable.then(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns++) await new Promise(setImmediate);
  await done;
  assert.ok(turns >= 10, `${turns} turns`);
});

test('a commit of many keys is all there after a restart', async (t) => {
  const location = folder(t);
  const engine = await openEngine({ location });
  await (await engine.commit({ writes: many })).durable;
  await (await engine.commit({ writes: many.slice(1).map(({ key }) => ({ key, value: undefined })) }))
    .durable;
  await (await engine.commit({ writes: many.slice(10_000) })).durable;
  await engine.close();
  await using again = await openEngine({ location });
  const { rows } = await again.range(bytes('key '), undefined, { limit: 30_000 });
  assert.equal(rows.length, 10_001);
});

test('however many commits in a row were lost because of others, the next one is taken', async () => {
  const engine = await openEngine({ memory: true });
  const writes = [{ key: bytes('k'), value: bytes('v') }];
  for (let left = maxAhead; left > 0; left -= 200_000) {
    const after = Promise.reject(new Error('injected: what comes first fails'));
    const { durable } = await engine.commit({ writes, after });
    for (let number = 1; number < Math.min(left, 200_000); number++) void engine.commit({ writes });
    await assert.rejects(durable, LostError);
  }
  const { durable } = await engine.commit({ writes });
  await durable;
  await engine.close();
});
