// MD5 and CRC64, of a small body at once and of a large one beside the main thread.
//
// MD5 runs at some 600 MB/s and cannot be split, CRC64 at 1,500. On the main thread both are half of what it has
// to give to a server that takes in large bodies. A worker reads the same memory, if it is shared; of other
// memory it gets a copy. Below `worthwhile` the messages cost more than they save.
//
// Jobs of all streams go to a worker in the order they come, two messages at a time, each with what has gathered
// meanwhile: the busier, the fewer messages. Measured with bodies of 64 KiB over 64 connections: 470 µs of the
// main thread for each without the worker, 260 with it.

import { createHash, type Hash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Bytes } from './bytes.js';
import { crc64 } from './crc64.js';

/** Which are wanted. */
export interface DigestKinds {
  readonly md5?: boolean;
  readonly crc64?: boolean;
}

/** Those that were wanted. */
export interface Digests {
  readonly md5?: Buffer;
  readonly crc64?: bigint;
}

export interface DigestStream {
  /** Nothing, or a promise: until it has resolved, the bytes must not change. It need not be waited for. */
  update(bytes: Bytes): Promise<void> | undefined;
  /** Once, at the end. */
  digest(): Digests | Promise<Digests>;
  /** Instead of `digest`, where a stream is given up. */
  discard(): void;
}

const worthwhile = 64 * 1024;
const mostWorkers = 4;
/** Messages that a worker has at a time, and jobs in each. */
const messagesAtOnce = 2;
const jobsAtOnce = 16;

export function md5(bytes: Bytes): Buffer {
  return createHash('md5').update(bytes).digest();
}

/** All at once, for what is small. */
export function digestsOf(bytes: Bytes, kinds: DigestKinds): Digests {
  const stream = new HereStream(kinds);
  stream.update(bytes);
  return stream.digest();
}

/** `expectedBytes`: how much will come, as far as is known; it decides where the work is done. */
export function digestStream(kinds: DigestKinds, expectedBytes = 0): DigestStream {
  const here = expectedBytes < worthwhile || !(kinds.md5 || kinds.crc64);
  return here ? new HereStream(kinds) : new BesideStream(nextWorker(), kinds);
}

/** Here, and within the worker. */
export class HereStream implements DigestStream {
  readonly #hash: Hash | undefined;
  #sum: bigint | undefined;

  constructor(kinds: DigestKinds) {
    if (kinds.md5) this.#hash = createHash('md5');
    if (kinds.crc64) this.#sum = 0n;
  }

  update(bytes: Bytes): undefined {
    this.#hash?.update(bytes);
    if (this.#sum !== undefined) this.#sum = crc64(bytes, this.#sum);
  }

  digest(): Digests {
    return {
      ...(this.#hash ? { md5: this.#hash.digest() } : {}),
      ...(this.#sum === undefined ? {} : { crc64: this.#sum }),
    };
  }

  discard(): void {}
}

/** What a worker is sent: the next bytes of a stream, or its end. */
export type DigestJob = Readonly<{ stream: number; kinds: DigestKinds }> &
  ({ readonly bytes: Bytes } | { readonly end: 'digest' | 'discard' });
/** What it answers to a message: a result for each job. */
export type DigestAnswer = readonly (Digests | undefined)[];

class BesideStream implements DigestStream {
  readonly #worker: DigestWorker;
  readonly #job: { readonly stream: number; readonly kinds: DigestKinds };

  constructor(worker: DigestWorker, kinds: DigestKinds) {
    this.#worker = worker;
    this.#job = { stream: ++lastStream, kinds };
  }

  async update(bytes: Bytes): Promise<void> {
    // Of memory that is not shared the message would copy all that the view is a part of.
    const own = bytes.buffer instanceof SharedArrayBuffer ? bytes : Uint8Array.prototype.slice.call(bytes);
    await this.#worker.run({ ...this.#job, bytes: own });
  }

  async digest(): Promise<Digests> {
    const { md5: sum, ...others } = (await this.#worker.run({ ...this.#job, end: 'digest' })) ?? {};
    return sum ? { md5: Buffer.from(sum), ...others } : others;
  }

  discard(): void {
    this.#worker.run({ ...this.#job, end: 'discard' }).catch(() => {});
  }
}

interface Waiting {
  readonly job: DigestJob;
  readonly resolve: (digests: Digests | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** It keeps the process alive only while somebody waits for it. */
class DigestWorker {
  readonly #worker = new Worker(new URL('./digests-worker.js', import.meta.url));
  readonly #queue: Waiting[] = [];
  /** The jobs of each message that is not answered, in order. */
  readonly #sent: Waiting[][] = [];
  #failure: Error | undefined;

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (answer: DigestAnswer) => this.#answered(answer));
    this.#worker.on('error', (error) => this.#failed(error));
    this.#worker.on('exit', () => this.#failed(new Error('the worker that computes digests has ended')));
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  run(job: DigestJob): Promise<Digests | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#queue.push({ job, resolve, reject });
      this.#send();
    });
  }

  #send(): void {
    while (this.#queue.length > 0 && this.#sent.length < messagesAtOnce) {
      if (this.#sent.length === 0) this.#worker.ref();
      const jobs = this.#queue.splice(0, jobsAtOnce);
      this.#sent.push(jobs);
      this.#worker.postMessage(jobs.map(({ job }) => job));
    }
  }

  #answered(answer: DigestAnswer): void {
    for (const [index, { resolve }] of (this.#sent.shift() ?? []).entries()) resolve(answer[index]);
    this.#send();
    if (this.#sent.length === 0) this.#worker.unref();
  }

  /** Who waits is told; the next stream starts another worker. */
  #failed(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of [...this.#sent.splice(0).flat(), ...this.#queue.splice(0)])
      reject(this.#failure);
  }
}

const workers: DigestWorker[] = [];
let lastStream = 0;

/** The main thread has a processor to itself, if there are several. */
function nextWorker(): DigestWorker {
  const index = lastStream % Math.max(1, Math.min(mostWorkers, availableParallelism() - 1));
  let worker = workers[index];
  if (!worker || worker.failed) workers[index] = worker = new DigestWorker();
  return worker;
}
