// The embedded engine on a disk that fails: what is told stays true, and work goes on.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { seededRandom } from '../base/random.js';
import { decodeCounter } from './counter.js';
import { folderDisk, memoryDisk } from './disk.js';
import type { Engine, Snapshot, Version, Versioned, Write } from './engine.js';
import { bytes } from './engine.suite.js';
import { ConflictError, LostError, ReadOnlyError, UnavailableError } from './errors.js';
import { FaultyDisk } from './faulty-disk.suite.js';
import { type EngineOptions, openEngineOn } from './level.js';
import { loadMarks } from './marks.js';
import type { Operation } from './store.js';

const put = (key: string, value = key): Write => ({ key: bytes(key), value: bytes(value) });
const full = process.env['LAZULI_FULL'] === '1';

interface Given {
  readonly disk: FaultyDisk;
  readonly engine: Engine;
}

async function given(t: TestContext, kind: 'memory' | 'level', options?: EngineOptions): Promise<Given> {
  const disk = kind === 'memory' ? new FaultyDisk(memoryDisk(), true) : await levelDisk(t);
  const engine = await openEngineOn(disk, { retryMs: 1, ...options });
  t.after(() => engine.close());
  return { disk, engine };
}

async function levelDisk(t: TestContext): Promise<FaultyDisk> {
  const location = mkdtempSync(join(tmpdir(), 'lazuli-engine-'));
  t.after(() => rmSync(location, { recursive: true, force: true }));
  return new FaultyDisk(await folderDisk(location), false);
}

async function read(engine: Engine | Snapshot, key: string): Promise<string | undefined> {
  const { value } = await engine.get(bytes(key));
  return value && Buffer.from(value).toString();
}

async function durable(engine: Engine, ...writes: Write[]): Promise<Version> {
  const { version, durable } = await engine.commit({ writes });
  await durable;
  return version;
}

/** Ends when the engine takes writes again. */
async function recovered(engine: Engine): Promise<void> {
  while (engine.health().state === 'failed') await new Promise((resolve) => setImmediate(resolve));
}

for (const kind of ['memory', 'level'] as const) {
  for (const fate of ['gone', 'turns up'] as const) {
    test(`${kind}: a write fails and is ${fate}: all that saw it fails, reads go on, then writes too`, async (t) => {
      const { disk, engine } = await given(t, kind);
      const first = await durable(engine, put('a', 'old'), put('b', 'old'));
      using before = engine.snapshot();
      disk.fate = () => fate;
      disk.probeFails = true;
      const lost = await engine.commit({ writes: [put('a', 'new')] });
      using saw = engine.snapshot();
      const page = await engine.checkedRange(bytes('a'), bytes('b'));
      await assert.rejects(lost.durable, LostError);

      assert.equal(engine.health().state, 'failed');
      assert.equal(await read(engine, 'a'), 'old');
      assert.equal(await read(before, 'a'), 'old');
      assert.equal((await engine.range(bytes('a'), undefined)).rows.length, 2);
      await assert.rejects(async () => saw.get(bytes('a')), LostError);
      await assert.rejects(async () => engine.settled(lost.version), LostError);
      await assert.rejects(async () => engine.commit({ writes: [put('c')] }), ReadOnlyError);
      await assert.rejects(async () => engine.commit({ pages: [page] }), ConflictError);
      await engine.commit({ reads: [{ key: bytes('a'), version: first }] });

      disk.fate = () => 'done';
      disk.probeFails = false;
      await recovered(engine);
      const now = fate === 'gone' ? 'old' : 'new';
      const check = async () => engine.commit({ reads: [{ key: bytes('a'), version: first }] });
      if (fate === 'gone') await check();
      else await assert.rejects(check, ConflictError);
      assert.equal(await read(engine, 'a'), now);
      assert.equal(engine.settled((await engine.get(bytes('a'))).seen), undefined);
      using after = engine.snapshot();
      assert.equal(await read(after, 'a'), now, 'a snapshot taken now has seen nothing that was lost');
      assert.equal(engine.settled(after.seen), undefined);
      await assert.rejects(async () => before.get(bytes('a')), LostError);
      // Read under a lock before the loss: looked at again.
      const stale = { key: bytes('a'), version: fate === 'gone' ? lost.version : first, locked: true };
      await assert.rejects(async () => engine.commit({ reads: [stale], writes: [put('x')] }), ConflictError);
      const next = await durable(engine, put('c', 'new'));
      assert.ok(next > lost.version);
      assert.equal(await read(engine, 'c'), 'new');
    });
  }

  test(`${kind}: what gathers behind a write that fails is lost with it`, async (t) => {
    const { disk, engine } = await given(t, kind);
    disk.fate = () => 'gone';
    const outcomes: Promise<void>[] = [];
    for (let index = 0; index < 30; index++) {
      try {
        outcomes.push((await engine.commit({ writes: [put(`k${index}`)] })).durable);
      } catch (error) {
        assert.ok(error instanceof ReadOnlyError);
      }
      if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok((await Promise.allSettled(outcomes)).every(({ status }) => status === 'rejected'));
    disk.fate = () => 'done';
    await recovered(engine);
    assert.equal((await engine.range(bytes('k'), undefined)).rows.length, 0);
  });

  test(`${kind}: a store that does not open again is tried until it does`, async (t) => {
    const { disk, engine } = await given(t, kind);
    await durable(engine, put('a'));
    disk.fate = () => 'gone';
    disk.openFails = true;
    const resets: string[] = [];
    engine.resets(() => resets.push(engine.health().state));
    await assert.rejects((await engine.commit({ writes: [put('b')] })).durable, LostError);
    const opens = disk.opens;
    while (disk.opens < opens + 3) await new Promise((resolve) => setImmediate(resolve));
    disk.fate = () => 'done';
    disk.openFails = false;
    await recovered(engine);
    assert.deepEqual(resets, ['failed', 'open']);
    assert.equal(await read(engine, 'a'), 'a');
    await durable(engine, put('b'));
  });

  test(`${kind}: an engine that waits for its disk can be closed`, async (t) => {
    const { disk, engine } = await given(t, kind);
    disk.fate = () => 'gone';
    disk.probeFails = true;
    await assert.rejects((await engine.commit({ writes: [put('b')] })).durable, LostError);
    await engine.close();
  });

  test(`${kind}: with little room new data is refused, and what frees room is not`, async (t) => {
    const { disk, engine } = await given(t, kind);
    await durable(engine, put('a'), put('b'));
    disk.free = 256 * 1024 * 1024 - 1;
    while (engine.health().state === 'open') await durable(engine, put('c', `${Math.random()}`));
    assert.equal(engine.health().state, 'full');
    await assert.rejects(
      async () => engine.commit({ writes: [put('d')] }),
      (error) => error instanceof ReadOnlyError && error.message.includes('268435455'),
    );
    await (
      await engine.commit({
        writes: [{ key: bytes('a'), value: undefined }],
        adds: [{ key: bytes('n'), amount: -1 }],
      })
    ).durable;
    await (await engine.commit({ frees: true, writes: [put('note'), { key: bytes('b'), value: undefined }] }))
      .durable;
    disk.free = 256 * 1024 * 1024;
    while (engine.health().state === 'full') {
      await assert.rejects(async () => engine.commit({ writes: [put('d')] }), ReadOnlyError);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await durable(engine, put('d'));
  });

  test(`${kind}: on a full disk the reserve is given up, once, and then deletes go through`, async (t) => {
    const { disk, engine } = await given(t, kind);
    await durable(engine, put('a'));
    disk.free = 0;
    await assert.rejects((await engine.commit({ writes: [put('b')] })).durable, LostError);
    while (disk.reserved > 0) await new Promise((resolve) => setImmediate(resolve));
    disk.free = 1;
    await recovered(engine);
    while (engine.health().state !== 'full') await new Promise((resolve) => setImmediate(resolve));
    await (await engine.commit({ writes: [{ key: bytes('a'), value: undefined }] })).durable;
    assert.equal(disk.reserved, 0);
  });

  test(`${kind}: a version that was drawn and lost is not drawn by the next start`, async (t) => {
    const { disk, engine } = await given(t, kind);
    await engine.close();
    const drawn = new Set<Version>();
    for (let start = 0; start < 5; start++) {
      const again = await openEngineOn(disk, { retryMs: 1 });
      disk.fate = () => 'gone';
      disk.probeFails = true;
      const { version, durable } = await again.commit({ writes: [put('a')] });
      await assert.rejects(durable, LostError);
      drawn.add(version);
      await again.close();
      disk.fate = () => 'done';
      disk.probeFails = false;
    }
    assert.equal(drawn.size, 5);
  });

  const rounds = full ? 100_000 : 3_000;
  for (const [load, seed] of [
    ['time to spare', 7],
    ['no time', 8],
    ['now and then no time', 9],
  ] as const) {
    test(`${kind}: with ${load}, ${rounds} snapshots agree with a model while groups fail at random (seed ${seed})`, async (t) => {
      const random = seededRandom(seed);
      const isLoaded = () => (load === 'no time' ? true : load === 'time to spare' ? false : random() < 0.5);
      const { disk, engine } = await given(t, kind, { isLoaded });
      await new ModelRun(disk, engine, seed).run(rounds);
    });
  }
}

type State = Map<string, string>;
interface Pending {
  readonly version: Version;
  readonly writes: readonly (readonly [string, string | undefined])[];
}

/** Random work on an engine beside a plain map of what must be there. */
class ModelRun {
  readonly #disk: FaultyDisk;
  readonly #engine: Engine;
  readonly #random: () => number;
  /** What is on disk, and what was ordered since. */
  #stored: State = new Map();
  #pending: Pending[] = [];
  readonly #open: { snapshot: Snapshot; state: State; lost: boolean }[] = [];
  readonly #drawn = new Set<Version>();
  /** Promises of the caller's that commits must come after: each is kept or broken some time later. */
  readonly #afters: ((error?: Error) => void)[] = [];
  #hardened: Version = 0;
  #turnedUp: Version = 0;
  #told: Version = 0;
  #resets = 0;
  taken = 0;
  losses = 0;
  /** What went wrong where nobody waits. */
  readonly #wrong: unknown[] = [];

  constructor(disk: FaultyDisk, engine: Engine, seed: number) {
    this.#disk = disk;
    this.#engine = engine;
    this.#random = seededRandom(seed);
    engine.changes(({ version }) => this.#harden(version));
    engine.resets(() => this.#reset());
  }

  async run(snapshots: number): Promise<void> {
    this.#disk.fate = () => {
      const drawn = this.#random();
      return drawn < 0.02 ? 'gone' : drawn < 0.04 ? 'turns up' : 'done';
    };
    // How many groups there are is a matter of the disk's speed, so both are asked for.
    while (this.taken < snapshots || this.losses < snapshots / 500) {
      const drawn = this.#random();
      if (drawn < 0.45) await this.#commit();
      else if (drawn < 0.75) this.#take();
      else if (drawn < 0.85) await this.#look();
      else if (drawn < 0.95) await this.#lookAtNewest();
      else await this.#turn();
      assert.deepEqual(this.#wrong, []);
    }
    while (this.#afters.length > 0) await this.#turn();
    await recovered(this.#engine);
    await this.#lookAtNewest();
    assert.deepEqual(this.#wrong, []);
  }

  async #turn(): Promise<void> {
    while (this.#afters.length > 0 && this.#random() < 0.7)
      this.#afters.shift()?.(
        this.#random() < 0.1 ? new Error('injected: what comes first fails') : undefined,
      );
    await new Promise((resolve) => setImmediate(resolve));
  }

  #after(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#afters.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #now(): State {
    return this.#pending.reduce((state, pending) => apply(state, pending), new Map(this.#stored));
  }

  async #commit(): Promise<void> {
    const value = `${this.#drawn.size}`;
    const keys = Array.from({ length: 1 + this.#below(3) }, () => `k${this.#below(12)}`);
    const writes = keys.map((key): [string, string | undefined] => [
      key,
      this.#below(4) === 0 ? undefined : value,
    ]);
    const amount = this.#below(5);
    const count = Number(this.#now().get('n') ?? 0) + amount;
    try {
      const { version, durable } = await this.#engine.commit({
        ...(this.#below(20) === 0 && { after: this.#after() }),
        writes: writes.map(([key, value]) => ({
          key: bytes(key),
          value: value === undefined ? value : bytes(value),
        })),
        adds: [{ key: bytes('n'), amount }],
      });
      assert.ok(!this.#drawn.has(version), 'a version is drawn twice');
      this.#drawn.add(version);
      this.#pending.push({ version, writes: [...writes, ['n', `${count}`]] });
      this.#follow(version, durable).catch((error) => this.#wrong.push(error));
    } catch (error) {
      assert.ok(error instanceof ReadOnlyError, `${error}`);
      await recovered(this.#engine);
    }
  }

  /** A client is told in order, and only of what is on disk. */
  async #follow(version: Version, durable: Promise<void>): Promise<void> {
    try {
      await durable;
    } catch (error) {
      assert.ok(error instanceof LostError && version > this.#hardened, `${error}`);
      await assert.rejects(async () => this.#engine.settled(version), LostError);
      return;
    }
    assert.ok(this.#told < version, 'told out of order');
    this.#told = version;
    assert.ok(version <= this.#hardened, 'told before it is on disk');
    assert.equal(this.#engine.settled(version), undefined);
  }

  async #lookAtNewest(): Promise<void> {
    const keys = Array.from({ length: 12 }, (_, number) => `k${number}`);
    const resets = this.#resets;
    let records: readonly Versioned[];
    try {
      const found = this.#engine.getMany(keys.map(bytes));
      records = found instanceof Promise ? await found : found;
    } catch (error) {
      assert.ok(error instanceof UnavailableError, `${error}`); // it could not be opened again, and is tried later
      return;
    }
    if (this.#resets !== resets) return;
    const now = this.#now();
    for (const [index, { value, version, seen }] of records.entries()) {
      assert.equal(value && Buffer.from(value).toString(), now.get(keys[index] as string));
      assert.equal(value === undefined, version === 0);
      if (seen === 0) assert.ok(version <= Math.max(this.#hardened, this.#turnedUp), 'it is not on disk yet');
    }
  }

  #take(): void {
    if (this.#engine.health().state === 'failed' && this.#random() < 0.5) return;
    try {
      this.#open.push({ snapshot: this.#engine.snapshot(), state: this.#now(), lost: false });
    } catch {
      return; // the store is being opened again
    }
    this.taken++;
    if (this.#open.length > 8) this.#open.splice(this.#below(8), 1)[0]?.snapshot[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    const entry = this.#open[this.#below(this.#open.length)];
    if (entry === undefined) return;
    try {
      await this.#compare(entry.snapshot, entry.state);
      assert.ok(!entry.lost, 'a snapshot shows what was lost');
    } catch (error) {
      if (!(error instanceof LostError)) throw error;
      this.#open.splice(this.#open.indexOf(entry), 1);
      entry.snapshot[Symbol.dispose]();
    }
  }

  async #compare(snapshot: Snapshot, state: State): Promise<void> {
    const reverse = this.#random() < 0.5;
    const limit = 1 + this.#below(15);
    const from = `k${this.#below(12)}`;
    const page = await snapshot.range(bytes(from), bytes('l'), { reverse, limit });
    const expected = [...state]
      .filter(([key]) => key >= from && key < 'l')
      .sort(([a], [b]) => (a < b ? -1 : 1));
    if (reverse) expected.reverse();
    assert.deepEqual(
      page.rows.map(({ key, value }) => [Buffer.from(key).toString(), Buffer.from(value).toString()]),
      expected.slice(0, limit),
    );
    assert.equal(page.more, expected.length > limit);
    assert.equal(await read(snapshot, from), state.get(from));
    assert.equal(decodeCounter((await snapshot.get(bytes('n'))).value), Number(state.get('n') ?? 0));
  }

  #harden(version: Version): void {
    const [first] = this.#pending;
    assert.equal(first?.version, version, 'commits become durable in order');
    if (first !== undefined) this.#stored = apply(this.#stored, first);
    this.#pending.shift();
    this.#hardened = version;
  }

  /** Lost, or opened again. */
  #reset(): void {
    this.#resets++;
    if (this.#pending.length > 0) {
      this.losses++;
      for (const entry of this.#open)
        entry.lost ||= this.#pending.some(({ version }) => version === entry.snapshot.seen);
      this.#ordered = this.#pending;
      this.#pending = [];
    }
    if (this.#engine.health().state === 'failed') return;
    // It may have taken several starts until the marks could be written; those alone bring nothing back.
    const last = Math.max(0, ...this.#disk.turnedUp.splice(0).map(versionOf));
    this.#turnedUp = Math.max(this.#turnedUp, last);
    for (const pending of this.#ordered)
      if (pending.version <= last) this.#stored = apply(this.#stored, pending);
    this.#ordered = [];
  }
  #ordered: Pending[] = [];
}

/** The last commit in a group that turned up. */
function versionOf(operations: readonly Operation[]): Version {
  const marks = operations.at(-1);
  if (operations.length === 1 || marks?.type !== 'put') return 0;
  return loadMarks({ name: 'turned up', get: () => Buffer.from(marks.value) }).version;
}

function apply(state: State, { writes }: Pending): State {
  for (const [key, value] of writes) {
    if (value === undefined) state.delete(key);
    else state.set(key, value);
  }
  return state;
}

test('a range that is read while commits are lost shows nothing of them', async (t) => {
  const disk = memoryDisk();
  let isRead = Promise.resolve();
  const slow = {
    ...disk,
    open: async () => {
      const store = await disk.open();
      const cursor: typeof store.cursor = (range) => {
        const inner = store.cursor(range);
        return { nextv: (count) => isRead.then(() => inner.nextv(count)), close: () => inner.close() };
      };
      return {
        ...{ name: store.name, cursor, snapshot: () => store.snapshot(), close: () => store.close() },
        ...{ get: store.get.bind(store), write: store.write.bind(store) },
      };
    },
  };
  const engine = await openEngineOn(slow);
  t.after(() => engine.close());
  await durable(engine, put('a', 'old'));
  let [fail, goOn] = [(): void => {}, (): void => {}];
  const after = new Promise<never>((_, reject) => {
    fail = () => reject(new Error('injected: what comes first fails'));
  });
  isRead = new Promise((resolve) => {
    goOn = resolve;
  });
  const lost = await engine.commit({ writes: [put('a', 'new'), put('b')], after });
  const page = engine.range(bytes('a'), undefined);
  fail();
  await assert.rejects(lost.durable, LostError);
  goOn();
  const { rows, seen } = await page;
  assert.deepEqual(
    rows.map(({ value }) => Buffer.from(value).toString()),
    ['old'],
  );
  assert.equal(engine.settled(seen), undefined);
});
