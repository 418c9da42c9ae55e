// Puts load on servers in turns and says what came of it.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Load, LoadDone } from './load.js';
import { processorMs } from './targets.js';

/** What a server refuses cannot be measured. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Load comes from one thread, for whoever is measured. */
export class Loader implements AsyncDisposable {
  readonly #worker = new Worker(new URL('./load.js', import.meta.url));
  /** No number is used twice, whichever server it goes to. */
  #first = 0;

  async run(job: Omit<Load, 'first'>): Promise<LoadDone> {
    this.#worker.postMessage({ ...job, first: this.#first } satisfies Load);
    const [done] = (await once(this.#worker, 'message')) as [LoadDone];
    this.#first += done.answers + job.connections;
    if (done.refused === 0) return done;
    const { refused, answers, refusal } = done;
    throw new RefusedError(`${refused} of ${answers} were refused, the first with:\n${refusal}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

/** A server at work on one kind of request. */
export interface Contender {
  readonly name: string;
  readonly pid: number;
  readonly job: Omit<Load, 'first' | 'seconds'>;
  /** One that refuses such requests is left out, with a word about it; any other must not. */
  readonly mayRefuse?: boolean;
}

/** What one of them did, each the median of its rounds. */
export interface Score {
  readonly name: string;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Processor time of the server for one request, in microseconds. Noise from others hardly changes it. */
  readonly processorUs: number | undefined;
}

/** In turns, so that whatever else the machine does meets all of them. The first round warms up and is forgotten. */
export async function compare(
  loader: Loader,
  contenders: readonly Contender[],
  rounds: number,
  seconds: number,
): Promise<Score[]> {
  const able: Contender[] = [];
  for (const one of contenders) if (await canDo(loader, one, seconds)) able.push(one);
  const seen = able.map((): Score[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, one] of able.entries()) seen[at]?.push(await score(loader, one, seconds));
  }
  return seen.map(middle);
}

async function canDo(loader: Loader, { name, job, mayRefuse }: Contender, seconds: number): Promise<boolean> {
  try {
    await loader.run({ ...job, seconds });
    return true;
  } catch (error) {
    if (!mayRefuse || !(error instanceof RefusedError)) throw error;
    console.error(`${name} is left out: ${error.message}`);
    return false;
  }
}

async function score(loader: Loader, { name, pid, job }: Contender, seconds: number): Promise<Score> {
  const before = processorMs(pid);
  const { answers, ms, percentiles } = await loader.run({ ...job, seconds });
  const after = processorMs(pid);
  const [p50, p95, p99] = percentiles;
  const processorUs =
    before === undefined || after === undefined ? undefined : ((after - before) / answers) * 1000;
  return { name, perSecond: (answers / ms) * 1000, p50, p95, p99, processorUs };
}

function middle(scores: readonly Score[]): Score {
  const of = (value: (score: Score) => number) => median(scores.map(value));
  return {
    name: scores[0]?.name ?? '',
    perSecond: of(({ perSecond }) => perSecond),
    p50: of(({ p50 }) => p50),
    p95: of(({ p95 }) => p95),
    p99: of(({ p99 }) => p99),
    processorUs: scores.some(({ processorUs }) => processorUs === undefined)
      ? undefined
      : of(({ processorUs }) => processorUs ?? 0),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
