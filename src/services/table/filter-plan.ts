// From a filter to the ranges of keys it can be true in, so that a query reads what it returns and little
// else. The filter itself is evaluated on what the ranges hold: they may hold more than matches, never less.
//
// A filter is taken as a union of boxes, each an interval of partition keys by an interval of row keys:
//
//   PartitionKey or RowKey compared     one box, or two for `ne`
//   anything else                       the box of everything, where it stands not under `not` or beside `or`
//   and                                 every box of one with every box of the other, where they meet
//   or                                  all boxes
//   not                                 moved inwards first: not (a and b) is not a or not b
//
// A box of one partition is one range of keys; of more, it is all of these partitions. The boxes of an `and`
// multiply: past `mostBoxes` one side is left out, which only widens the ranges.
//
// A comparison of a property that has an index, not under `not`, is a box as well: all keys, and the places in the
// index where it holds. Then each box is a path, by the index where it has one (`planPaths`).
//
// In UTF-16 order nothing lies between a text and the same with U+0000 behind it. So every interval is closed
// below and open above: `gt x` begins at x + '\0', `le x` ends there.

import type { EntityKey } from './entity.js';
import type { Filter, Operator } from './filter.js';
import { meetPlaces, onlyPlace, type PlaceRange, placesOf } from './index-places.js';

/** From `from` on and below `to`; nothing: to the end. */
interface Interval {
  readonly from: string;
  readonly to: string | undefined;
}

/** Keys in order of partition, then row: from `from` on and below `to`; nothing: to the end. */
export interface EntityRange {
  readonly from: EntityKey;
  readonly to: EntityKey | undefined;
}

const mostBoxes = 1024;

/** Ranges in ascending order, none touching another. Empty: nothing can match. */
export function planFilter(filter: Filter): readonly EntityRange[] {
  const known = plans.get(filter);
  if (known !== undefined) return known;
  const ranges = mergeRanges(boxesOf(filter, false, nothing).map(rangeOf));
  plans.set(filter, ranges);
  return ranges;
}

/** Filters are remembered (filter.ts), and with them their plans. */
const plans = new WeakMap<Filter, readonly EntityRange[]>();

/** A part of an index: entities that have the property, with a value in one of these places. */
export interface IndexPart {
  readonly property: string;
  readonly places: PlaceRange;
}

/** One way to some of the entities that match: the keys in these ranges, or those of them that lie in the part. */
export interface Path {
  readonly ranges: readonly EntityRange[];
  readonly part: IndexPart | undefined;
}

/** Each path is a reader of its own. */
const mostPaths = 64;

/** Paths that together reach all that can match, by these indexes; nothing if they are of no use to the filter. */
export function planPaths(filter: Filter, indexed: ReadonlySet<string>): readonly Path[] | undefined {
  const boxes = boxesOf(filter, false, indexed);
  const parts = new Map<IndexPart | undefined, EntityRange[]>();
  for (const box of boxes) {
    const range = rangeOf(box);
    const part = pointOf(range) === undefined ? box.part : undefined; // one key is found by itself
    parts.set(part, [...(parts.get(part) ?? []), range]);
  }
  const paths = [...parts].map(([part, ranges]) => ({ part, ranges: mergeRanges(ranges) }));
  const isAll = ({ part, ranges }: Path) => part === undefined && ranges.some(isEverything);
  if (paths.length > mostPaths || paths.every(({ part }) => part === undefined) || paths.some(isAll))
    return undefined;
  return paths;
}

function isEverything({ from, to }: EntityRange): boolean {
  return to === undefined && from.partitionKey === '' && from.rowKey === '';
}

/** The one key a range is for, if it is for one. */
export function pointOf({ from, to }: EntityRange): EntityKey | undefined {
  if (to === undefined || to.partitionKey !== from.partitionKey) return undefined;
  return to.rowKey === successor(from.rowKey) ? from : undefined;
}

/** What is left of the ranges from this key on: where a continuation goes on. */
export function rangesFrom(ranges: readonly EntityRange[], key: EntityKey): readonly EntityRange[] {
  return ranges
    .filter(({ to }) => to === undefined || compareKeys(key, to) < 0)
    .map((range) => (compareKeys(key, range.from) > 0 ? { from: key, to: range.to } : range));
}

/** Order of partition, then row, each by UTF-16 code units. */
export function compareKeys(a: EntityKey, b: EntityKey): number {
  return compareTexts(a.partitionKey, b.partitionKey) || compareTexts(a.rowKey, b.rowKey);
}

interface Box {
  readonly partition: Interval;
  readonly row: Interval;
  /** Not all of the box, but what of it lies in this part of an index. */
  readonly part?: IndexPart | undefined;
}

const all: Interval = { from: '', to: undefined };
const wholeBox: Box = { partition: all, row: all };
const nothing: ReadonlySet<string> = new Set();

function successor(text: string): string {
  return `${text}\0`;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Boxes that hold all that the filter, or with `negated` its opposite, can be true for. */
function boxesOf(filter: Filter, negated: boolean, indexed: ReadonlySet<string>): readonly Box[] {
  switch (filter.kind) {
    case 'constant':
      return filter.holds !== negated ? [wholeBox] : [];
    case 'not':
      return boxesOf(filter.part, !negated, indexed);
    case 'flag':
      return negated || !indexed.has(filter.name)
        ? [wholeBox]
        : partBoxes(filter.name, placesOf('eq', { type: 'Edm.Boolean', value: true }));
    case 'compare':
      return comparisonBoxes(filter, negated, indexed);
    default: {
      const parts = filter.parts.map((part) => boxesOf(part, negated, indexed));
      return (filter.kind === 'and') !== negated ? parts.reduce(both) : either(parts);
    }
  }
}

const opposite = { eq: 'ne', ne: 'eq', gt: 'le', ge: 'lt', lt: 'ge', le: 'gt' } as const;

/** The keys are always there, so the opposite of a comparison is the opposite operator. */
function comparisonBoxes(
  filter: Filter & { kind: 'compare' },
  negated: boolean,
  indexed: ReadonlySet<string>,
): readonly Box[] {
  const { name, literal } = filter;
  if (indexed.has(name) && !negated) return partBoxes(name, placesOf(filter.operator, literal));
  if ((name !== 'PartitionKey' && name !== 'RowKey') || literal.type !== 'Edm.String') return [wholeBox];
  const found = intervals(negated ? opposite[filter.operator] : filter.operator, literal.value);
  return found.map((interval) =>
    name === 'PartitionKey' ? { partition: interval, row: all } : { partition: all, row: interval },
  );
}

function partBoxes(property: string, places: PlaceRange): readonly Box[] {
  return [{ ...wholeBox, part: { property, places } }];
}

function intervals(operator: Operator, text: string): readonly Interval[] {
  const after = successor(text);
  switch (operator) {
    case 'eq':
      return [{ from: text, to: after }];
    case 'ne':
      return [
        { from: '', to: text },
        { from: after, to: undefined },
      ];
    case 'gt':
      return [{ from: after, to: undefined }];
    case 'ge':
      return [{ from: text, to: undefined }];
    case 'lt':
      return [{ from: '', to: text }];
    case 'le':
      return [{ from: '', to: after }];
  }
}

function both(a: readonly Box[], b: readonly Box[]): readonly Box[] {
  if (a.length * b.length > mostBoxes) return a.length <= b.length ? a : b;
  return a.flatMap((one) => b.map((other) => meet(one, other)).filter((box) => box !== undefined));
}

function either(parts: readonly (readonly Box[])[]): readonly Box[] {
  const boxes = parts.flat();
  return boxes.length > mostBoxes ? [wholeBox] : boxes;
}

function meet(a: Box, b: Box): Box | undefined {
  const partition = overlap(a.partition, b.partition);
  const row = overlap(a.row, b.row);
  if (partition === undefined || row === undefined) return undefined;
  if (a.part === undefined || b.part === undefined) return { partition, row, part: a.part ?? b.part };
  const part = meetParts(a.part, b.part);
  return part && { partition, row, part };
}

/** Of two indexes one is enough: that with a single place, if there is one. */
function meetParts(a: IndexPart, b: IndexPart): IndexPart | undefined {
  if (a.property !== b.property) return onlyPlace(a.places) === undefined && onlyPlace(b.places) ? b : a;
  const places = meetPlaces(a.places, b.places);
  return places && { property: a.property, places };
}

function overlap(a: Interval, b: Interval): Interval | undefined {
  const from = a.from > b.from ? a.from : b.from;
  const to = a.to === undefined || (b.to !== undefined && b.to < a.to) ? b.to : a.to;
  return to === undefined || from < to ? { from, to } : undefined;
}

function rangeOf({ partition, row }: Box): EntityRange {
  const key = (partitionKey: string, rowKey: string): EntityKey => ({ partitionKey, rowKey });
  const after = partition.to === undefined ? undefined : key(partition.to, '');
  if (partition.to !== successor(partition.from)) return { from: key(partition.from, ''), to: after };
  return {
    from: key(partition.from, row.from),
    to: row.to === undefined ? after : key(partition.from, row.to),
  };
}

function mergeRanges(ranges: readonly EntityRange[]): readonly EntityRange[] {
  const merged: EntityRange[] = [];
  for (const range of ranges.filter(isFilled).sort((a, b) => compareKeys(a.from, b.from))) {
    const last = merged.at(-1);
    if (last === undefined || (last.to !== undefined && compareKeys(last.to, range.from) < 0))
      merged.push(range);
    else if (last.to !== undefined && (range.to === undefined || compareKeys(range.to, last.to) > 0)) {
      merged[merged.length - 1] = { from: last.from, to: range.to };
    }
  }
  return merged;
}

function isFilled({ from, to }: EntityRange): boolean {
  return to === undefined || compareKeys(from, to) < 0;
}
