// The keys that the paths of a plan lead to, in the order of keys and each once. They are candidates: the filter is
// asked again of every entity.
//
//   a place of an index     its rows lie in the order of keys: read as they are asked for
//   keys alone              likewise
//   several places          their rows lie by place first: gathered, then sorted
//
// Gathering costs what the places hold, which nobody knows beforehand, and a scan costs what it takes to fill the
// page. So a query goes both ways by turns, some rows each, and ends with whichever is done first: never more than
// about twice the cheaper one.

import type { Transaction } from '../../collections/index.js';
import type { EntityKey } from './entity.js';
import { compareKeys, type EntityRange, type Path, rangesFrom } from './filter-plan.js';
import { onlyPlace, type Place, type PlaceRange } from './index-places.js';
import { keyOfIndexRow } from './indexes.js';
import { entityKeyOf, type IndexRowKey, rowKeyOf, type TableEntry, type TableStore } from './model.js';

export interface Searched {
  readonly store: TableStore;
  readonly tx: Transaction;
  readonly table: TableEntry;
}

/** Rows that one way goes before it is the other's turn. */
export const turn = 256;
/** Sorted in memory at most; a query for more is scanned. */
const mostGathered = 20_000;

/** No text, of whatever length, comes behind bytes: the end of all rows of a place. */
const behindTexts = new Uint8Array(0);

export class IndexSearch {
  readonly #gathered: Gathering[] = [];
  readonly #readers: ((from: EntityKey | undefined) => AsyncIterator<EntityKey>)[] = [];

  constructor(searched: Searched, paths: readonly Path[]) {
    for (const { part, ranges } of paths) {
      if (part === undefined) this.#read(ranges, (some) => keysIn(searched, some));
      else {
        const { id } = searched.table.indexes?.find(({ property }) => property === part.property) ?? {
          id: 0,
        };
        const place = onlyPlace(part.places);
        if (place === undefined) this.#gathered.push(new Gathering(searched, id, part.places, ranges));
        else this.#read(ranges, (some) => keysAt(searched, id, place, some));
      }
    }
  }

  /** Goes on gathering for a turn. Whether all that must be gathered is. */
  async gather(): Promise<boolean> {
    for (const one of this.#gathered) if (!(await one.go())) return false;
    return true;
  }

  /** From this key on, once all is gathered. */
  async *candidates(from: EntityKey | undefined): AsyncGenerator<EntityKey> {
    const readers = [
      ...this.#readers.map((open) => open(from)),
      ...this.#gathered.map((one) => one.sorted(from)),
    ];
    yield* merged(readers);
  }

  #read(
    ranges: readonly EntityRange[],
    keys: (ranges: readonly EntityRange[]) => AsyncGenerator<EntityKey>,
  ): void {
    this.#readers.push((from) => keys(from === undefined ? ranges : rangesFrom(ranges, from)));
  }
}

export async function* keysIn(
  { store, tx, table: { id } }: Searched,
  ranges: readonly EntityRange[],
  pageSize = turn,
): AsyncGenerator<EntityKey> {
  for (const { from, to } of ranges) {
    const end = to === undefined ? {} : { to: rowKeyOf(id, to) };
    const range = { prefix: [id], from: rowKeyOf(id, from), pageSize, ...end };
    for await (const row of store.entities.keys(tx, range)) yield entityKeyOf(row);
  }
}

async function* keysAt(
  { store, tx }: Searched,
  index: number,
  place: Place,
  ranges: readonly EntityRange[],
): AsyncGenerator<EntityKey> {
  const bound = (key: EntityKey): IndexRowKey => {
    const [, partitionKey, rowKey] = rowKeyOf(index, key);
    return [index, ...place, partitionKey, rowKey];
  };
  for (const { from, to } of ranges) {
    const end = to === undefined ? {} : { to: bound(to) };
    for await (const row of store.indexRows.keys(tx, {
      prefix: [index, ...place],
      from: bound(from),
      ...end,
    }))
      yield keyOfIndexRow(row);
  }
}

/** The keys of several places. */
class Gathering {
  readonly #ranges: readonly EntityRange[];
  readonly #rows: AsyncIterator<IndexRowKey>;
  #keys: EntityKey[] = [];
  #state: 'reading' | 'done' | 'too many' = 'reading';

  constructor(
    { store, tx }: Searched,
    index: number,
    { from, to }: PlaceRange,
    ranges: readonly EntityRange[],
  ) {
    this.#ranges = ranges;
    const rows = store.indexRows.keys(tx, {
      prefix: [index],
      pageSize: turn,
      ...(from && { from: [index, ...from] }),
      ...(to && { to: [index, ...to, behindTexts] }),
    });
    this.#rows = rows[Symbol.asyncIterator]();
  }

  /** Whether it is done. */
  async go(): Promise<boolean> {
    for (let rows = 0; rows < turn && this.#state === 'reading'; rows++) {
      const { done, value } = await this.#rows.next();
      if (done) this.#state = 'done';
      else this.#add(keyOfIndexRow(value));
    }
    return this.#state === 'done';
  }

  #add(key: EntityKey): void {
    if (!this.#ranges.some((range) => isWithin(key, range))) return;
    this.#keys.push(key);
    if (this.#keys.length <= mostGathered) return;
    this.#state = 'too many';
    this.#keys = [];
  }

  async *sorted(from: EntityKey | undefined): AsyncGenerator<EntityKey> {
    this.#keys.sort(compareKeys);
    for (const key of this.#keys) if (from === undefined || compareKeys(key, from) >= 0) yield key;
  }
}

function isWithin(key: EntityKey, { from, to }: EntityRange): boolean {
  return compareKeys(from, key) <= 0 && (to === undefined || compareKeys(key, to) < 0);
}

/** All that the readers have, each in order, as one in order; what several have is there once. */
async function* merged(readers: readonly AsyncIterator<EntityKey>[]): AsyncGenerator<EntityKey> {
  const heads = await Promise.all(readers.map((reader) => next(reader)));
  for (;;) {
    let first: EntityKey | undefined;
    for (const head of heads)
      if (head !== undefined && (first === undefined || compareKeys(head, first) < 0)) first = head;
    if (first === undefined) return;
    yield first;
    for (const [at, reader] of readers.entries()) {
      const head = heads[at];
      if (head !== undefined && compareKeys(head, first) === 0) heads[at] = await next(reader);
    }
  }
}

async function next(reader: AsyncIterator<EntityKey>): Promise<EntityKey | undefined> {
  const { done, value } = await reader.next();
  return done ? undefined : value;
}
