// One process of producers, or of consumers, of one queue. Its argument is a file with its settings. A producer goes
// on until so many of its messages are acknowledged; a consumer until it is told that all are (any message from its
// parent) and it finds nothing more. Some consumers fail now and then: they get messages and forget them.
//
// The process may be killed, so a call is in the history before it is sent, as one whose outcome is unknown.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import type { Ports } from '../support/restartable.js';
import { begun, nowMs, type Recorded, writeLine } from './history.js';
import type { Handed, QueueCall, QueueResult } from './queue-checker.js';
import { Sender } from './sender.js';
import { newThread, nowhere, type Thread } from './thread.js';
import { queue } from './work-queues.js';

export interface DeliverySettings {
  readonly role: 'producers' | 'consumers';
  readonly client: number;
  readonly threads: number;
  /** Of all producers of this process together. */
  readonly messages: number;
  readonly hidings: readonly number[];
  /** The share of gets after which a consumer fails. */
  readonly failures: number;
  readonly seed: number;
  readonly ports: Ports;
  readonly sas: string;
  readonly queue: string;
  readonly history: string;
}

const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as DeliverySettings;
const file = openSync(settings.history, 'a');
let isAllPut = false;
process.once('message', () => {
  isAllPut = true;
});

function threadOf(number: number): Thread {
  const random = seededRandom(settings.seed * 10_000 + settings.client * 100 + number);
  const { ports, sas } = settings;
  return newThread({
    client: `${settings.client}.${number}`,
    random,
    sender: new Sender({ ports, sas, random, dropShare: 0.001 }),
    history: (record: Recorded) => void writeSync(file, `${writeLine(record)}\n`),
  });
}

async function call(thread: Thread, asked: QueueCall): Promise<QueueResult | undefined> {
  const { client, history } = thread;
  const record = { client, object: 'queue 0', call: asked, startMs: nowMs(), wire: begun };
  history({ ...record, endMs: Number.POSITIVE_INFINITY });
  const result = await queue(thread, { ...nowhere, queue: settings.queue }, asked);
  if (result === undefined) await delay(200 + thread.random() * 200); // the server may be down
  return result;
}

let [left, done] = [settings.messages, 0];

/** The parent is told how many there are. */
async function produce(thread: Thread): Promise<void> {
  while (left > 0) {
    left--;
    const text = `${thread.client}-${++thread.count}`;
    const result = await call(thread, { op: 'put', text, hideMs: 0 });
    if (result === undefined || !('ok' in result)) left++;
    else if (++done % 50 === 0) process.send?.(done);
  }
}

async function consume(thread: Thread): Promise<void> {
  for (;;) {
    const isLast = isAllPut;
    const hideMs = settings.hidings[Math.floor(thread.random() * settings.hidings.length)] ?? 1000;
    const result = await call(thread, { op: 'get', most: 1 + Math.floor(thread.random() * 16), hideMs });
    const found: readonly Handed[] = (result && 'ok' in result && result.messages) || [];
    if (result !== undefined && found.length === 0) {
      if (isLast) return;
      await delay(20 + thread.random() * 80);
    }
    // Fails after some of them: the rest is seen again when its time is over.
    const done =
      thread.random() < settings.failures ? Math.floor(thread.random() * found.length) : found.length;
    for (const { id, receipt } of found.slice(0, done)) await call(thread, { op: 'delete', id, receipt });
  }
}

const threads = Array.from({ length: settings.threads }, (_, number) => threadOf(number));
const act = settings.role === 'producers' ? produce : consume;
await Promise.all(threads.map((thread) => act(thread)));
for (const { sender } of threads) sender.close();
closeSync(file);
if (process.connected) process.disconnect();
