// The way of a message: how many are put, got and deleted in a second, and how many deleted.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { median } from './loader.js';
import type { Size } from './main.js';
import type { MessageLoad, MessageLoadDone } from './message-load.js';
import type { Target } from './targets.js';

/** `loads`: how many connections, and how many messages they share in each round. */
const scales = {
  small: { rounds: 1, loads: [[4, 20]] },
  full: {
    rounds: 3,
    loads: [
      [1, 150],
      [16, 400],
      [64, 400],
    ],
  },
} as const;

type Message = Pick<MessageLoad, 'path' | 'sas' | 'body'>;

/** In turns; each figure is the median of its rounds, after one to warm up. */
export async function messageCycles(
  size: Size,
  targets: readonly Target[],
  message: Message,
  print: (line: string) => void,
): Promise<void> {
  const { rounds, loads } = scales[size];
  const worker = new Worker(new URL('./message-load.js', import.meta.url));
  try {
    for (const kind of ['delete', 'cycle'] as const) {
      for (const [connections, messages] of loads) {
        const seen = targets.map((): MessageLoadDone[] => []);
        for (let round = 0; round <= rounds; round++) {
          for (const [at, { ports }] of targets.entries()) {
            const job = { ...message, port: ports.queue, connections, messages, kind };
            worker.postMessage(job satisfies MessageLoad);
            const [done] = (await once(worker, 'message')) as [MessageLoadDone];
            if (round > 0) seen[at]?.push(done);
          }
        }
        print(shown(kind, connections, messages, targets, seen));
      }
    }
  } finally {
    await worker.terminate();
  }
}

function shown(
  kind: MessageLoad['kind'],
  connections: number,
  messages: number,
  targets: readonly Target[],
  seen: readonly (readonly MessageLoadDone[])[],
): string {
  const rates = seen.map((rounds) => (messages / median(rounds.map(({ ms }) => ms))) * 1000);
  const told = targets.map(({ name }, at) => {
    const of = (step: 'put' | 'get' | 'delete') =>
      median((seen[at] ?? []).map((one) => one[step])).toFixed(2);
    const steps =
      kind === 'cycle' ? `put ${of('put')}, get ${of('get')}, delete ${of('delete')}` : of('delete');
    return `${name} ${Math.round(rates[at] ?? 0)}/s (p50 ${steps} ms)`;
  });
  const [ours = 0, theirs] = rates;
  if (theirs !== undefined) told.push(`${(ours / theirs).toFixed(1)} x Azurite`);
  const name = kind === 'cycle' ? 'put-get-delete' : 'Delete Message';
  return `${name.padEnd(15)} ${String(connections).padStart(2)} connections: ${told.join('; ')}`;
}
