// Looking up the slices of a map (range-map.ts), a bounded number at a time: those that are current, those
// that a snapshot shows, and those that are gone since a snapshot. All of the newest state. Who writes holds the lock
// of the map's owner. Who only looks does not, and writes may come between two looks: they are checked at commit, so
// that all it found was there at one moment.

import type { Transaction } from '../../collections/index.js';
import { type ContentRows, type SliceRow, unpackKept, unpackSlice } from './content-rows.js';
import { type KeptSlice, type Range, type Slice, shownBy } from './range-map.js';
import { SliceHints } from './slice-hints.js';

/** All slices in order that begin before `end`, which is where to go on. */
export interface SlicePage<S extends Slice = Slice> {
  readonly slices: readonly S[];
  readonly end: number;
}

const pageSlices = 256;

export class SliceRows {
  readonly #rows: Pick<ContentRows, 'maps' | 'kept'>;
  readonly #hints = new SliceHints();

  constructor(rows: Pick<ContentRows, 'maps' | 'kept'>) {
    this.#rows = rows;
  }

  /** All current slices that overlap the range. */
  async touched(tx: Transaction, map: number, range: Range): Promise<readonly Slice[]> {
    const { slices } = await this.#current(tx, map, range, Number.POSITIVE_INFINITY, false);
    return slices;
  }

  /** What a snapshot shows, or, without one, what is current. */
  async shown(tx: Transaction, map: number, range: Range, snapshot?: number): Promise<SlicePage> {
    const current = await this.#current(tx, map, range, pageSlices, true);
    if (snapshot === undefined) return current;
    const kept = await this.#kept(tx, map, range, snapshot);
    const slices = shownBy(snapshot, current.slices, kept.slices);
    return cutOff(slices, Math.min(current.end, kept.end));
  }

  /** What snapshot `since` showed and a later one, or the newest state, does not. */
  async gone(
    tx: Transaction,
    map: number,
    range: Range,
    since: number,
    snapshot?: number,
  ): Promise<SlicePage> {
    const { slices, end } = await this.#kept(tx, map, range, since, snapshot);
    return cutOff(
      slices.filter(({ epoch }) => epoch <= since).sort((a, b) => a.start - b.start),
      end,
    );
  }

  /** Mostly one slice holds it all. One that begins where the range does, or is known, is found without a search. */
  async #current(
    tx: Transaction,
    map: number,
    range: Range,
    limit: number,
    check: boolean,
  ): Promise<SlicePage> {
    const { maps } = this.#rows;
    const { start, end } = range;
    const first = start < end ? await this.#at(tx, map, start) : undefined;
    if (first && first.end >= end) return { slices: [first], end };
    const known = first ? undefined : this.#hints.before(map, start);
    const holder = known === undefined ? undefined : await this.#at(tx, map, known);
    if (holder && holder.end >= end) return { slices: [holder], end };
    const isFirst = first !== undefined && (!check || (await this.#at(tx, map, start, check)) !== undefined);
    const found = await page(
      isFirst ? [] : maps.entries(tx, { from: [map, 0], to: [map, start], ...lastOne, check }),
      maps.entries(tx, { from: [map, start], to: [map, end], newest: true, check }),
      ([[, at], row]) => unpackSlice(at, row as SliceRow),
      range,
      limit,
    );
    const [nearest] = found.slices;
    if (nearest) this.#hints.found(map, nearest.start);
    return found;
  }

  async #at(tx: Transaction, map: number, start: number, check = false): Promise<Slice | undefined> {
    const row = await this.#rows.maps.get(tx, [map, start], { lock: 'none', check });
    return row && unpackSlice(start, row as SliceRow);
  }

  /** For each `until` there is from one epoch on and before another: mostly few, as each is of a snapshot. */
  async #kept(
    tx: Transaction,
    map: number,
    range: Range,
    from: number,
    to = Number.POSITIVE_INFINITY,
  ): Promise<{ slices: KeptSlice[]; end: number }> {
    const slices: KeptSlice[] = [];
    let end = range.end;
    for (let until = await this.#nextUntil(tx, map, from); until !== undefined && until < to; ) {
      const found = await this.#keptUntil(tx, map, range, until);
      slices.push(...found.slices);
      end = Math.min(end, found.end);
      until = await this.#nextUntil(tx, map, until + 1);
    }
    return { slices, end };
  }

  async #nextUntil(tx: Transaction, map: number, from: number): Promise<number | undefined> {
    const range = { prefix: [map], from: [map, from], newest: true, check: true, pageSize: 1 };
    const keys = this.#rows.kept.keys(tx, range);
    for await (const [, until] of keys) return until;
    return undefined;
  }

  #keptUntil(tx: Transaction, map: number, range: Range, until: number): Promise<SlicePage<KeptSlice>> {
    const { kept } = this.#rows;
    return page(
      kept.entries(tx, { from: [map, until, 0], to: [map, until, range.start], ...lastOne, check: true }),
      kept.entries(tx, { from: [map, until, range.start], to: [map, until, range.end], ...newest }),
      ([[, , start], row]) => unpackKept(until, start, row),
      range,
      pageSlices,
    );
  }
}

const newest = { newest: true, check: true } as const;
const lastOne = { reverse: true, newest: true, pageSize: 1 } as const;

/** The last slice before the range, if it reaches into it, and those that begin in it. */
async function page<Row, S extends Slice>(
  before: AsyncIterable<Row> | readonly Row[],
  inside: AsyncIterable<Row>,
  unpack: (row: Row) => S,
  range: Range,
  limit: number,
): Promise<SlicePage<S>> {
  const slices: S[] = [];
  for await (const row of before) {
    const slice = unpack(row);
    if (slice.end > range.start) slices.push(slice);
    if (slice.end >= range.end) return { slices, end: range.end };
    break;
  }
  for await (const row of inside) {
    const slice = unpack(row);
    slices.push(slice);
    if (slices.length >= limit) return { slices, end: Math.min(range.end, slice.end) };
  }
  return { slices, end: range.end };
}

function cutOff(slices: readonly Slice[], end: number): SlicePage {
  return { slices: slices.filter(({ start }) => start < end), end };
}
