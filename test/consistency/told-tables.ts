// Clients on a few partitions of a table, in process: rows one by one and in batches, points, ranges in pages, an index
// that comes and goes, and a table that is deleted and made again.

import assert from 'node:assert/strict';
import { Garbage } from '#src/services/common/garbage.js';
import {
  type EntityWrite,
  getEntity,
  type Written,
  writeEntities,
  writeEntity,
} from '#src/services/table/entities.js';
import {
  type Entity,
  type EntityKey,
  entityEtag,
  type Match,
  type Property,
} from '#src/services/table/entity.js';
import { parseFilter } from '#src/services/table/filter.js';
import { IndexBuilder } from '#src/services/table/index-builder.js';
import { createIndex, dropIndex } from '#src/services/table/indexes.js';
import { openTableStore, type TableStore, tableKey } from '#src/services/table/model.js';
import { queryEntities } from '#src/services/table/query.js';
import { createTable, deleteTable } from '#src/services/table/tables.js';
import { verifyIndexes } from '#src/services/table/verify-indexes.js';
import type { ContainerCall, PartitionCall, Result, RowWrite } from './models.js';
import { type Faults, Told } from './told.js';

const account = 'mine';
const busy = tableKey(account, 'busy');
const passing = tableKey(account, 'passing');
const rowNames = ['r0', 'r1', 'r2', 'r3'] as const;
const endings = ['a', 'b', 'c'] as const;
/** After so many rounds all go on to other partitions: long histories take long to judge. */
const roundsEach = 25;

interface Seen {
  readonly value: string;
  readonly etag: string;
}

/** The value is what the row was written with and, behind a plus, what was merged into it; its ending is kept apart. */
function propertiesOf(value: string, name: 'V' | 'M'): readonly Property[] {
  return [
    [name, { type: 'Edm.String', value }],
    ['E', { type: 'Edm.String', value: value.slice(-1) }],
  ];
}

function textOf({ properties }: Pick<Entity, 'properties'>): string {
  const text = (name: string) => properties.find(([own]) => own === name)?.[1].value as string | undefined;
  const merged = text('M');
  return `${text('V') ?? ''}${merged === undefined ? '' : `+${merged}`}`;
}

function resultOf(written: Written): Result {
  return written === undefined
    ? { ok: true }
    : { ok: true, value: textOf(written), etag: entityEtag(written.stamp) };
}

class TableClient {
  readonly #told: Told;
  readonly #store: TableStore;
  readonly #name: string;
  readonly #seen = new Map<string, Seen>();

  constructor(told: Told, store: TableStore, name: string) {
    this.#told = told;
    this.#store = store;
    this.#name = name;
  }

  async work(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const object = `mixed ${Math.floor(round / roundsEach)}${this.#told.pick(['x', 'y'])}`;
      const drawn = this.#told.random();
      if (drawn < 0.15) await this.passing();
      else if (drawn < 0.25) await this.#read(object, this.#told.pick(rowNames));
      else if (drawn < 0.35) await this.query(object, 1000);
      else if (drawn < 0.45) await this.query(object, 2);
      else if (drawn < 0.5) await this.#ending(object, this.#told.pick(endings));
      else if (drawn < 0.6) await this.#all(object);
      else if (drawn < 0.7) await this.#batch(object);
      else await this.#write(object);
    }
  }

  #keyOf(object: string, row: string): EntityKey {
    return { partitionKey: object.replace(' ', '-'), rowKey: row };
  }

  #newValue(): string {
    return this.#told.newValue() + this.#told.pick(endings);
  }

  #remember(object: string, entity: Entity): void {
    this.#seen.set(`${object} ${entity.rowKey}`, { value: textOf(entity), etag: entityEtag(entity.stamp) });
  }

  #one(object: string, call: PartitionCall, run: () => Promise<Result>): Promise<void> {
    const intent = { object, call };
    return this.#told.call(this.#name, [intent], async () => [{ ...intent, result: await run() }]);
  }

  #read(object: string, row: string): Promise<void> {
    return this.#one(object, { op: 'read', row }, async () => {
      const entity = await getEntity(this.#store, busy, this.#keyOf(object, row));
      this.#remember(object, entity);
      return resultOf(entity);
    });
  }

  /** Each page is a query of its own, for the rows up to where the next one begins. */
  async query(object: string, top: number): Promise<void> {
    const { partitionKey } = this.#keyOf(object, '');
    const filter = parseFilter(`PartitionKey eq '${partitionKey}'`);
    assert.ok(filter.ok);
    let from: EntityKey | undefined;
    do {
      const begin = from;
      from = undefined;
      await this.#told.call<PartitionCall>(this.#name, [], async () => {
        const page = await queryEntities(this.#store, busy, { filter: filter.value, top, from: begin });
        from = page.next;
        const rows = rowNames.filter(
          (row) => row >= (begin?.rowKey ?? '') && (page.next === undefined || row < page.next.rowKey),
        );
        return [{ object, call: { op: 'query', rows }, result: this.#rows(object, page.entities) }];
      });
    } while (from !== undefined);
  }

  #ending(object: string, ending: string): Promise<void> {
    const { partitionKey } = this.#keyOf(object, '');
    const filter = parseFilter(`PartitionKey eq '${partitionKey}' and E eq '${ending}'`);
    assert.ok(filter.ok);
    return this.#one(object, { op: 'query', rows: rowNames, ending }, async () => {
      const { entities } = await queryEntities(this.#store, busy, {
        filter: filter.value,
        top: 1000,
        from: undefined,
      });
      return this.#rows(object, entities);
    });
  }

  /** All partitions that are worked on, in one page. */
  async #all(object: string): Promise<void> {
    const objects = ['x', 'y'].map((letter) => object.slice(0, -1) + letter);
    const filter = parseFilter(`PartitionKey ge '${this.#keyOf(objects[0] ?? '', '').partitionKey}'`);
    assert.ok(filter.ok);
    await this.#told.call<PartitionCall>(this.#name, [], async () => {
      const page = await queryEntities(this.#store, busy, {
        filter: filter.value,
        top: 1000,
        from: undefined,
      });
      assert.equal(page.next, undefined);
      return objects.map((one) => {
        const own = page.entities.filter(({ partitionKey }) => partitionKey === one.replace(' ', '-'));
        return { object: one, call: { op: 'query', rows: rowNames }, result: this.#rows(one, own) };
      });
    });
  }

  #rows(object: string, entities: readonly Entity[]): Result {
    for (const entity of entities) this.#remember(object, entity);
    return { ok: true, rows: Object.fromEntries(entities.map((one) => [one.rowKey, textOf(one)])) };
  }

  #write(object: string): Promise<void> {
    const row = this.#told.pick(rowNames);
    const op = this.#told.pick(['upsert', 'insert', 'update', 'merge', 'delete']);
    const seen = this.#seen.get(`${object} ${row}`);
    const isConditional =
      op !== 'insert' && op !== 'upsert' && seen !== undefined && this.#told.random() < 0.6;
    const expects = isConditional ? { expects: seen.value } : {};
    const key = this.#keyOf(object, row);
    const match: Match | undefined = isConditional ? { etag: seen.etag } : undefined;
    if (op === 'delete')
      return this.#one(object, { op, row, ...expects }, async () =>
        resultOf(await writeEntity(this.#store, busy, { kind: 'delete', key, match: match ?? '*' })),
      );
    const value = this.#newValue();
    const entity = { ...key, properties: propertiesOf(value, op === 'merge' ? 'M' : 'V') };
    const write: EntityWrite =
      op === 'insert'
        ? { kind: op, entity }
        : { kind: op === 'merge' ? op : 'replace', entity, match: op === 'update' ? (match ?? '*') : match };
    return this.#one(object, { op, row, value, ...expects }, async () => {
      const written = await writeEntity(this.#store, busy, write);
      if (written !== undefined) this.#remember(object, written);
      return resultOf(written);
    });
  }

  #batch(object: string): Promise<void> {
    const first = Math.floor(this.#told.random() * 2);
    const writes = rowNames.slice(first, first + 3).map((row): RowWrite => {
      const seen = this.#seen.get(`${object} ${row}`);
      const value = this.#newValue();
      return seen !== undefined && this.#told.random() < 0.2
        ? { row, value, expects: seen.value }
        : { row, value };
    });
    const asked = writes.map(({ row, value, expects }): EntityWrite => {
      const entity = { ...this.#keyOf(object, row), properties: propertiesOf(value, 'V') };
      const etag = this.#seen.get(`${object} ${row}`)?.etag ?? '';
      return { kind: 'replace', entity, match: expects === undefined ? undefined : { etag } };
    });
    return this.#one(object, { op: 'batch', writes }, async () => {
      for (const written of await writeEntities(this.#store, busy, asked))
        if (written !== undefined) this.#remember(object, written);
      return { ok: true };
    });
  }

  /** The table that comes and goes, with one entity. */
  passing(
    op: ContainerCall['op'] = this.#told.pick(['create', 'delete', 'put', 'put', 'read', 'read']),
  ): Promise<void> {
    const key: EntityKey = { partitionKey: 'p', rowKey: 'b' };
    const value = this.#newValue();
    const call: ContainerCall = op === 'put' ? { op, value } : { op };
    const run = async (): Promise<Result> => {
      if (op === 'create') await createTable(this.#store, ...passing);
      else if (op === 'delete') await deleteTable(this.#store, ...passing);
      else if (op === 'put') {
        const entity = { ...key, properties: propertiesOf(value, 'V') };
        await writeEntity(this.#store, passing, { kind: 'replace', entity, match: undefined });
      } else return this.#readPassing(key);
      return { ok: true };
    };
    const intent = { object: 'container 0', call };
    return this.#told.call<ContainerCall>(this.#name, [intent], async () => [
      { ...intent, result: await run().catch((error) => ({ code: containerCode(op, error) })) },
    ]);
  }

  async #readPassing(key: EntityKey): Promise<Result> {
    if (this.#told.random() < 0.5)
      return { ok: true, value: textOf(await getEntity(this.#store, passing, key)) };
    const filter = parseFilter(this.#told.pick(["PartitionKey eq 'p'", "RowKey eq 'b'"]));
    assert.ok(filter.ok);
    const { entities } = await queryEntities(this.#store, passing, {
      filter: filter.value,
      top: 1000,
      from: undefined,
    });
    return entities[0] === undefined ? { code: 'BlobNotFound' } : { ok: true, value: textOf(entities[0]) };
  }
}

/** A table is to its entity what a container is to its blob. */
function containerCode(op: ContainerCall['op'], error: unknown): string {
  const { code } = error as { code?: string };
  if (code === 'TableAlreadyExists') return 'ContainerAlreadyExists';
  if (code === 'TableNotFound' || (op === 'delete' && code === 'ResourceNotFound'))
    return 'ContainerNotFound';
  if (code === 'ResourceNotFound') return 'BlobNotFound';
  throw error;
}

/** The index comes and goes. */
function changeIndex(told: Told, store: TableStore, builder: IndexBuilder): Promise<void> {
  return told.call('index', [], async () => {
    if (told.random() < 0.3) await dropIndex(store, busy, 'E');
    else await createIndex(store, busy, 'E');
    await builder.finish();
    return [];
  });
}

export async function tellOfTables(seed: number, faults: Faults, rounds: number): Promise<void> {
  await using told = await Told.open(seed, faults);
  const failures: unknown[] = [];
  const report = (error: unknown) => told.isExpected(error) || failures.push(error);
  const garbage = await Garbage.open(told.store, report);
  const store = await openTableStore(told.store, garbage);
  await createTable(store, ...busy);
  const builder = new IndexBuilder(store, report);
  await told.failing(async () => {
    let isOver = false;
    const others = told.until(
      () => isOver,
      () => changeIndex(told, store, builder),
    );
    const sweeping = told.until(
      () => isOver,
      () => garbage.sweep(),
    );
    const clients = Array.from({ length: 8 }, (_, index) => new TableClient(told, store, `c${index}`));
    try {
      await Promise.all(clients.map((client) => client.work(rounds)));
    } finally {
      isOver = true;
    }
    await Promise.all([others, sweeping]);
  });
  await garbage.sweep();
  await garbage.close();
  await builder.finish();
  const judge = new TableClient(told, store, 'judge');
  for (const object of new Set(told.history.map((record) => record.object)))
    await (object === 'container 0' ? judge.passing('read') : judge.query(object, 1000));
  assert.deepEqual(failures, []);
  told.judge();
  assert.deepEqual((await verifyIndexes(store)).damage, []);
}
