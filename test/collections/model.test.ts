// Random programs of concurrent transactions over several collections: whatever each was told is what a simple
// sequential model says, run in the order in which they ended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cleared, emptyState, Own, type State, View } from './model.js';
import {
  dictionaryNames,
  isChecked,
  keys,
  operationKinds,
  operationOf,
  queueNames,
  type Step,
} from './operations.js';
import {
  type Attempt,
  type Called,
  type Ended,
  type Program,
  type Recording,
  runProgram,
} from './program.js';

const full = process.env['LAZULI_FULL'] === '1';
const seed = 20_261;
/** On a busy machine fewer are run. */
const limits = full ? { numRuns: 3000 } : { numRuns: 150, interruptAfterTimeLimit: 5000 };

test(`random programs do what the model does (seed ${seed})`, async (t) => {
  const done = { programs: 0, committed: 0, aborted: 0, cleared: 0, calls: 0 };
  await fc.assert(
    fc.asyncProperty(anyProgram(), async (program) => {
      const recording = await runProgram(program);
      judge(recording);
      done.programs++;
      for (const { kind } of recording.ended) done[kind]++;
      done.calls += recording.ended.reduce(
        (sum, end) => sum + ('attempt' in end ? end.attempt.calls.length : 0),
        0,
      );
    }),
    { seed, ...limits },
  );
  assert.ok(done.committed > 0 && done.aborted > 0, 'the programs do something');
  t.diagnostic(JSON.stringify(done));
});

function anyProgram(): fc.Arbitrary<Program> {
  const turns = fc.integer({ min: 0, max: 3 });
  const timeoutMs = fc.constantFrom(undefined, undefined, undefined, 0, 2);
  const step = fc.record({
    kind: fc.constantFrom(...operationKinds),
    which: fc.constantFrom(0 as const, 0 as const, 1 as const),
    key: fc.constantFrom(...keys),
    value: fc.constant(0),
    lock: fc.constantFrom('shared' as const, 'update' as const),
    check: fc.boolean(),
    timeoutMs,
    awaited: fc.boolean(),
    turns,
  });
  const script = fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 8 }),
    ending: fc.constantFrom(
      'commit' as const,
      'commit' as const,
      'commit' as const,
      'abort' as const,
      'dispose' as const,
    ),
    snapshot: fc.constantFrom('begin' as const, 'first read' as const),
    retries: fc.constantFrom(undefined, undefined, 0, 3),
    turns: fc.integer({ min: 0, max: 12 }),
  });
  const clear = fc.record({
    name: fc.constantFrom(...dictionaryNames, ...queueNames),
    turns: fc.integer({ min: 0, max: 20 }),
    timeoutMs,
  });
  return fc
    .record({
      scripts: fc.array(script, { minLength: 2, maxLength: 12 }),
      clears: fc.array(clear, { maxLength: 2 }),
    })
    .map(({ scripts, clears }) => ({ clears, scripts: numbered(scripts) }));
}

/** Every step has a value of its own, so that what is read tells who wrote it. */
function numbered(scripts: Program['scripts']): Program['scripts'] {
  let value = 0;
  return scripts.map((script) => ({
    ...script,
    steps: script.steps.map((step): Step => ({ ...step, value: ++value })),
  }));
}

function judge({ ended, items, final }: Recording): void {
  const states: State[] = [emptyState(dictionaryNames, queueNames)];
  for (const end of ended) states.push(next(end, ended, states));
  items.check();
  const last = new View(states.at(-1) as State, new Own());
  assert.deepEqual(final, finalOf(last, items.count), 'what is there in the end');
}

function finalOf(view: View, items: number): Record<string, unknown> {
  const expected: Record<string, unknown> = { cq: items };
  for (const name of dictionaryNames) {
    expected[name] = view.entries(name);
    expected[`count ${name}`] = [view.count(name), view.count(name)];
  }
  for (const name of queueNames) {
    expected[name] = view.items(name);
    expected[`count ${name}`] = view.count(name);
  }
  for (const key of keys) expected[`counter ${key}`] = view.counter(key);
  return expected;
}

/** The state after this end. `states`: before each that came before, and now. */
function next(end: Ended, ended: readonly Ended[], states: readonly State[]): State {
  const now = states.at(-1) as State;
  if (end.kind === 'cleared') return cleared(now, end.name);
  const { attempt } = end;
  const own = new Own();
  const held = attempt.calls.every((called) => judgeCall(called, attempt, end.kind, own, ended, states));
  const view = new View(now, own);
  if (end.kind === 'committed') {
    assert.ok(held, 'what it had checked no longer held, and yet it was committed');
    assert.ok(!view.isOverLimit, 'a counter passed its limit');
    return view.committed(end.version);
  }
  if (attempt.refusal === 'limit') assert.ok(view.isOverLimit, 'no counter was over its limit');
  if (attempt.refusal === 'conflict')
    assert.ok(wasTouched(attempt, ended, states.length - 1), 'nothing had changed');
  return now;
}

/** Whether what it saw is so at the end; asserts that it was so when it had to be. */
function judgeCall(
  called: Called,
  attempt: Attempt,
  kind: Ended['kind'],
  own: Own,
  ended: readonly Ended[],
  states: readonly State[],
): boolean {
  const operation = operationOf(called.step);
  if (operation === undefined || called.result === undefined) return true;
  const { value } = called.result;
  const shown = (place: number) => operation.model(new View(states[place] as State, own), called.step);
  const now = states.length - 1;
  if (operation.sees === 'serial') {
    assert.deepEqual(value, shown(now), describe(called, attempt, kind));
    return true;
  }
  if (operation.sees === 'snapshot') {
    const place = snapshotPlace(attempt, called, ended);
    assert.deepEqual(value, shown(place), describe(called, attempt, kind));
    return true;
  }
  const places = Array.from({ length: called.to - called.from + 1 }, (_, index) => called.from + index);
  assert.ok(
    places.some((place) => isEqual(value, shown(place))),
    `at no moment: ${describe(called, attempt, kind)}`,
  );
  return !isChecked(called.step) || isEqual(value, shown(now));
}

/** Where the snapshot of the attempt was taken: what it says itself, which must be when it should have been. */
function snapshotPlace(
  { began, snapshot, visible = 0 }: Attempt,
  called: Called,
  ended: readonly Ended[],
): number {
  let place = 0;
  ended.forEach((end, index) => {
    if (end.kind !== 'aborted' && end.version > 0 && end.version <= visible) place = index + 1;
  });
  const changed = (from: number, to: number) =>
    ended.slice(from, to).some((end) => end.kind !== 'aborted' && end.version > 0);
  if (snapshot === 'begin')
    assert.ok(!changed(Math.min(began, place), Math.max(began, place)), 'of another moment');
  else assert.ok(place <= called.to && !changed(place, began), 'of a moment before it began');
  return place;
}

/** Whether anybody has changed a collection of which the attempt had something checked. */
function wasTouched({ calls, began }: Attempt, ended: readonly Ended[], place: number): boolean {
  const names = calls
    .filter(({ step }) => isChecked(step))
    .map(({ step }) => dictionaryNames[step.which] as string);
  return ended.slice(began, place).some((end) => {
    if (end.kind === 'cleared') return names.includes(end.name);
    return end.kind === 'committed' && end.version > 0 && names.length > 0;
  });
}

function isEqual(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

function describe({ step, result }: Called, attempt: Attempt, kind: string): string {
  const before = attempt.calls
    .map((each) => `${each.step.kind} ${each.step.key} ${each.result?.value}`)
    .join(', ');
  return `${step.kind} ${step.which} ${step.key} was told ${JSON.stringify(result?.value)} in ${kind}: ${before}`;
}
