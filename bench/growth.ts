// Does it cost the same however much is stored? Get Messages at 1,000, 100,000 and 1,000,000 messages; a point
// query and a range of 100 rows at 1,000 and 1,000,000 entities. In process, without HTTP: the service alone.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { loopback } from '#src/server/config.js';
import { serve } from '#src/server/serve.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { getMessages, putMessage } from '#src/services/queue/messages.js';
import { createQueue } from '#src/services/queue/queues.js';
import type { QueueService } from '#src/services/queue/service.js';
import { getEntity, writeEntities } from '#src/services/table/entities.js';
import { parseFilter } from '#src/services/table/filter.js';
import { tableKey } from '#src/services/table/model.js';
import { queryEntities } from '#src/services/table/query.js';
import type { TableService } from '#src/services/table/service.js';
import { createTable } from '#src/services/table/tables.js';
import type { Bench } from './main.js';

const sizes = {
  small: { messages: [100, 1_000], entities: [100, 1_000], asked: 50 },
  full: { messages: [1_000, 100_000, 1_000_000], entities: [1_000, 1_000_000], asked: 1_000 },
} as const;
const account = developmentAccount.name;
const day = 24 * 3600 * 1000;

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
    const queue = server.services.get('queue') as QueueService;
    const table = server.services.get('table') as TableService;
    await queues(queue, sizes[size].messages, sizes[size].asked, print);
    await tables(table, sizes[size].entities, sizes[size].asked, print);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return crc32(JSON.stringify(sizes[size])).toString(16);
};

/** So many at a time, as clients at work would be. */
async function inParallel(
  total: number,
  width: number,
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < total) await work(next++);
    }),
  );
}

async function queues(
  { store }: QueueService,
  counts: readonly number[],
  asked: number,
  print: (line: string) => void,
): Promise<void> {
  const times: number[] = [];
  for (const count of counts) {
    const key = [account, `growth-${count}`] as const;
    await createQueue(store, key, []);
    const message = { id: 'x', text: 'x'.repeat(100), nonce: 1, visibilityMs: 0, ttlMs: day };
    await inParallel(count, 256, () => putMessage(store, key, message));
    const nonce = () => 1;
    const took = await timed(asked, () => getMessages(store, key, { most: 1, visibilityMs: day, nonce }));
    times.push(took);
    print(`Get Messages with ${count} stored: ${took.toFixed(3)} ms, ${ratio(times)} of the smallest`);
  }
}

async function tables(
  { store }: TableService,
  counts: readonly number[],
  asked: number,
  print: (line: string) => void,
): Promise<void> {
  const points: number[] = [];
  const ranges: number[] = [];
  for (const count of counts) {
    const name = `growth${count}`;
    await createTable(store, account, name);
    const key = tableKey(account, name);
    const row = (n: number) => String(n).padStart(9, '0');
    await inParallel(Math.ceil(count / 100), 32, (batch) =>
      writeEntities(
        store,
        key,
        Array.from({ length: 100 }, (_, n) => ({
          kind: 'insert' as const,
          entity: {
            partitionKey: 'p',
            rowKey: row(batch * 100 + n),
            properties: [['text', { type: 'Edm.String', value: 'x'.repeat(100) }]],
          },
        })),
      ),
    );
    const at = (n: number) => (n * 7919) % (count - 100 + 1);
    points.push(await timed(asked, (n) => getEntity(store, key, { partitionKey: 'p', rowKey: row(at(n)) })));
    ranges.push(
      await timed(asked, async (n) => {
        const filter = parseFilter(
          `PartitionKey eq 'p' and RowKey ge '${row(at(n))}' and RowKey lt '${row(at(n) + 100)}'`,
        );
        if (!filter.ok) throw new Error(filter.code);
        const page = await queryEntities(store, key, { filter: filter.value, top: 1000, from: undefined });
        if (page.entities.length === 0) throw new Error('a range of nothing');
      }),
    );
    print(
      `point query with ${count} stored: ${points.at(-1)?.toFixed(3)} ms, ${ratio(points)} of the smallest`,
    );
    print(
      `a range of 100 with ${count} stored: ${ranges.at(-1)?.toFixed(3)} ms, ${ratio(ranges)} of the smallest`,
    );
  }
}

function ratio(times: readonly number[]): string {
  return `${((times.at(-1) ?? 0) / (times[0] ?? 1)).toFixed(2)} x`;
}

/** The median of one after the other, in milliseconds. */
async function timed(count: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    await work(n);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return times[count >> 1] ?? 0;
}
