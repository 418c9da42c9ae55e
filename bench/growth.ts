// Does it cost the same however much is stored? Get Messages at 1,000, 100,000 and 1,000,000 messages; a point query
// and a range of 100 rows at 1,000 and 1,000,000 entities; a filter on a property with an index and without at 1,000
// and 100,000. In process, the service alone, which shows most; a point query as a client sees it, too. The sizes are
// asked in turns, so that whatever else the machine does meets all of them.

import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { signSas } from '#src/http/auth/sign.js';
import { loopback } from '#src/server/config.js';
import { serve } from '#src/server/serve.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { within } from '#src/services/common/store.js';
import { getMessages, putMessage } from '#src/services/queue/messages.js';
import { createQueue } from '#src/services/queue/queues.js';
import type { QueueService } from '#src/services/queue/service.js';
import { getEntity, writeEntities } from '#src/services/table/entities.js';
import { parseFilter } from '#src/services/table/filter.js';
import { createIndex } from '#src/services/table/indexes.js';
import { type TableKey, type TableStore, tableKey } from '#src/services/table/model.js';
import { queryEntities } from '#src/services/table/query.js';
import type { TableService } from '#src/services/table/service.js';
import { createTable } from '#src/services/table/tables.js';
import { median } from './loader.js';
import type { Bench } from './main.js';

const sizes = {
  small: { messages: [100, 1_000], entities: [100, 1_000], indexed: [100, 1_000], asked: 20, scans: 1 },
  full: {
    messages: [1_000, 100_000, 1_000_000],
    entities: [1_000, 1_000_000],
    indexed: [1_000, 100_000],
    asked: 900,
    scans: 5,
  },
} as const;
type Scale = (typeof sizes)['small' | 'full'];
type Print = (line: string) => void;

const account = developmentAccount.name;
const day = 24 * 3600 * 1000;
const number = new Intl.NumberFormat('en');

export const growthBench: Bench = async (size, print) => {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-growth-'));
  const address = { host: loopback, port: 0 };
  const server = await serve({
    data: { location: folder },
    services: { queue: address, table: address },
    accounts: [developmentAccount],
    pathStyleOnly: false,
  });
  try {
    await queues(server.services.get('queue') as QueueService, sizes[size], print);
    const table = server.services.get('table') as TableService;
    await tables(table.store, server.urls.table ?? '', sizes[size], print);
    await indexes(table, sizes[size], print);
  } finally {
    agent.destroy();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return crc32(JSON.stringify(sizes[size])).toString(16);
};

async function queues({ store }: QueueService, { messages: counts, asked }: Scale, print: Print) {
  const key = (count: number) => [account, `growth-${count}`] as const;
  for (const count of counts) {
    await createQueue(store, key(count), []);
    const message = { id: 'x', text: 'x'.repeat(100), nonce: 1, visibilityMs: 0, ttlMs: day };
    await inBatches(count, 500, (_, batch) =>
      store.run(async (tx) => {
        for (let n = 0; n < batch; n++) await putMessage(within(store, tx), key(count), message);
      }),
    );
  }
  const take = { most: 1, visibilityMs: day, nonce: () => 1 };
  await inTurns('Get Messages', counts, asked, print, async (count) => {
    const found = await getMessages(store, key(count), take);
    if (found.length === 0) throw new Error('a queue that is empty');
  });
}

const row = (n: number) => String(n).padStart(9, '0');
const at = (count: number, n: number) => (n * 7919) % (count - 100 + 1);

async function fillTable(store: TableStore, name: string, count: number): Promise<TableKey> {
  const key = tableKey(account, name);
  await createTable(store, account, name);
  await inBatches(count, 100, (first, batch) =>
    writeEntities(
      store,
      key,
      Array.from({ length: batch }, (_, n) => insertOf(row(first + n), first + n)),
    ),
  );
  return key;
}

async function find(store: TableStore, table: TableKey, text: string, wanted: number): Promise<void> {
  const filter = parseFilter(text);
  if (!filter.ok) throw new Error(filter.code);
  const page = await queryEntities(store, table, { filter: filter.value, top: 1000, from: undefined });
  if (page.entities.length !== wanted) throw new Error(`${page.entities.length} found by ${text}`);
}

async function tables(store: TableStore, url: string, scale: Scale, print: Print): Promise<void> {
  const { entities: counts, asked } = scale;
  const key = (count: number) => tableKey(account, `growth${count}`);
  for (const count of counts) await fillTable(store, `growth${count}`, count);
  await inTurns('point query', counts, asked, print, (count, n) =>
    getEntity(store, key(count), { partitionKey: 'p', rowKey: row(at(count, n)) }),
  );
  await inTurns('the same by HTTP', counts, asked, print, (count, n) =>
    fetchEntity(`${url}/${account}/growth${count}(PartitionKey='p',RowKey='${row(at(count, n))}')`),
  );
  await inTurns('range of 100', counts, asked, print, (count, n) => {
    const first = at(count, n);
    const rows = `RowKey ge '${row(first)}' and RowKey lt '${row(first + 100)}'`;
    return find(store, key(count), `PartitionKey eq 'p' and ${rows}`, 100);
  });
}

async function indexes({ store, indexBuilder }: TableService, scale: Scale, print: Print): Promise<void> {
  const { indexed: counts, asked, scans } = scale;
  const key = (count: number) => tableKey(account, `indexed${count}`);
  for (const count of counts) await fillTable(store, `indexed${count}`, count);
  const byNumber = (count: number, n: number) => find(store, key(count), `number eq ${at(count, n)}`, 1);
  await inTurns('filter, no index', counts, scans, print, byNumber);
  for (const count of counts) {
    const began = performance.now();
    await createIndex(store, key(count), 'number');
    await indexBuilder.finish();
    const seconds = (performance.now() - began) / 1000;
    print(`an index over ${number.format(count)} is built in ${seconds.toFixed(1)} s`);
  }
  await inTurns('filter, index', counts, asked, print, byNumber);
}

const sas = signSas(
  { service: 'table', account },
  { sv: '2021-12-02', ss: 't', srt: 'sco', sp: 'r', se: '2099-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function fetchEntity(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { Accept: 'application/json;odata=nometadata', 'x-ms-version': '2021-12-02' };
    get(`${url}?${sas}`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
      response.resume().on('end', resolve);
    }).on('error', reject);
  });
}

function insertOf(rowKey: string, n: number) {
  return {
    kind: 'insert' as const,
    entity: {
      partitionKey: 'p',
      rowKey,
      properties: [
        ['text', { type: 'Edm.String', value: 'x'.repeat(100) }],
        ['number', { type: 'Edm.Int32', value: n }],
      ] as const,
    },
  };
}

/** All of them, some at a time in one transaction, several of which are under way. */
export async function inBatches(
  total: number,
  size: number,
  write: (first: number, count: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < total) {
      const first = next;
      next += size;
      await write(first, Math.min(size, total - first));
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

/** The median of one after the other at each size, in milliseconds. */
export async function inTurns(
  name: string,
  counts: readonly number[],
  asked: number,
  print: Print,
  work: (count: number, n: number) => Promise<unknown>,
): Promise<void> {
  const times = counts.map((): number[] => []);
  for (let n = 0; n < asked; n++) {
    for (const [at, count] of counts.entries()) {
      const began = performance.now();
      await work(count, n);
      times[at]?.push(performance.now() - began);
    }
  }
  const middles = times.map(median);
  for (const [at, count] of counts.entries()) {
    const [ms, least] = [middles[at] ?? 0, middles[0] ?? 1];
    const told = `${ms.toFixed(3)} ms, ${(ms / least).toFixed(2)} x the smallest`;
    print(`${name.padEnd(16)} with ${number.format(count).padStart(9)} stored: ${told}`);
  }
}
