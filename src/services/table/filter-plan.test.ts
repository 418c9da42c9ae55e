import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../../base/bytes.js';
import { rows } from '../../base/cells.suite.js';
import { encodeKey, utf16 } from '../../engine/keys.js';
import { type EntityInput, type EntityKey, propertyOf } from './entity.js';
import { type Filter, matches, parseFilter } from './filter.js';
import { compareKeys, type EntityRange, planFilter, pointOf, rangesFrom } from './filter-plan.js';
import { entity, filters, key } from './random-filters.suite.js';

const seed = 20260807;

function parsed(text: string): Filter {
  const result = parseFilter(text);
  assert.ok(result.ok, text);
  return result.value;
}

/** `a/x` is partition a, row x; `+` behind a key is its successor; nothing is the end. */
const showKey = (key: EntityKey | undefined) =>
  key === undefined ? '' : `${key.partitionKey}/${key.rowKey}`.replaceAll('\0', '+');
const show = (ranges: readonly EntityRange[]) =>
  ranges.map(({ from, to }) => `[${showKey(from)}..${showKey(to)})`).join(' ') || 'nothing';

const plans = `
  filter                                                                             reads
  PartitionKey eq 'a' and RowKey eq 'x'                                              [a/x..a/x+)
  RowKey eq 'x' and PartitionKey eq 'a' and p gt 5                                   [a/x..a/x+)
  PartitionKey eq 'a'                                                                [a/..a+/)
  PartitionKey eq 'a' and p eq 'y'                                                   [a/..a+/)
  PartitionKey eq 'a' and RowKey ge 'x'                                              [a/x..a+/)
  PartitionKey eq 'a' and RowKey gt 'x'                                              [a/x+..a+/)
  PartitionKey eq 'a' and RowKey le 'x'                                              [a/..a/x+)
  PartitionKey eq 'a' and RowKey ge 'x' and RowKey lt 'y'                            [a/x..a/y)
  PartitionKey eq 'a' and RowKey ne 'x'                                              [a/..a/x) [a/x+..a+/)
  PartitionKey ge 'a' and PartitionKey lt 'b'                                        [a/..b/)
  PartitionKey ge 'a' and PartitionKey le 'a' and RowKey eq 'x'                      [a/x..a/x+)
  PartitionKey gt 'a'                                                                [a+/..)
  PartitionKey ne 'a'                                                                [/..a/) [a+/..)
  PartitionKey eq 'a' or PartitionKey eq 'b'                                         [a/..a+/) [b/..b+/)
  PartitionKey eq 'b' or PartitionKey eq 'a' or PartitionKey eq 'b'                  [a/..a+/) [b/..b+/)
  PartitionKey eq 'a' and (RowKey eq 'y' or RowKey eq 'x')                           [a/x..a/x+) [a/y..a/y+)
  PartitionKey eq 'a' and RowKey eq 'x' or PartitionKey eq 'b' and RowKey eq 'y'     [a/x..a/x+) [b/y..b/y+)
  (PartitionKey eq 'a' or PartitionKey eq 'b') and RowKey lt 'x'                     [a/..a/x) [b/..b/x)
  PartitionKey eq 'a' and (RowKey lt 'c' or RowKey lt 'e')                           [a/..a/e)
  PartitionKey lt 'b' or PartitionKey gt 'a'                                         [/..)
  PartitionKey eq 'a' and PartitionKey eq 'b'                                        nothing
  PartitionKey gt 'b' and PartitionKey lt 'a'                                        nothing
  PartitionKey lt ''                                                                 nothing
  RowKey eq 'x'                                                                      [/..)
  PartitionKey ge 'a' and RowKey eq 'x'                                              [a/..)
  p eq 'x'                                                                           [/..)
  PartitionKey eq 'a' or p eq 'x'                                                    [/..)
  not (PartitionKey lt 'b')                                                          [b/..)
  not (PartitionKey lt 'b' or PartitionKey gt 'c')                                   [b/..c+/)
  not (PartitionKey ne 'a')                                                          [a/..a+/)
  not (PartitionKey eq 'a' and p eq 'x')                                             [/..)
  not (PartitionKey ne 'a' or p eq 'x')                                              [a/..a+/)
  not not (PartitionKey eq 'a')                                                      [a/..a+/)
  true                                                                               [/..)
  false                                                                              nothing
  PartitionKey eq 'a' and false                                                      nothing
  flag and PartitionKey eq 'a'                                                       [a/..a+/)
  Timestamp gt datetime'2026-01-01T00:00:00Z'                                        [/..)
`;

describe('a plan', () => {
  for (const { filter = '', reads } of rows(plans)) {
    test(`${filter} reads ${reads}`, () => assert.equal(show(planFilter(parsed(filter))), reads));
  }

  test('100 rows of a partition are 100 points', () => {
    const wanted = Array.from({ length: 100 }, (_, i) => `((RowKey eq 'r${i}') and (id eq 'x${i}'))`);
    const ranges = planFilter(parsed(`(PartitionKey eq 'p') and (${wanted.join(' or ')})`));
    assert.equal(ranges.length, 100);
    for (const range of ranges) assert.ok(pointOf(range));
  });

  test('only one key is a point', () => {
    const point = (text: string) => planFilter(parsed(text)).map(pointOf);
    assert.deepEqual(point("PartitionKey eq 'a' and RowKey eq ''"), [{ partitionKey: 'a', rowKey: '' }]);
    assert.deepEqual(point("PartitionKey eq 'a'"), [undefined]);
    assert.deepEqual(point("PartitionKey eq 'a' and RowKey ge 'x' and RowKey lt 'y'"), [undefined]);
    assert.deepEqual(point(''), [undefined]);
  });

  test('it goes on from a key', () => {
    const ranges = planFilter(parsed("PartitionKey eq 'a' or PartitionKey eq 'c'"));
    const from = (partitionKey: string, rowKey: string) => show(rangesFrom(ranges, { partitionKey, rowKey }));
    assert.equal(from('', ''), '[a/..a+/) [c/..c+/)');
    assert.equal(from('a', 'x'), '[a/x..a+/) [c/..c+/)');
    assert.equal(from('b', 'x'), '[c/..c+/)');
    assert.equal(from('c', 'x'), '[c/x..c+/)');
    assert.equal(from('d', ''), 'nothing');
  });

  test('a hostile filter is planned in no time and still reads all that matches', () => {
    const clauses = (clause: (i: number) => string) =>
      Array.from({ length: 240 }, (_, i) => clause(i)).join(' and ');
    const hostile = [
      clauses((i) => `PartitionKey ne 'p${i}'`),
      clauses((i) => `(PartitionKey ne 'p${i}' or RowKey ne 'r${i}')`),
      clauses((i) => `not (PartitionKey eq 'p${i}' and RowKey ge 'r${i}')`),
    ];
    for (const text of hostile) {
      const started = performance.now();
      const ranges = planFilter(parsed(text));
      assert.ok(performance.now() - started < 1000);
      assert.ok(ranges.some((range) => within({ partitionKey: 'z', rowKey: 'a' }, range)));
    }
  });
});

const within = (entity: EntityKey, { from, to }: EntityRange) =>
  compareKeys(from, entity) <= 0 && (to === undefined || compareKeys(entity, to) < 0);

describe('against plain evaluation', () => {
  const filter = filters({ keys: 3, properties: 1 });
  const holds = (filter: Filter, entity: EntityInput) =>
    matches(filter, (name) => propertyOf({ ...entity, stamp: 1 }, name));

  test(`planned and evaluated is evaluated (seed ${seed})`, () => {
    let narrowed = 0;
    fc.assert(
      fc.property(filter, fc.array(entity, { minLength: 1, maxLength: 30 }), (text, entities) => {
        const condition = parsed(text);
        const ranges = planFilter(condition);
        const read = entities.filter((each) => ranges.some((range) => within(each, range)));
        if (read.length < entities.length) narrowed++;
        assert.deepEqual(
          read.filter((each) => holds(condition, each)),
          entities.filter((each) => holds(condition, each)),
        );
        ranges.slice(1).forEach((range, i) => {
          const before = ranges[i]?.to;
          assert.ok(before && compareKeys(before, range.from) < 0, 'in order, apart from each other');
        });
      }),
      { seed, numRuns: 3000 },
    );
    assert.ok(narrowed > 500, `${narrowed} of 3000 plans read less than everything`);
  });

  test(`the store's keys order as entities do (seed ${seed})`, () => {
    const bytes = ({ partitionKey, rowKey }: EntityKey) => encodeKey([utf16(partitionKey), utf16(rowKey)]);
    const long = fc.oneof(
      key,
      key.map((text) => `${text}\0`),
    );
    const position = fc.record({ partitionKey: long, rowKey: long });
    fc.assert(
      fc.property(position, position, (a, b) => {
        assert.equal(Math.sign(compareBytes(bytes(a), bytes(b))), Math.sign(compareKeys(a, b)));
      }),
      { seed, numRuns: 1000 },
    );
  });
});
