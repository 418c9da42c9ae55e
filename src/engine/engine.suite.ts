// What every engine promises, asked of each in the same words. `open` gives a new and empty engine; `reopen`,
// where the engine outlives its process, closes it and opens it again.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../base/bytes.js';
import { decodeCounter } from './counter.js';
import {
  type Change,
  type CheckedPage,
  type Committed,
  type DurableCommit,
  type Engine,
  maxKeyBytes,
  maxValueBytes,
  type Page,
  type RangeOptions,
  type Version,
  type Write,
} from './engine.js';
import { ClosedError, ConflictError, LimitError, LostError, TooLargeError } from './errors.js';

export interface Subject {
  readonly name: string;
  open(t: TestContext): Promise<Engine>;
  reopen?(engine: Engine): Promise<Engine>;
}

const seed = 20260301;
export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const put = (key: string, value = key): Write => ({ key: bytes(key), value: bytes(value) });
const remove = (key: string): Write => ({ key: bytes(key), value: undefined });
const keysOf = (page: Page): string =>
  page.rows.map(({ key }) => Buffer.from(key).toString('latin1')).join(' ');
const textOf = (value: Uint8Array | undefined): string | undefined =>
  value && Buffer.from(value).toString('latin1');

async function read(engine: Engine, key: string): Promise<string | undefined> {
  return textOf((await engine.get(bytes(key))).value);
}

async function versionOf(engine: Engine, key: string): Promise<Version> {
  return (await engine.get(bytes(key))).version;
}

async function count(engine: Engine, key: string): Promise<number> {
  return decodeCounter((await engine.get(bytes(key))).value);
}

/** Whether it is refused at once or by its promise is the engine's choice. */
async function commit(engine: Engine, change: Change): Promise<Committed> {
  return engine.commit(change);
}

async function durable(engine: Engine, ...writes: Write[]): Promise<Version> {
  const { version, durable } = await engine.commit({ writes });
  await durable;
  return version;
}

export function engineSuite(subject: Subject): void {
  const it = (name: string, run: (engine: Engine, t: TestContext) => Promise<void>): void => {
    test(`${subject.name}: ${name}`, async (t) => {
      const engine = await subject.open(t);
      try {
        await run(engine, t);
      } finally {
        await engine.close();
      }
    });
  };
  keys(it);
  ranges(it);
  snapshots(it);
  conflicts(it);
  phantoms(it);
  counters(it);
  history(it);
  limits(it);
  if (subject.reopen) starts(subject, subject.reopen);
}

type It = (name: string, run: (engine: Engine, t: TestContext) => Promise<void>) => void;

function keys(it: It): void {
  it('a value has the version of its commit, and an absent key has version 0', async (engine) => {
    const { version, durable } = await commit(engine, { writes: [put('a', 'one')] });
    for (const when of ['ordered', 'durable']) {
      if (when === 'durable') await durable;
      const found = await engine.get(bytes('a'));
      assert.equal(textOf(found.value), 'one', when);
      assert.equal(found.version, version, when);
      const none = await engine.get(bytes('b'));
      assert.deepEqual([none.value, none.version], [undefined, 0], when);
    }
  });

  it('a removed key is absent, and says until when its removal is not durable', async (engine) => {
    await durable(engine, put('a'));
    const removal = await commit(engine, { writes: [remove('a')] });
    const found = await engine.get(bytes('a'));
    assert.deepEqual([found.value, found.version], [undefined, 0]);
    await engine.settled(found.seen);
    await removal.durable;
    assert.deepEqual((await engine.get(bytes('a'))).value, undefined);
  });

  it('many keys are answered in the order asked', async (engine) => {
    await durable(engine, put('a', '1'), put('b', '2'));
    await commit(engine, { writes: [put('c', '3')] });
    const found = await engine.getMany(['c', 'x', 'a', 'b'].map(bytes));
    assert.deepEqual(
      found.map(({ value }) => textOf(value)),
      ['3', undefined, '1', '2'],
    );
  });

  it('the last write of a key in one change counts', async (engine) => {
    await durable(engine, put('a', '1'), put('a', '2'), put('b'), remove('b'));
    assert.equal(await read(engine, 'a'), '2');
    assert.equal(await read(engine, 'b'), undefined);
  });
}

function ranges(it: It): void {
  it('keys are in the order of their bytes', async (engine) => {
    const inOrder = [
      '\0',
      '\0\0',
      '\0\x01',
      'a',
      'a\0',
      'aa',
      'b',
      '\x7f',
      '\x80',
      '\xfe',
      '\xfe\xff',
      '\xfe\xff\xff',
    ];
    const halves = [
      inOrder.filter((_, index) => index % 2 === 0),
      inOrder.filter((_, index) => index % 2 === 1),
    ];
    await durable(engine, ...(halves[0] ?? []).reverse().map((key) => put(key)));
    const { durable: done } = await commit(engine, {
      writes: (halves[1] ?? []).reverse().map((key) => put(key)),
    });
    for (const when of ['ordered', 'durable']) {
      if (when === 'durable') await done;
      assert.equal(keysOf(await engine.range(bytes(''), undefined)), inOrder.join(' '), when);
      const back = await engine.range(bytes(''), undefined, { reverse: true });
      assert.equal(keysOf(back), inOrder.toReversed().join(' '), when);
    }
  });

  it('a range holds its first key and not its last', async (engine) => {
    await durable(engine, put('a'), put('b'), put('c'), put('d'));
    await commit(engine, { writes: [remove('b'), put('bb'), put('e')] });
    assert.equal(keysOf(await engine.range(bytes('b'), bytes('d'))), 'bb c');
    assert.equal(keysOf(await engine.range(bytes('bb'), bytes('e'))), 'bb c d');
    assert.equal(keysOf(await engine.range(bytes('b'), bytes('b'))), '');
    assert.equal(keysOf(await engine.range(bytes('d'), bytes('b'))), '');
    assert.equal(keysOf(await engine.range(bytes('c'), undefined, { reverse: true })), 'e d c');
  });

  it('a page tells whether the range goes on', async (engine) => {
    await durable(engine, put('a'), put('b'), put('c'));
    await commit(engine, { writes: [remove('c'), put('d')] });
    const show = async (to: string, limit: number): Promise<string> => {
      const page = await engine.range(bytes('a'), bytes(to), { limit });
      return `${keysOf(page)}${page.more ? ' ...' : ''}`;
    };
    assert.equal(await show('z', 2), 'a b ...');
    assert.equal(await show('d', 2), 'a b');
    assert.equal(await show('z', 3), 'a b d');
    assert.equal(await show('z', 1), 'a ...');
  });

  it('a page of no rows still tells whether there are any', async (engine) => {
    await durable(engine, put('a'));
    const shown = await engine.range(bytes('a'), undefined, { limit: 0 });
    assert.deepEqual([shown.rows.length, shown.more], [0, true]);
    assert.equal((await engine.range(bytes('b'), undefined, { limit: 0 })).more, false);
  });

  it('what the engine keeps for itself is in no range', async (engine) => {
    await durable(engine, put('a'), put('\xfe\xff'));
    for (const to of [undefined, bytes('\xff'), bytes('\xff\xff\xff')]) {
      assert.equal(keysOf(await engine.range(bytes(''), to)), 'a \xfe\xff');
      assert.equal(keysOf(await engine.range(bytes(''), to, { reverse: true, limit: 1 })), '\xfe\xff');
      assert.equal(keysOf(await engine.range(bytes('\xff'), to)), '');
    }
    using snapshot = engine.snapshot();
    assert.equal(keysOf(await snapshot.range(bytes('b'), bytes('\xff\xff'))), '\xfe\xff');
  });

  it('a page ends after the row that brings it to its bytes', async (engine) => {
    await durable(engine, ...['a', 'b', 'c', 'd'].map((key) => put(key, 'x'.repeat(99))));
    const page = await engine.range(bytes('a'), undefined, { maxBytes: 150 });
    assert.equal(keysOf(page), 'a b');
    assert.equal(page.more, true);
    const one = await engine.range(bytes('a'), undefined, { maxBytes: 1 });
    assert.equal(keysOf(one), 'a');
  });

  it('keys alone come with their versions and without their values', async (engine) => {
    const version = await durable(engine, put('a', 'long'));
    const { rows } = await engine.range(bytes('a'), undefined, { keysOnly: true });
    assert.deepEqual(
      rows.map((row) => [textOf(row.key), row.value.length, row.version]),
      [['a', 0, version]],
    );
  });

  it('a range is of the moment it was asked for', async (engine) => {
    await durable(engine, put('a'), put('b'));
    const page = engine.range(bytes('a'), undefined);
    await commit(engine, { writes: [put('aa'), remove('b')] });
    assert.equal(keysOf(await page), 'a b');
  });

  it('a page waits only for what it depends on', async (engine) => {
    await durable(engine, put('a'));
    let release = (): void => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    const far = await commit(engine, { writes: [put('x')], after });
    const near = await engine.range(bytes('a'), bytes('b'));
    assert.equal(engine.settled(near.seen), undefined);
    const all = await engine.range(bytes('a'), undefined);
    const settled = engine.settled(all.seen);
    if (settled !== undefined) assert.equal(all.seen, far.version);
    release();
    await settled;
    await far.durable;
  });

  it(`any range of any state agrees with a sorted map (seed ${seed})`, async (engine) => {
    const key = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });
    const step = fc.record({
      writes: fc.array(fc.record({ key, gone: fc.boolean() }), { maxLength: 4 }),
      wait: fc.boolean(),
      from: fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 2 }),
      to: fc.option(key, { nil: undefined }),
      reverse: fc.boolean(),
      limit: fc.integer({ min: 1, max: 5 }),
    });
    const model = new Map<string, string>();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        for (const { writes, wait, from, to, reverse, limit } of steps) {
          const value = `${++round}`;
          const done = await commit(engine, {
            writes: writes.map(({ key, gone }) => (gone ? remove(key) : put(key, value))),
          });
          for (const { key, gone } of writes) gone ? model.delete(key) : model.set(key, value);
          if (wait) await done.durable;
          const expected = [...model].sort(([a], [b]) => compareBytes(bytes(a), bytes(b)));
          const inside = expected.filter(([key]) => key >= from && (to === undefined || key < to));
          assert.deepEqual(
            await pageThrough(engine, from, to, { reverse, limit }),
            reverse ? inside.reverse() : inside,
          );
        }
      }),
      { seed, numRuns: 100 },
    );
  });
}

/** All rows of a range, a page at a time. */
async function pageThrough(
  engine: Engine,
  from: string,
  to: string | undefined,
  options: RangeOptions,
): Promise<[string, string | undefined][]> {
  const rows: [string, string | undefined][] = [];
  let [begin, end] = [bytes(from), to === undefined ? undefined : bytes(to)];
  while (true) {
    const page = await engine.range(begin, end, options);
    rows.push(
      ...page.rows.map(({ key, value }): [string, string | undefined] => [textOf(key) ?? '', textOf(value)]),
    );
    const last = page.rows.at(-1);
    if (!page.more || last === undefined) return rows;
    if (options.reverse) end = Buffer.from(last.key);
    else begin = Buffer.concat([last.key, Buffer.alloc(1)]);
  }
}

function snapshots(it: It): void {
  it('a snapshot shows what was ordered when it was taken and nothing later', async (engine) => {
    const first = await durable(engine, put('a', '1'), put('b', '1'));
    const second = await commit(engine, {
      writes: [put('a', '2'), put('c', '2')],
      adds: [{ key: bytes('n'), amount: 1 }],
    });
    using snapshot = engine.snapshot();
    const third = await commit(engine, {
      writes: [put('a', '3'), remove('b'), remove('c'), put('d', '3')],
      adds: [{ key: bytes('n'), amount: 1 }],
    });
    for (const when of ['ordered', 'durable']) {
      if (when === 'durable') await third.durable;
      const [a, b, d] = await snapshot.getMany([bytes('a'), bytes('b'), bytes('d')]);
      assert.deepEqual([textOf(a?.value), a?.version], ['2', second.version], when);
      assert.deepEqual([textOf(b?.value), b?.version], ['1', first], when);
      assert.deepEqual([d?.value, d?.version], [undefined, 0], when);
      assert.equal(decodeCounter((await snapshot.get(bytes('n'))).value), 1, when);
      assert.equal(keysOf(await snapshot.range(bytes('a'), bytes('e'))), 'a b c', when);
      assert.equal(
        keysOf(await snapshot.range(bytes('a'), bytes('e'), { reverse: true, limit: 2 })),
        'c b',
        when,
      );
    }
    assert.equal(keysOf(await engine.range(bytes('a'), bytes('e'))), 'a d');
  });

  it('a closed snapshot refuses', async (engine) => {
    const snapshot = engine.snapshot();
    snapshot[Symbol.dispose]();
    snapshot[Symbol.dispose]();
    await assert.rejects(async () => snapshot.get(bytes('a')), ClosedError);
    await assert.rejects(async () => snapshot.range(bytes('a'), undefined), ClosedError);
  });

  it('a snapshot tells the newest commit in it', async (engine) => {
    const { version } = await commit(engine, { writes: [put('a')] });
    using snapshot = engine.snapshot();
    await commit(engine, { writes: [put('b')] });
    await engine.settled(snapshot.seen);
    assert.equal(engine.settled(version), undefined);
  });
}

function conflicts(it: It): void {
  it('a read that no longer holds is a conflict, and nothing is changed', async (engine) => {
    const old = await durable(engine, put('present', '1'), put('changed', '1'), put('removed', '1'));
    await durable(engine, put('changed', '2'), remove('removed'), put('made', '2'));
    await commit(engine, { writes: [put('fresh', '2')] });
    const attempts: [string, Version, boolean][] = [
      ['present', old, true],
      ['absent', 0, true],
      ['removed', 0, true],
      ['changed', await versionOf(engine, 'changed'), true],
      ['fresh', await versionOf(engine, 'fresh'), true],
      ['present', 0, false],
      ['changed', old, false],
      ['removed', old, false],
      ['made', 0, false],
      ['fresh', 0, false],
      ['absent', old, false],
    ];
    for (const [key, version, holds] of attempts) {
      const mark = `${key} at ${version}`;
      for (const writes of [[], [put('mark', mark)]]) {
        const change: Change = { reads: [{ key: bytes(key), version }], writes };
        if (holds) await commit(engine, change);
        else await assert.rejects(commit(engine, change), ConflictError, mark);
      }
      assert.equal((await read(engine, 'mark')) === mark, holds, mark);
    }
  });

  it('a key that was read and has changed since is a conflict, however long ago it was read', async (engine) => {
    const old = await durable(engine, put('a', '1'), put('b', '1'));
    assert.equal(await versionOf(engine, 'a'), old);
    assert.equal(await versionOf(engine, 'none'), 0);
    const now = await durable(engine, put('a', '2'), put('none', '2'));
    const stale = ['a', 'none'].map((key) => ({ key: bytes(key), version: key === 'a' ? old : 0 }));
    for (const read of stale) await assert.rejects(commit(engine, { reads: [read] }), ConflictError);
    await commit(engine, { reads: stale.map(({ key }) => ({ key, version: now })), writes: [put('c')] });
    for (const read of stale) await assert.rejects(commit(engine, { reads: [read] }), ConflictError);
    await commit(engine, { reads: [{ key: bytes('b'), version: old }], writes: [put('d')] });
  });

  it('of many that read the same and write it, one is first', async (engine) => {
    await durable(engine, put('a', '0'));
    const version = await versionOf(engine, 'a');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        commit(engine, { reads: [{ key: bytes('a'), version }], writes: [put('a', `${index}`)] }),
      ),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(await read(engine, 'a'), '0');
  });

  it('a change that adds under a limit and conflicts adds nothing', async (engine) => {
    const version = await durable(engine, put('a'));
    await durable(engine, put('a', 'new'));
    const change: Change = {
      reads: [{ key: bytes('a'), version }],
      writes: [put('b')],
      adds: [{ key: bytes('n'), amount: 5 }],
    };
    await assert.rejects(commit(engine, change), ConflictError);
    assert.equal(await count(engine, 'n'), 0);
    assert.equal(await read(engine, 'b'), undefined);
  });
}

// Rows c e g i in the range b to y. What a page covers is what it has looked at.
// biome-ignore format: a table
const phantomCases: readonly (readonly [RangeOptions, string, string, string])[] = [
  // options                       page       broken by                      not by
  [{},                             'c e g i', 'put b, put d, put x, put e, remove i', 'put a, put y, put z'],
  [{ limit: 2 },                   'c e',     'put b, put d, put c, remove e',        'put a, put f, put g, remove i, put y'],
  [{ limit: 4 },                   'c e g i', 'put j, put x, remove c',               'put a, put y'],
  [{ reverse: true },              'i g e c', 'put b, put x, remove c',               'put a, put y, put z'],
  [{ reverse: true, limit: 2 },    'i g',     'put h, put g, remove i, put x',        'put f, remove e, put b, put y'],
  [{ reverse: true, limit: 1 },    'i',       'put j, put i',                         'put h, remove g, put c'],
  [{ limit: 1, keysOnly: true },   'c',       'put c, put b',                         'put d, put e'],
  [{ maxBytes: 1 },                'c',       'put c, put bb',                        'put ca, put e'],
];

function phantoms(it: It): void {
  for (const [options, expected, broken, kept] of phantomCases) {
    it(`the page ${JSON.stringify(options)} is broken by ${broken} and not by ${kept}`, async (engine) => {
      for (const [list, conflict] of [
        [broken, true],
        [kept, false],
      ] as const) {
        for (const step of list.split(', ')) {
          await durable(engine, ...['b', 'bb', 'ca', 'd', 'f', 'h', 'j', 'x'].map(remove));
          await durable(engine, ...['c', 'e', 'g', 'i'].map((key) => put(key)));
          const page = await engine.checkedRange(bytes('b'), bytes('y'), options);
          assert.equal(keysOf(page), expected);
          const [verb, key] = step.split(' ') as [string, string];
          await commit(engine, { writes: [verb === 'put' ? put(key, 'new') : remove(key)] });
          const change: Change = { pages: [page], writes: [put('~', step)] };
          if (conflict) await assert.rejects(commit(engine, change), ConflictError, step);
          else await commit(engine, change);
        }
      }
    });
  }

  it('a page is watched from its read on, while it is read too', async (engine) => {
    await durable(engine, ...['c', 'e', 'g', 'i'].map((key) => put(key)));
    const attempt = async (key: string): Promise<'conflict' | 'fine'> => {
      const reading = engine.checkedRange(bytes('b'), bytes('y'), { limit: 2 });
      await commit(engine, { writes: [put(key, `${Math.random()}`)] });
      const page = await reading;
      return commit(engine, { pages: [page] }).then(
        () => 'fine',
        (error) => (error instanceof ConflictError ? 'conflict' : Promise.reject(error)),
      );
    };
    assert.equal(await attempt('d'), 'conflict');
    assert.equal(await attempt('x'), 'fine');
    assert.equal(await attempt('a'), 'fine');
  });

  it('an empty range stays empty or is a conflict', async (engine) => {
    const pages: CheckedPage[] = [];
    for (let index = 0; index < 2; index++) pages.push(await engine.checkedRange(bytes('b'), bytes('c')));
    await commit(engine, { pages: pages.slice(0, 1), writes: [put('bb')] });
    await assert.rejects(commit(engine, { pages: pages.slice(1), writes: [put('bbb')] }), ConflictError);
  });

  it('of many that found a range empty and insert into it, one is first', async (engine) => {
    const attempts = Array.from({ length: 10 }, async (_, index) => {
      const page = await engine.checkedRange(bytes('b'), bytes('c'));
      return commit(engine, { pages: [page], writes: [put(`b${index}`)] });
    });
    const outcomes = await Promise.allSettled(attempts);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await engine.range(bytes('b'), bytes('c'))).rows.length, 1);
  });

  it('a counter is no part of a range of values beside it', async (engine) => {
    const page = await engine.checkedRange(bytes('b'), bytes('c'));
    await commit(engine, { adds: [{ key: bytes('n'), amount: 1 }] });
    await commit(engine, { pages: [page], writes: [put('bb')] });
  });
}

function counters(it: It): void {
  it('adds conflict with nothing and are all counted', async (engine) => {
    const done = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        commit(engine, { adds: [{ key: bytes('n'), amount: index }] }),
      ),
    );
    assert.equal(await count(engine, 'n'), 4950);
    await Promise.all(done.map(({ durable }) => durable));
    await (await commit(engine, { adds: [{ key: bytes('n'), amount: -5000 }] })).durable;
    assert.equal(await count(engine, 'n'), -50);
  });

  it('a counter does not pass its limit, and a refused change changes nothing', async (engine) => {
    const add = (amount: number, max = 10): Change => ({
      adds: [{ key: bytes('n'), amount, max }],
      writes: [put('last', `${amount}`)],
    });
    await commit(engine, add(7));
    await assert.rejects(
      commit(engine, add(4)),
      (error) => error instanceof LimitError && textOf(error.key) === 'n',
    );
    assert.equal(await read(engine, 'last'), '7');
    await commit(engine, add(3));
    assert.equal(await count(engine, 'n'), 10);
    await commit(engine, add(-1, 0)); // what brings it down is never refused
    assert.equal(await count(engine, 'n'), 9);
    const twice: Change = { adds: [1, 1].map((amount) => ({ key: bytes('n'), amount, max: 10 })) };
    await assert.rejects(commit(engine, twice), LimitError);
    assert.equal(await count(engine, 'n'), 9);
  });

  it('several adds to one counter in one change add up', async (engine) => {
    await commit(engine, { adds: [1, 10, 100].map((amount) => ({ key: bytes('n'), amount })) });
    assert.equal(await count(engine, 'n'), 111);
  });
}

function history(it: It): void {
  it('changes come in order, once each, when they are durable', async (engine) => {
    const seen: DurableCommit[] = [];
    const end = engine.changes((change) => {
      assert.equal(engine.settled(change.version), undefined);
      seen.push(change);
    });
    const done = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        commit(engine, { writes: [put('a', `${index}`), put(`b${index}`)] }),
      ),
    );
    await done.at(-1)?.durable;
    end();
    await durable(engine, put('later'));
    assert.deepEqual(
      seen.map(({ version }) => version),
      done.map(({ version }) => version),
    );
    assert.deepEqual(
      seen.map(({ writes }) => writes.map(({ value }) => textOf(value)).join(' ')),
      seen.map((_, index) => `${index} b${index}`),
    );
  });

  it('an earlier commit is never durable after a later one', async (engine) => {
    const order: number[] = [];
    const waits: Promise<void>[] = [];
    for (let index = 0; index < 200; index++) {
      const { durable } = await commit(engine, {
        writes: [put(`k${index % 7}`, `${index}`)],
        after: index % 11 === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined,
      });
      waits.push(durable.then(() => void order.push(index)));
      if (index % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(waits);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
  });

  it('of a commit that is refused, what it had to come after may fail unheard', async (engine) => {
    const after = Promise.reject(new Error('nobody waits for this'));
    const change = { reads: [{ key: bytes('a'), version: 99 }], writes: [put('a')], after };
    await assert.rejects(async () => engine.commit(change), ConflictError);
    await new Promise((resolve) => setImmediate(resolve)); // a rejection that is not handled would end the test here
  });

  it('a commit waits for what it must come after, and others see it meanwhile', async (engine) => {
    let release = (): void => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    let told = false;
    const { durable, version } = await commit(engine, { writes: [put('a')], after });
    const waiting = durable.then(() => {
      told = true;
    });
    const before = await read(engine, 'a');
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(before, 'a');
    assert.equal(told, false);
    assert.notEqual(engine.settled(version), undefined);
    release();
    await waiting;
    assert.equal(engine.settled(version), undefined);
  });

  it('if what it must come after fails, it is lost with all that came later, and work goes on', async (engine) => {
    await durable(engine, put('a', 'kept'), put('b', 'kept'));
    const resets: number[] = [];
    engine.resets(() => resets.push(1));
    const before = await commit(engine, { writes: [put('c', 'kept')] });
    const failing = Promise.reject(new Error('the bytes are not on disk'));
    const lost = await commit(engine, { writes: [put('a', 'lost')], after: failing });
    using snapshot = engine.snapshot();
    const page = await engine.checkedRange(bytes('x'), bytes('y'));
    const later = await commit(engine, { writes: [put('b', 'lost')] });
    await before.durable;
    await assert.rejects(lost.durable, LostError);
    await assert.rejects(later.durable, LostError);
    await assert.rejects(async () => engine.settled(lost.version), LostError);
    await assert.rejects(async () => engine.settled(later.version), LostError);
    assert.equal(engine.settled(before.version), undefined);
    assert.deepEqual(
      [await read(engine, 'a'), await read(engine, 'b'), await read(engine, 'c')],
      ['kept', 'kept', 'kept'],
    );
    await assert.rejects(async () => snapshot.get(bytes('a')), LostError);
    await assert.rejects(commit(engine, { pages: [page] }), ConflictError);
    await assert.rejects(
      commit(engine, {
        reads: [{ key: bytes('a'), version: lost.version, locked: true }],
        writes: [put('d')],
      }),
      ConflictError,
    );
    assert.ok(resets.length > 0);
    const next = await durable(engine, put('a', 'new'));
    assert.ok(next !== lost.version && next !== later.version);
    assert.equal(engine.settled(next), undefined);
  });

  it('a commit that only reads is durable when what it read is', async (engine) => {
    const { version, durable } = await commit(engine, { writes: [put('a')] });
    const reading = await commit(engine, { reads: [{ key: bytes('a'), version }] });
    await reading.durable;
    assert.equal(engine.settled(version), undefined);
    await durable;
  });

  it('close ends what is under way, and refuses what comes after', async (engine) => {
    const done = await Promise.all(
      Array.from({ length: 20 }, (_, index) => commit(engine, { writes: [put(`${index}`)] })),
    );
    await engine.close();
    await Promise.all(done.map(({ durable }) => durable));
    await engine.close();
    await assert.rejects(async () => engine.get(bytes('a')), ClosedError);
    await assert.rejects(async () => engine.range(bytes('a'), undefined), ClosedError);
    await assert.rejects(async () => engine.snapshot(), ClosedError);
    await assert.rejects(commit(engine, { writes: [put('a')] }), ClosedError);
    assert.equal(engine.health().state, 'closed');
  });
}

function limits(it: It): void {
  it('what is too large is refused with a sentence that says how large it may be', async (engine) => {
    const attempts: [Change, RegExp][] = [
      [
        { writes: [{ key: Buffer.alloc(maxKeyBytes + 1, 'k'), value: bytes('') }] },
        /key of 16385 bytes.*16384/,
      ],
      [
        { writes: [{ key: bytes('a'), value: Buffer.alloc(maxValueBytes + 1) }] },
        /value of 16777217 bytes.*16777216/,
      ],
      [{ adds: [{ key: Buffer.alloc(maxKeyBytes + 1, 'k'), amount: 1 }] }, /key of 16385 bytes/],
      [
        {
          writes: Array.from({ length: 5 }, (_, index) => ({
            key: bytes(`${index}`),
            value: Buffer.alloc(maxValueBytes),
          })),
        },
        /change of \d+ bytes.*67108864/,
      ],
    ];
    for (const [change, sentence] of attempts) {
      await assert.rejects(
        commit(engine, { ...change, writes: [put('first'), ...(change.writes ?? [])] }),
        (error) => error instanceof TooLargeError && sentence.test(error.message),
      );
    }
    assert.equal(await read(engine, 'first'), undefined);
  });

  it('the largest key and value are kept', async (engine) => {
    const key = Buffer.alloc(maxKeyBytes, 'k');
    const value = Buffer.alloc(maxValueBytes, 'v');
    await (await commit(engine, { writes: [{ key, value }] })).durable;
    assert.deepEqual(Buffer.from((await engine.get(key)).value ?? ''), value);
  });

  it('what waits for the disk is bounded: then a commit waits', async (engine) => {
    const value = Buffer.alloc(8 * 1024 * 1024, 'v');
    let waited = 0;
    const done: Committed[] = [];
    for (let index = 0; index < 12; index++) {
      const outcome = engine.commit({ writes: [{ key: bytes(`${index}`), value }] });
      if (outcome instanceof Promise) waited++;
      assert.ok(engine.health().waitingBytes < 48 * 1024 * 1024);
      done.push(await outcome);
    }
    await Promise.all(done.map(({ durable }) => durable));
    assert.ok(waited > 0);
    assert.equal((await engine.range(bytes('0'), undefined, { keysOnly: true })).rows.length, 12);
  });
}

function starts(subject: Subject, reopen: (engine: Engine) => Promise<Engine>): void {
  test(`${subject.name}: all is there after a stop and a start, and no version is drawn twice`, async (t) => {
    let engine = await subject.open(t);
    const drawn = new Set<Version>();
    let total = 0;
    for (let run = 0; run < 4; run++) {
      for (let index = 0; index < 10; index++) {
        const { version } = await commit(engine, {
          writes: [put(`k${run}${index}`)],
          adds: [{ key: bytes('n'), amount: 1 }],
        });
        drawn.add(version);
        total++;
      }
      const [clock, stamp] = [engine.clock.now(), engine.stamps.draw()];
      await (await commit(engine, { writes: [put('stamped')] })).durable;
      engine = await reopen(engine);
      assert.ok(engine.clock.now() >= clock);
      assert.ok(engine.stamps.draw() > stamp);
      assert.equal(await count(engine, 'n'), total);
      assert.equal((await engine.range(bytes('k'), bytes('l'))).rows.length, total);
    }
    assert.equal(drawn.size, total);
    await engine.close();
  });
}
