// Queries: the ranges of keys that a filter leaves, read in order, and the filter asked of what they return.
// A page shows one moment; it ends at so many entities, or when its time is over.

import { StorageError } from '../common/errors.js';
import { type Entity, type EntityKey, propertyOf } from './entity.js';
import { type Filter, matches } from './filter.js';
import { compareKeys, type EntityRange, planFilter, pointOf, rangesFrom } from './filter-plan.js';
import { entityOf, findTable, rowKeyOf, type TableKey, type TableStore } from './model.js';

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

export function queryEntities(store: TableStore, table: TableKey, query: EntityQuery): Promise<EntityPage> {
  const planned = planFilter(query.filter);
  const ranges = query.from === undefined ? planned : rangesFrom(planned, query.from);
  return store.run(async (tx) => {
    const { id } = await findTable(store, tx, table);
    const until = performance.now() + longestMs;
    const entities: Entity[] = [];
    const holds = (entity: Entity) => matches(query.filter, (name) => propertyOf(entity, name));
    const looked = intersect(ranges, query.within);
    for (const range of looked) {
      // One key by itself is the newest; several are of one moment, so that no transaction is seen by half.
      const point = looked.length === 1 ? pointOf(range) : undefined;
      if (point !== undefined) {
        if (entities.length === query.top) return { entities, next: point };
        const row = rowKeyOf(id, point);
        const record = await store.entities.get(tx, row, { lock: 'none' });
        if (record !== undefined && holds(entityOf(row, record))) entities.push(entityOf(row, record));
        continue;
      }
      const to = range.to === undefined ? {} : { to: rowKeyOf(id, range.to) };
      const bounds = { prefix: [id], from: rowKeyOf(id, range.from), ...to };
      const pageSize = Math.min(batch, query.top + 1);
      for await (const [row, record] of store.entities.entries(tx, { ...bounds, pageSize })) {
        const entity = entityOf(row, record);
        if (entities.length === query.top || performance.now() > until) return { entities, next: entity };
        if (holds(entity)) entities.push(entity);
      }
    }
    return { entities, next: undefined };
  });
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
