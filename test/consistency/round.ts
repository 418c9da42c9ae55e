// A round: fresh objects, client processes that work on them while faults are made, then a judge who reads what is
// left, and the verdict on all that was seen. Histories stay short enough to be decided.

import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import type { Program } from '../support/restartable.js';
import type { ClientSettings } from './client.js';
import { type FaultContext, type FaultName, faults, together } from './faults.js';
import { type Recorded, readLines } from './history.js';
import { type Finding, judge, judgeRound } from './judge.js';
import { Sender } from './sender.js';
import { newThread, type Place } from './thread.js';
import { emptyQueue, readAll } from './work.js';
import { longestHidingMs } from './work-queues.js';

export interface RoundOptions {
  readonly program: Program;
  /** For settings and histories. */
  readonly folder: string;
  readonly smallDisk?: string | undefined;
  readonly round: number;
  readonly seed: number;
  readonly durationMs: number;
  readonly faults: readonly FaultName[];
  readonly dropShare?: number;
  readonly clients?: number;
}

export interface RoundReport {
  readonly history: readonly Recorded[];
  readonly findings: readonly Finding[];
  readonly skipped: readonly string[];
}

/** Allows everything. */
export const sas = signSas(
  { service: 'blob', account: developmentAccount.name },
  { sv: '2021-08-06', ss: 'bqtf', srt: 'sco', sp: 'rwdlacup', se: '2100-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);

export async function runRound(options: RoundOptions): Promise<RoundReport> {
  const { program, round, seed, durationMs, smallDisk } = options;
  const random = seededRandom(seed * 7919 + round);
  const name = `round${round}`;
  const place: Place = { container: name, table: name, queue: name, share: name };
  const records: Recorded[] = [];
  const thread = newThread({
    client: judge,
    random,
    sender: new Sender({ ports: program.ports, sas, random, dropShare: 0 }),
    history: (record) => records.push(record),
  });
  await makePlaces(thread.sender, place);

  const context: FaultContext = {
    program,
    random,
    smallDisk,
    jumpedMs: 0,
    lostMs: 0,
    skipped: new Set(),
    history: (record: Recorded) => records.push(record),
  };
  const working = runClients(options, place);
  for (const name of together(options.faults)) {
    await delay((durationMs / (options.faults.length + 1)) * (0.5 + random() * 0.5));
    await faults[name](context);
  }
  const history = await working;
  await delay(longestHidingMs + 100 + context.lostMs);
  await readAll(thread, place);
  await emptyQueue(thread, place);
  thread.sender.close();
  if (options.faults.includes('leap')) await restart(program);
  const whole = [...history, ...records];
  return { history: whole, findings: judgeRound(whole, context.jumpedMs), skipped: [...context.skipped] };
}

/** Puts the clock back, when nobody works: a kill in a later round would have to wait for all that it had gained. */
async function restart(program: Program): Promise<void> {
  await program.stop();
  await program.start();
}

async function makePlaces(sender: Sender, { container, table, queue, share }: Place): Promise<void> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json;odata=nometadata' };
  const body = JSON.stringify({ TableName: table });
  const replies = [
    await sender.send({ service: 'blob', method: 'PUT', path: `/${container}?restype=container` }),
    await sender.send({ service: 'queue', method: 'PUT', path: `/${queue}` }),
    await sender.send({ service: 'file', method: 'PUT', path: `/${share}?restype=share` }),
    await sender.send({ service: 'table', method: 'POST', path: '/Tables', headers, body }),
  ];
  for (const reply of replies) {
    if (reply.kind !== 'answer' || reply.status !== 201)
      throw new Error(`no place to work in: ${JSON.stringify(reply)}`);
  }
}

async function runClients(options: RoundOptions, place: Place): Promise<Recorded[]> {
  const { program, folder, round, seed, durationMs, dropShare = 0.02, clients = 3 } = options;
  const histories = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const history = join(folder, `history-${round}-${client}.jsonl`);
      const settings: ClientSettings = {
        client,
        threads: 3,
        seed: seed * 100 + round,
        durationMs,
        dropShare,
        ports: program.ports,
        sas,
        place,
        history,
      };
      const file = join(folder, `client-${round}-${client}.json`);
      writeFileSync(file, JSON.stringify(settings));
      const child = spawn(process.execPath, [join(import.meta.dirname, 'client.js'), file], {
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      const code = await new Promise((resolve) => child.once('exit', resolve));
      if (code !== 0) throw new Error(`client ${client} ended with ${code}`);
      return readLines(readFileSync(history, 'utf8'));
    }),
  );
  return histories.flat();
}

/** A file system in memory that is small enough to be filled; nothing where this user may not mount one. */
export function mountSmallDisk(folder: string, sizeBytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'lazuli', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function unmountSmallDisk(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
}
