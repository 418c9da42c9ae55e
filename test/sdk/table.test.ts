// The table SDKs that people have, against a running server: the newest one, and its predecessor.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateTableSas,
  odata,
  RestError,
  TableClient,
  TableServiceClient,
} from '@azure/data-tables';
import legacy from 'azure-storage';
import { start } from '#src/server/start.js';
import { developmentAccount } from '#src/services/common/accounts.js';

const options = { allowInsecureConnection: true };

test('@azure/data-tables: entities of every type, ETags, queries in pages, transactions', async () => {
  const server = await start({ services: ['table'] });
  try {
    const service = TableServiceClient.fromConnectionString(server.connectionString, options);
    await service.createTable('people');
    const table = TableClient.fromConnectionString(server.connectionString, 'people', options);
    const entity = {
      partitionKey: 'a',
      rowKey: '1',
      text: 'x',
      small: 5,
      large: 123456789012345n,
      when: new Date('2020-01-02T03:04:05.678Z'),
      real: 1.5,
      raw: new Uint8Array([1, 2, 3]),
      flag: true,
    };
    await table.createEntity(entity);
    const read = await table.getEntity<typeof entity>('a', '1');
    assert.deepEqual(
      [read.text, read.small, read.large, read.real, read.flag],
      ['x', 5, 123456789012345n, 1.5, true],
    );
    assert.equal(read.when.getTime(), entity.when.getTime());
    assert.deepEqual([...read.raw], [1, 2, 3]);
    await table.updateEntity({ partitionKey: 'a', rowKey: '1', small: 6 }, 'Merge', { etag: read.etag });
    await assert.rejects(
      table.updateEntity({ partitionKey: 'a', rowKey: '1', small: 7 }, 'Merge', { etag: read.etag }),
      (error) => error instanceof RestError && error.statusCode === 412,
    );
    for (let n = 0; n < 30; n++)
      await table.upsertEntity({ partitionKey: `p${n % 3}`, rowKey: String(n).padStart(3, '0'), v: n });
    const found: unknown[] = [];
    for await (const row of table.listEntities({
      queryOptions: { filter: odata`PartitionKey eq 'p1' and v gt ${10}` },
    }))
      found.push(row['v']);
    assert.deepEqual(found, [13, 16, 19, 22, 25, 28]);
    const pages: number[] = [];
    for await (const page of table.listEntities().byPage({ maxPageSize: 7 })) pages.push(page.length);
    assert.deepEqual(pages, [7, 7, 7, 7, 3]);
    const { subResponses } = await table.submitTransaction([
      ['create', { partitionKey: 'b', rowKey: '1', v: 1 }],
      ['upsert', { partitionKey: 'b', rowKey: '2', v: 1 }, 'Replace'],
      ['create', { partitionKey: 'b', rowKey: '3' }],
    ]);
    assert.deepEqual(
      subResponses.map(({ status }) => status),
      [204, 204, 204],
    );
    await assert.rejects(
      table.submitTransaction([
        ['create', { partitionKey: 'b', rowKey: '9' }],
        ['create', { partitionKey: 'b', rowKey: '1' }],
      ]),
      (error) => error instanceof RestError && error.statusCode === 409,
    );
    await assert.rejects(table.getEntity('b', '9'), { statusCode: 404 });
    await table.deleteEntity('b', '1');
    const names: (string | undefined)[] = [];
    for await (const item of service.listTables()) names.push(item.name);
    assert.deepEqual(names, ['people']);
    await service.deleteTable('people');
  } finally {
    await server.stop();
  }
});

test('@azure/data-tables with a SAS for a range of keys: reads show the range, writes outside are refused', async () => {
  const server = await start({ services: ['table'] });
  try {
    const owner = TableClient.fromConnectionString(server.connectionString, 'people', options);
    await owner.createTable();
    for (const key of ['a', 'b', 'c', 'd']) await owner.createEntity({ partitionKey: key, rowKey: '1' });
    const credential = new AzureNamedKeyCredential(developmentAccount.name, developmentAccount.keys[0]);
    const sas = generateTableSas('people', credential, {
      permissions: { query: true, add: true },
      expiresOn: new Date(Date.now() + 60_000),
      startPartitionKey: 'b',
      startRowKey: '0',
      endPartitionKey: 'c',
      endRowKey: '9',
    });
    const url = server.urls.table ?? '';
    const limited = new TableClient(
      `${url}/${developmentAccount.name}`,
      'people',
      new AzureSASCredential(sas),
      options,
    );
    const seen: unknown[] = [];
    for await (const row of limited.listEntities()) seen.push(row.partitionKey);
    assert.deepEqual(seen, ['b', 'c']);
    await limited.createEntity({ partitionKey: 'b', rowKey: '5' });
    await assert.rejects(limited.createEntity({ partitionKey: 'd', rowKey: '5' }), { statusCode: 403 });
    await assert.rejects(limited.getEntity('a', '1'), { statusCode: 403 });
    await assert.rejects(limited.deleteEntity('b', '5'), { statusCode: 403 });
  } finally {
    await server.stop();
  }
});

test('azure-storage, the legacy SDK: entities, queries and batches', async () => {
  const server = await start({ services: ['table'] });
  try {
    const service = legacy.createTableService(server.connectionString);
    const { entityGenerator } = legacy.TableUtilities;
    const call = <T>(method: string, ...args: unknown[]): Promise<T> =>
      promisify((service as unknown as Record<string, (...args: unknown[]) => void>)[method] as never).call(
        service,
        ...(args as []),
      ) as Promise<T>;
    await call('createTableIfNotExists', 'people');
    const entity = (row: string, v: number) => ({
      PartitionKey: entityGenerator.String('p'),
      RowKey: entityGenerator.String(row),
      v: entityGenerator.Int32(v),
    });
    await call('insertEntity', 'people', entity('1', 1));
    await call('insertOrMergeEntity', 'people', entity('1', 2));
    const read = await call<{ v: { _: number } }>('retrieveEntity', 'people', 'p', '1');
    assert.equal(read.v._, 2);
    const batch = new legacy.TableBatch();
    for (let n = 2; n < 5; n++) batch.insertEntity(entity(String(n), n), { echoContent: false });
    await call('executeBatch', 'people', batch);
    const query = new legacy.TableQuery().where('PartitionKey eq ? and v gt ?', 'p', 2);
    const { entries } = await call<{ entries: unknown[] }>('queryEntities', 'people', query, null);
    assert.equal(entries.length, 2);
    await call('deleteTable', 'people');
  } finally {
    await server.stop();
  }
});
