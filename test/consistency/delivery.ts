// Producers and consumers of one queue, in processes of their own, while consumers fail, one of their processes is
// killed and the server is killed and started again; and then a judge who takes what is left.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import type { Program } from '../support/restartable.js';
import type { DeliverySettings } from './delivery-client.js';
import { type Recorded, readLines, settledLines } from './history.js';
import { judge } from './judge.js';
import { sas } from './round.js';
import { Sender } from './sender.js';
import { newThread, nowhere } from './thread.js';
import { emptyQueue } from './work.js';

export interface DeliveryOptions {
  readonly program: Program;
  /** For settings and histories. */
  readonly folder: string;
  readonly seed: number;
  readonly messages: number;
  /** Of each kind. */
  readonly clients: number;
  readonly hidings: readonly number[];
  /** How often the server is killed, and a process of consumers. */
  readonly kills: number;
}

interface Crew {
  readonly child: ChildProcess;
  readonly history: string;
  readonly ended: Promise<number | null>;
}

const consumerProcesses = 2;

export async function deliver(options: DeliveryOptions): Promise<Recorded[]> {
  const { program, seed, messages, clients, kills } = options;
  const random = seededRandom(seed);
  const records: Recorded[] = [];
  const thread = newThread({
    client: judge,
    random,
    sender: new Sender({ ports: program.ports, sas, random, dropShare: 0 }),
    history: (record) => records.push(record),
  });
  const place = { ...nowhere, queue: 'delivery' };
  await thread.sender.send({ service: 'queue', method: 'PUT', path: `/${place.queue}` });
  const crews: Crew[] = [];
  const start = (role: DeliverySettings['role'], threads: number): Crew => {
    const crew = startCrew(options, { role, threads, client: crews.length });
    crews.push(crew);
    return crew;
  };
  const producers = start('producers', clients);
  const consumers = Array.from({ length: consumerProcesses }, () =>
    start('consumers', clients / consumerProcesses),
  );
  let put = 0;
  producers.child.on('message', (count) => {
    put = Number(count);
  });
  for (let kill = 1; kill <= kills; kill++) {
    while (put < (messages * kill) / (kills + 1) && producers.child.exitCode === null) await delay(20);
    await program.kill();
    await program.start();
    const victim = consumers.splice(Math.floor(random() * consumers.length), 1)[0] as Crew;
    victim.child.kill('SIGKILL');
    consumers.push(start('consumers', clients / consumerProcesses));
  }
  if ((await producers.ended) !== 0) throw new Error('the producers failed');
  for (const { child } of consumers) child.send('all are put');
  for (const { ended } of consumers) if ((await ended) !== 0) throw new Error('consumers failed');
  await delay(Math.max(...options.hidings) + 200);
  await emptyQueue(thread, place);
  thread.sender.close();
  return [
    ...crews.flatMap(({ history }) => settledLines(readLines(readFileSync(history, 'utf8')))),
    ...records,
  ];
}

function startCrew(
  { program, folder, seed, messages, hidings }: DeliveryOptions,
  crew: Pick<DeliverySettings, 'role' | 'threads' | 'client'>,
): Crew {
  const history = join(folder, `history-${crew.client}.jsonl`);
  writeFileSync(history, '');
  const { ports } = program;
  const settings: DeliverySettings = {
    ...{ ...crew, messages, hidings, seed, ports, sas, history },
    failures: 0.05,
    queue: 'delivery',
  };
  const path = join(folder, `crew-${crew.client}.json`);
  writeFileSync(path, JSON.stringify(settings));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'delivery-client.js'), path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, history, ended };
}
