// Queries: the ranges of keys that a filter leaves, read in order, and the filter asked of what they return. Where
// an index helps it tells which keys to look at, and the page is the same but for the time it took. A page shows
// one moment; it ends at so many entities, or when its time is over.

import { StorageError } from '../common/errors.js';
import { type Entity, type EntityKey, propertyOf } from './entity.js';
import { everything, type Filter, matches } from './filter.js';
import {
  compareKeys,
  type EntityRange,
  type Path,
  planFilter,
  planPaths,
  pointOf,
  rangesFrom,
} from './filter-plan.js';
import { IndexSearch, keysIn, type Searched, turn } from './index-search.js';
import { entityOf, findTable, rowKeyOf, type TableEntry, type TableKey, type TableStore } from './model.js';
import type { EntitiesPage, PagesReader } from './recent-pages.js';

export interface EntityQuery {
  readonly filter: Filter;
  readonly top: number;
  /** Where an earlier page ended. */
  readonly from: EntityKey | undefined;
  /** Of a SAS: no other keys are seen. */
  readonly within?: readonly EntityRange[] | undefined;
}

export interface EntityPage {
  readonly entities: readonly Entity[];
  /** The next entity to look at; nothing: that was all. */
  readonly next: EntityKey | undefined;
}

const longestMs = 5_000;

/** A page being filled. */
interface Search extends Searched {
  readonly query: EntityQuery;
  readonly until: number;
  readonly entities: Entity[];
}

export function queryEntities(store: TableStore, table: TableKey, query: EntityQuery): Promise<EntityPage> {
  const ranges = asked(query, planFilter(query.filter));
  return store.run(async (tx) => {
    const entry = await findTable(store, tx, table);
    const until = performance.now() + longestMs;
    const search: Search = { store, tx, table: entry, query, until, entities: [] };
    const paths = pathsOf(query, entry);
    const next =
      paths === undefined ? (await scan(search, ranges)).next : await follow(search, ranges, paths);
    return { entities: search.entities, next };
  });
}

/** What of these ranges the query is to see. */
function asked({ from, within }: EntityQuery, ranges: readonly EntityRange[]): readonly EntityRange[] {
  return intersect(from === undefined ? ranges : rangesFrom(ranges, from), within);
}

function pathsOf(query: EntityQuery, { indexes }: TableEntry): readonly Path[] | undefined {
  if (indexes === undefined || query.filter === everything) return undefined;
  const ready = new Set(indexes.filter((index) => index.ready).map(({ property }) => property));
  const paths = planPaths(query.filter, ready);
  return paths?.map(({ part, ranges }) => ({ part, ranges: asked(query, ranges) }));
}

interface Ended {
  readonly next: EntityKey | undefined;
  /** It was told to: `next` was not looked at yet. */
  readonly stopped?: boolean;
}

/** Looks at all that the ranges hold. `stop` is asked after each turn. */
async function scan(
  search: Search,
  ranges: readonly EntityRange[],
  stop?: () => Promise<boolean>,
): Promise<Ended> {
  const { store, tx, table, query, until, entities } = search;
  // One key by itself is the newest; several are of one moment, so that no transaction is seen by half.
  const point = ranges.length === 1 && ranges[0] !== undefined ? pointOf(ranges[0]) : undefined;
  if (point !== undefined) {
    const row = rowKeyOf(table.id, point);
    const record = await store.entities.get(tx, row, { lock: 'none' });
    if (record !== undefined) take(search, entityOf(row, record));
    return { next: undefined };
  }
  using reader = store.recent.reader(tx, table.id);
  let isFirst = true;
  for (const range of ranges) {
    for await (const page of pagesOf(search, range, reader)) {
      const [first] = page;
      if (first === undefined) continue;
      if (!isFirst && performance.now() > until) return { next: first };
      if (!isFirst && stop !== undefined && (await stop())) return { next: first, stopped: true };
      for (const entity of page) {
        if (entities.length === query.top) return { next: entity };
        take(search, entity);
      }
      isFirst = false;
    }
  }
  return { next: undefined };
}

/** What the range holds, some at a time: of the pages that were read lately, or from the store. */
async function* pagesOf(
  search: Search,
  range: EntityRange,
  reader: PagesReader | undefined,
): AsyncGenerator<readonly Entity[]> {
  let place = range.from;
  for (;;) {
    const rest = { from: place, to: range.to };
    const page = reader?.find(place) ?? (await readPage(search, rest, reader));
    yield within(page.entities, rest);
    if (page.end === undefined || (range.to !== undefined && compareKeys(page.end, range.to) >= 0)) return;
    place = page.end;
  }
}

async function readPage(
  { store, tx, table: { id }, query }: Search,
  { from, to }: EntityRange,
  reader: PagesReader | undefined,
): Promise<EntitiesPage> {
  const pageSize = Math.min(turn, query.top + 1);
  const bounds = { from: rowKeyOf(id, from), ...(to && { to: rowKeyOf(id, to) }) };
  const entities: Entity[] = [];
  for await (const [row, record] of store.entities.entries(tx, { prefix: [id], pageSize, ...bounds })) {
    entities.push(entityOf(row, record));
    if (entities.length === pageSize) break;
  }
  const last = entities.length === pageSize ? entities.at(-1) : undefined;
  const page = { from, end: last === undefined ? to : behind(last), entities };
  // A few rows out of many are not worth their place.
  if (pageSize === turn && (last !== undefined || to === undefined || to.rowKey === '')) reader?.add(page);
  return page;
}

function within(entities: readonly Entity[], { from, to }: EntityRange): readonly Entity[] {
  const [first, last] = [entities[0], entities.at(-1)];
  if (first === undefined || last === undefined) return entities;
  const isInside = compareKeys(first, from) >= 0 && (to === undefined || compareKeys(last, to) < 0);
  if (isInside) return entities;
  return entities.filter(
    (entity) => compareKeys(entity, from) >= 0 && (to === undefined || compareKeys(entity, to) < 0),
  );
}

/** The smallest key that follows. */
function behind({ partitionKey, rowKey }: EntityKey): EntityKey {
  return { partitionKey, rowKey: `${rowKey}\0` };
}

/** Looks at what the paths lead to; where that has to be gathered first, beside a scan. */
async function follow(
  search: Search,
  ranges: readonly EntityRange[],
  paths: readonly Path[],
): Promise<EntityKey | undefined> {
  const { store, tx, table, query, until, entities } = search;
  const indexes = new IndexSearch(search, paths);
  let from: EntityKey | undefined;
  if (!(await indexes.gather())) {
    const { next, stopped } = await scan(search, ranges, () => indexes.gather());
    if (!stopped) return next;
    from = next;
  }
  for await (const key of indexes.candidates(from)) {
    if (performance.now() > until) return key;
    const row = rowKeyOf(table.id, key);
    const record = await store.entities.get(tx, row, { lock: 'snapshot' });
    if (record !== undefined) take(search, entityOf(row, record));
    if (entities.length === query.top) return nextBehind(search, ranges, key);
  }
  return undefined;
}

function take({ query, entities }: Search, entity: Entity): void {
  if (matches(query.filter, (name) => propertyOf(entity, name))) entities.push(entity);
}

/** Where a scan would have ended: at the next entity, whether it matches or not. */
async function nextBehind(
  search: Search,
  ranges: readonly EntityRange[],
  key: EntityKey,
): Promise<EntityKey | undefined> {
  const left = rangesFrom(ranges, behind(key));
  for await (const key of keysIn(search, left, 1)) return key;
  return undefined;
}

/** What lies in both; each list in order. */
function intersect(
  ranges: readonly EntityRange[],
  within: readonly EntityRange[] | undefined,
): readonly EntityRange[] {
  if (within === undefined) return ranges;
  return ranges.flatMap((range) =>
    within.flatMap((limit) => {
      const [from] = rangesFrom([range], limit.from);
      if (from === undefined) return [];
      if (limit.to === undefined || (from.to !== undefined && compareKeys(from.to, limit.to) < 0))
        return [from];
      return compareKeys(from.from, limit.to) < 0 ? [{ from: from.from, to: limit.to }] : [];
    }),
  );
}

/** Refuses a top that no page can have. */
export function checkTop(top: number): number {
  if (top < 1 || top > 1000) throw new StorageError('InvalidInput');
  return top;
}
