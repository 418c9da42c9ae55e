// Queries: the ranges of keys that a filter leaves, read in order, and the filter asked of what they return. Where
// an index helps it tells which keys to look at, and the page is the same but for the time it took. A page shows
// one moment; it ends at so many entities, or when its time is over.

import { StorageError } from '../common/errors.js';
import { type Entity, type EntityKey, propertyOf } from './entity.js';
import type { EntityRecord } from './entity-codec.js';
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
import {
  entityKeyOf,
  entityOf,
  findTable,
  type RowKey,
  rowKeyOf,
  type TableEntry,
  type TableKey,
  type TableStore,
} from './model.js';

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
const batch = 256;

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
  let looked = 0;
  for (const range of ranges) {
    // One key by itself is the newest; several are of one moment, so that no transaction is seen by half.
    const point = ranges.length === 1 ? pointOf(range) : undefined;
    if (point !== undefined) {
      const row = rowKeyOf(table.id, point);
      take(search, row, await store.entities.get(tx, row, { lock: 'none' }));
      continue;
    }
    const to = range.to === undefined ? {} : { to: rowKeyOf(table.id, range.to) };
    const bounds = { prefix: [table.id], from: rowKeyOf(table.id, range.from), ...to };
    const pageSize = Math.min(batch, query.top + 1);
    for await (const [row, record] of store.entities.entries(tx, { ...bounds, pageSize })) {
      if (entities.length === query.top || performance.now() > until) return { next: entityKeyOf(row) };
      if (stop !== undefined && ++looked % turn === 0 && (await stop()))
        return { next: entityKeyOf(row), stopped: true };
      take(search, row, record);
    }
  }
  return { next: undefined };
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
    take(search, row, await store.entities.get(tx, row, { lock: 'snapshot' }));
    if (entities.length === query.top) return nextBehind(search, ranges, key);
  }
  return undefined;
}

function take({ query, entities }: Search, row: RowKey, record: EntityRecord | undefined): void {
  if (record === undefined) return;
  const entity = entityOf(row, record);
  if (matches(query.filter, (name) => propertyOf(entity, name))) entities.push(entity);
}

/** Where a scan would have ended: at the next entity, whether it matches or not. */
async function nextBehind(
  search: Search,
  ranges: readonly EntityRange[],
  { partitionKey, rowKey }: EntityKey,
): Promise<EntityKey | undefined> {
  const left = rangesFrom(ranges, { partitionKey, rowKey: `${rowKey}\0` });
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
