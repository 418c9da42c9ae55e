// Each test runs random edits on rows and, beside them, on plain arrays with a cell for each byte.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../base/random.js';
import {
  clear,
  clearPages,
  differences,
  type Edit,
  fill,
  isShown,
  type KeptSlice,
  overwrite,
  pageBytes,
  pageRanges,
  type Range,
  type Slice,
  type Source,
  shownBy,
} from './range-map.js';

const size = 5 * pageBytes + 100;

/** One byte as the plain arrays have it: which byte of which write, and in which epoch. */
interface Cell {
  readonly what: string;
  readonly epoch: number;
}
type Cells = readonly (Cell | undefined)[];

class Model {
  readonly rows = new Map<number, Slice>();
  kept: KeptSlice[] = [];
  readonly references = new Map<number, number>();
  readonly snapshots = new Map<number, Cells>();
  cells: (Cell | undefined)[] = new Array(size).fill(undefined);
  epoch = 0;
  lastId = 0;

  get newestSnapshot(): number | undefined {
    return this.snapshots.size === 0 ? undefined : Math.max(...this.snapshots.keys());
  }

  touched({ start, end }: Range): Slice[] {
    return this.current().filter((row) => row.start < end && start < row.end);
  }

  current(): Slice[] {
    return [...this.rows.values()].sort((a, b) => a.start - b.start);
  }

  apply(edit: Edit): void {
    for (const start of edit.removed)
      assert.ok(this.rows.delete(start), 'only rows that are there are removed');
    for (const slice of edit.written) this.rows.set(slice.start, slice);
    for (const slice of edit.kept) {
      const same = this.kept.some(({ until, start }) => until === slice.until && start === slice.start);
      assert.ok(!same, 'a kept slice has a key of its own');
      this.kept.push(slice);
    }
    for (const { extent, change } of edit.references) this.refer(extent.offset, change);
  }

  refer(id: number, change: number): void {
    this.references.set(id, (this.references.get(id) ?? 0) + change);
  }

  write(range: Range, kind: Source['kind']): void {
    const id = ++this.lastId;
    const source = this.source(kind, id, range.end - range.start);
    const slice = { ...range, epoch: this.epoch, source };
    if (kind === 'extent') this.refer(id, 1);
    this.apply(overwrite(this.touched(range), slice, this.newestSnapshot));
    for (let at = range.start; at < range.end; at++) {
      this.cells[at] = { what: show(source, at - range.start), epoch: this.epoch };
    }
  }

  source(kind: Source['kind'], id: number, length: number): Source {
    if (kind === 'extent') return { kind, extent: extentOf(id), offset: 1000 };
    if (kind === 'zeros') return { kind };
    return { kind, bytes: Uint8Array.from({ length }, (_, index) => id * 7 + index) };
  }

  clear(range: Range): void {
    this.apply(clear(this.touched(range), range, this.newestSnapshot));
    this.cells.fill(undefined, range.start, range.end);
  }

  clearPages(range: Range): void {
    this.apply(clearPages(this.touched(range), range, this.epoch, this.newestSnapshot));
    for (let at = range.start; at < range.end; at++) {
      const page = at - (at % pageBytes);
      const whole = page >= range.start && page + pageBytes <= range.end;
      if (whole) this.cells[at] = undefined;
      else if (this.cells[at]) this.cells[at] = { what: 'zero', epoch: this.epoch };
    }
  }

  snapshot(): void {
    this.snapshots.set(this.epoch++, [...this.cells]);
  }

  deleteSnapshot(epoch: number): void {
    this.snapshots.delete(epoch);
    const left = [...this.snapshots.keys()];
    for (const slice of this.kept.filter((each) => !isShown(each, left))) {
      if (slice.source.kind === 'extent') this.refer(slice.source.extent.offset, -1);
    }
    this.kept = this.kept.filter((slice) => isShown(slice, left));
  }
}

const extentOf = (id: number) => ({ segment: 1, offset: id, length: 10_000 });

function show(source: Source, index: number): string {
  if (source.kind === 'zeros') return 'zero';
  return source.kind === 'bytes'
    ? `byte ${source.bytes[index]}`
    : `${source.extent.offset}:${source.offset + index}`;
}

/** The slices as cells, found through `fill`. */
function cellsOf(slices: readonly Slice[]): (string | undefined)[] {
  const cells: (string | undefined)[] = [];
  for (const part of fill(slices, { start: 0, end: size })) {
    assert.equal(part.start, cells.length, 'parts follow each other without a gap');
    for (let index = 0; index < part.end - part.start; index++)
      cells.push(part.source && show(part.source, index));
  }
  return cells;
}

function pagesWhere(holds: (page: number) => boolean): Range[] {
  const runs: { start: number; end: number }[] = [];
  for (let page = 0; page < size; page += pageBytes) {
    const end = Math.min(page + pageBytes, size);
    const last = runs.at(-1);
    if (!holds(page)) continue;
    if (last?.end === page) last.end = end;
    else runs.push({ start: page, end });
  }
  return runs;
}

const allocated = (cells: Cells) => (page: number) =>
  cells.slice(page, page + pageBytes).some((cell) => cell);

function check(model: Model): void {
  const current = model.current();
  const views = new Map<number, { slices: Slice[]; cells: Cells }>();
  views.set(model.epoch, { slices: current, cells: model.cells });
  for (const [epoch, cells] of model.snapshots) {
    views.set(epoch, { slices: shownBy(epoch, current, model.kept), cells });
  }
  for (const [epoch, { slices, cells }] of views) {
    assert.deepEqual(
      cellsOf(slices),
      cells.map((cell) => cell?.what),
      `epoch ${epoch}`,
    );
    assert.deepEqual(pageRanges(slices, size), pagesWhere(allocated(cells)));
    for (const [earlier, before] of views)
      if (earlier < epoch) checkDifferences(earlier, before, { slices, cells });
  }
  const named = new Map<number, number>();
  for (const { source } of [...current, ...model.kept]) {
    if (source.kind !== 'extent') continue;
    named.set(source.extent.offset, (named.get(source.extent.offset) ?? 0) + 1);
  }
  const counted = [...model.references].filter(([, rows]) => rows !== 0).sort(([a], [b]) => a - b);
  assert.deepEqual(
    counted,
    [...named].sort(([a], [b]) => a - b),
  );
}

type View = { readonly slices: readonly Slice[]; readonly cells: Cells };

function checkDifferences(epoch: number, before: View, now: View): void {
  const still = new Set(now.slices.map(({ start, end, epoch: written }) => `${start} ${end} ${written}`));
  const gone = before.slices.filter(
    ({ start, end, epoch: written }) => !still.has(`${start} ${end} ${written}`),
  );
  const wasWritten = (page: number) =>
    now.cells.slice(page, page + pageBytes).some((cell) => cell !== undefined && cell.epoch > epoch);
  const wasCleared = (page: number) => allocated(before.cells)(page) && !allocated(now.cells)(page);
  const expected = [
    ...pagesWhere(wasWritten).map((range) => ({ ...range, kind: 'written' as const })),
    ...pagesWhere(wasCleared).map((range) => ({ ...range, kind: 'cleared' as const })),
  ].sort((a, b) => a.start - b.start);
  assert.deepEqual(differences(now.slices, gone, epoch, size), expected);
}

for (const [name, unit] of [
  ['pages', pageBytes],
  ['bytes', 1],
] as const) {
  for (let seed = 1; seed <= 25; seed++) {
    test(`random writes of ${name} agree with plain arrays (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const upTo = (most: number) => Math.floor(random() * (most + 1));
      const units = Math.ceil(size / unit);
      const model = new Model();
      for (let step = 0; step < 60; step++) {
        const start = upTo(units - 1) * unit;
        const range = { start, end: Math.min(size, start + (1 + upTo(units)) * unit) };
        const kinds: Source['kind'][] = ['extent', 'extent', 'bytes', 'zeros'];
        const dice = random();
        if (dice < 0.55) model.write(range, kinds[upTo(3)] as Source['kind']);
        else if (dice < 0.65) model.clear(range);
        else if (dice < 0.75) model.clearPages(range);
        else if (dice < 0.88) model.snapshot();
        else if (model.snapshots.size > 0) {
          const all = [...model.snapshots.keys()];
          model.deleteSnapshot(all[upTo(all.length - 1)] as number);
        }
        check(model);
      }
    });
  }
}

test('the examples of the file service', () => {
  const slice = (start: number, end: number, id: number): Slice => ({
    ...{ start, end, epoch: 0 },
    source: { kind: 'extent', extent: extentOf(id), offset: 0 },
  });
  const hello = slice(0, 5, 1);
  const world = slice(5, 10, 2);
  const cleared = clearPages([world], { start: 5, end: 10 }, 0, undefined);
  assert.deepEqual(pageRanges([hello, ...cleared.written], 10), [{ start: 0, end: 10 }]);
  assert.deepEqual(cleared.references, [{ extent: extentOf(2), change: -1 }]);
  assert.deepEqual(pageRanges([slice(1023, 1028, 3)], 2049), [{ start: 512, end: 1536 }]);
});
