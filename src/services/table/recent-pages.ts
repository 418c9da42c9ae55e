// Entities that scans have read lately, decoded, in pages: a table that is queried again and again is read from the
// store once. Bounded in all; the page least lately used goes first.
//
//   1. A write drops the page its key lies in before it is committed, and until its transaction has ended no page of
//      that table is added. So a page that is here holds what is stored, committed or about to be.
//   2. A page is added only if nothing was written to its table since the snapshot it was read from.
//   3. A query takes a page only if its own snapshot is not older than the page's. Between the two nothing was
//      written there, or the page would be gone.
//
// When commits were lost, because the disk failed, all pages are dropped: some may hold what was lost. And again when
// the store was opened anew: what was read in between lacks what has turned up.

import type { Transaction } from '../../collections/index.js';
import { type Entity, type EntityKey, entityBytes } from './entity.js';
import { compareKeys } from './filter-plan.js';

/** All entities of a table from `from` on and below `end`; nothing: to its end. */
export interface EntitiesPage {
  readonly from: EntityKey;
  readonly end: EntityKey | undefined;
  readonly entities: readonly Entity[];
}

interface RecentPage extends EntitiesPage {
  readonly table: TablePages;
  readonly bytes: number;
  /** The newest commit that its snapshot showed. */
  readonly seen: number;
}

interface TablePages {
  readonly id: number;
  /** In order, none touching another. */
  readonly pages: RecentPage[];
  /** Transactions under way that have written, queries under way. */
  writers: number;
  readers: number;
  /** Moved by every write. */
  changes: number;
}

const mostBytes = 16 * 1024 * 1024;

/** The pages of one table as one query may see them. */
export interface PagesReader extends Disposable {
  /** The page that holds this place. */
  find(place: EntityKey): EntitiesPage | undefined;
  add(page: EntitiesPage): void;
}

export class RecentPages {
  readonly #tables = new Map<number, TablePages>();
  /** The least lately used first. */
  readonly #pages = new Set<RecentPage>();
  #bytes = 0;

  /** This transaction writes the entity. */
  writes(tx: Transaction, table: number, key: EntityKey): void {
    const known = this.#of(table);
    known.writers++;
    this.#changed(known, key);
    const end = () => {
      known.writers--;
      known.changes++;
      this.#forgetUnused(known);
    };
    tx.onEnd({ ordered: end, aborted: end });
  }

  /** What is stored may be another state than before. */
  reset(): void {
    for (const known of [...this.#tables.values()]) {
      known.changes++;
      for (const page of [...known.pages]) this.#drop(page);
    }
  }

  /** Nothing for a transaction that sees more, or less, than the newest state of this moment. */
  reader(tx: Transaction, table: number): PagesReader | undefined {
    if (!tx.primary || tx.hasSnapshot || tx.hasWrites) return undefined;
    const { seen } = tx.snapshot;
    const known = this.#of(table);
    known.readers++;
    const { changes } = known;
    const mayAdd = known.writers === 0;
    return {
      find: (place) => {
        const page = known.pages[lastFrom(known.pages, place)];
        if (page === undefined || page.seen > seen || !holds(page, place)) return undefined;
        this.#pages.delete(page);
        this.#pages.add(page);
        return page;
      },
      add: (page) => {
        if (mayAdd && known.changes === changes) this.#add(known, page, seen);
      },
      [Symbol.dispose]: () => {
        known.readers--;
        this.#forgetUnused(known);
      },
    };
  }

  #of(id: number): TablePages {
    let known = this.#tables.get(id);
    if (known === undefined) {
      known = { id, pages: [], writers: 0, readers: 0, changes: 0 };
      this.#tables.set(id, known);
    }
    return known;
  }

  #forgetUnused(known: TablePages): void {
    if (known.writers + known.readers + known.pages.length > 0) return;
    if (this.#tables.get(known.id) === known) this.#tables.delete(known.id);
  }

  #changed(known: TablePages, key: EntityKey): void {
    known.changes++;
    const page = known.pages[lastFrom(known.pages, key)];
    if (page !== undefined && holds(page, key)) this.#drop(page);
  }

  #add(table: TablePages, page: EntitiesPage, seen: number): void {
    const at = lastFrom(table.pages, page.from) + 1;
    const before = table.pages[at - 1];
    if (before !== undefined && holds(before, page.from)) return; // of another query that read the same
    const clipped = clip(page, table.pages[at]?.from);
    let bytes = 0;
    for (const entity of clipped.entities) bytes += memoryOf(entity);
    const added: RecentPage = { ...clipped, table, bytes, seen };
    table.pages.splice(at, 0, added);
    this.#pages.add(added);
    this.#bytes += bytes;
    for (const oldest of this.#pages) {
      if (this.#bytes <= mostBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(page: RecentPage): void {
    const { pages } = page.table;
    pages.splice(pages.indexOf(page), 1);
    this.#pages.delete(page);
    this.#bytes -= page.bytes;
    this.#forgetUnused(page.table);
  }
}

/** Roughly: what it holds, and the objects around it. */
function memoryOf(entity: Entity): number {
  return entityBytes(entity) + 160 * (1 + entity.properties.length);
}

/** The last page that begins at this place or before; -1: none. */
function lastFrom(pages: readonly RecentPage[], place: EntityKey): number {
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys((pages[middle] as RecentPage).from, place) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function holds({ end }: EntitiesPage, place: EntityKey): boolean {
  return end === undefined || compareKeys(place, end) < 0;
}

/** Up to where the next page begins. */
function clip(page: EntitiesPage, next: EntityKey | undefined): EntitiesPage {
  if (next === undefined || (page.end !== undefined && compareKeys(page.end, next) <= 0)) return page;
  return {
    from: page.from,
    end: next,
    entities: page.entities.filter((entity) => compareKeys(entity, next) < 0),
  };
}
