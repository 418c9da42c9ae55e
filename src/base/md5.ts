// MD5, of a small body at once and of a large one beside the main thread.
//
// MD5 runs at some 600 MB/s and cannot be split. On the main thread that is a third of what it has to give
// to a server that takes in large bodies; in a worker it costs a copy of the bytes. Measured with four
// connections that send 4 MiB each, two cores, client included: 340 MB/s on the main thread, 460 beside it,
// 610 without MD5. Below `worthwhile` the messages cost more than they save.
//
// A stream gathers chunks and copies them into a slot of shared memory once a slot is full: a client that is
// slow holds no slot, so it cannot keep others waiting. The worker answers with the slot, which is free again.

import { createHash, type Hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Bytes } from './bytes.js';
import type { Md5Answer, Md5Job } from './md5-worker.js';

export interface Md5Stream {
  /** Nothing, or a promise to wait for before the next one. The bytes must not change before the digest. */
  update(bytes: Bytes): Promise<void> | undefined;
  /** Once, at the end. */
  digest(): Buffer | Promise<Buffer>;
  /** Instead of `digest`, where a stream is given up. After it, nothing happens. */
  discard(): void;
}

const slotBytes = 256 * 1024;
const slots = 16;
const worthwhile = 512 * 1024;

export function md5(bytes: Bytes): Buffer {
  return createHash('md5').update(bytes).digest();
}

/** `expectedBytes`: how much will come, as far as is known; it decides where the work is done. */
export function md5Stream(expectedBytes = 0): Md5Stream {
  return expectedBytes < worthwhile ? new HereStream() : new BesideStream((shared ??= new Beside()));
}

class HereStream implements Md5Stream {
  readonly #hash: Hash = createHash('md5');

  update(bytes: Bytes): undefined {
    this.#hash.update(bytes);
  }

  digest(): Buffer {
    return this.#hash.digest();
  }

  discard(): void {}
}

class BesideStream implements Md5Stream {
  readonly #beside: Beside;
  readonly #id: number;
  #gathered: Bytes[] = [];
  #gatheredBytes = 0;
  /** The last slot waited for; what comes after it waits for it too, so that the order stays. */
  #sending: Promise<void> | undefined;
  #discarded = false;

  constructor(beside: Beside) {
    this.#beside = beside;
    this.#id = beside.open();
  }

  update(bytes: Bytes): Promise<void> | undefined {
    let at = 0;
    while (this.#gatheredBytes + bytes.length - at >= slotBytes) {
      const end = at + slotBytes - this.#gatheredBytes;
      this.#gather(bytes.subarray(at, end));
      at = end;
      this.#send();
    }
    if (at < bytes.length) this.#gather(bytes.subarray(at));
    return this.#sending;
  }

  digest(): Promise<Buffer> {
    this.#send();
    const ask = () => this.#beside.digest(this.#id);
    return this.#sending === undefined ? ask() : this.#sending.then(ask);
  }

  discard(): void {
    if (this.#discarded) return;
    this.#discarded = true;
    this.#gathered = [];
    this.#beside.discard(this.#id);
  }

  #gather(bytes: Bytes): void {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
  }

  #send(): void {
    const chunks = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (chunks.length === 0 || this.#discarded) return;
    const slot = this.#sending === undefined ? this.#beside.takeSlot() : undefined;
    if (slot !== undefined) this.#beside.send(this.#id, slot, chunks);
    else {
      const sending = this.#sendLater(chunks, this.#sending);
      this.#sending = sending;
      const sent = () => {
        if (this.#sending === sending) this.#sending = undefined;
      };
      sending.then(sent, () => {}); // a failure is told by `update` and `digest`
    }
  }

  async #sendLater(chunks: Bytes[], before: Promise<void> | undefined): Promise<void> {
    await before;
    const slot = this.#beside.takeSlot() ?? (await this.#beside.waitForSlot());
    if (this.#discarded) this.#beside.giveSlot(slot);
    else this.#beside.send(this.#id, slot, chunks);
  }
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** The worker and its memory. It keeps the process alive only while somebody waits for it. */
class Beside {
  readonly #memory = new Uint8Array(new SharedArrayBuffer(slots * slotBytes));
  readonly #worker: Worker;
  readonly #free = Array.from({ length: slots }, (_, slot) => slot);
  readonly #waiting: Waiting<number>[] = [];
  readonly #digests = new Map<number, Waiting<Buffer>>();
  #lastId = 0;
  #failure: Error | undefined;

  constructor() {
    this.#worker = new Worker(new URL('./md5-worker.js', import.meta.url), {
      workerData: { memory: this.#memory, slotBytes },
    });
    this.#worker.unref();
    this.#worker.on('message', (answer: Md5Answer) => this.#answered(answer));
    this.#worker.on('error', (error) => this.#failed(error));
    this.#worker.on('exit', () => this.#failed(new Error('the worker that computes MD5 has ended')));
  }

  open(): number {
    return ++this.#lastId;
  }

  takeSlot(): number | undefined {
    return this.#free.pop();
  }

  waitForSlot(): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#waiting.push({ resolve, reject });
      this.#worker.ref();
    });
  }

  giveSlot(slot: number): void {
    const next = this.#waiting.shift();
    if (next) next.resolve(slot);
    else this.#free.push(slot);
  }

  send(id: number, slot: number, chunks: readonly Bytes[]): void {
    const start = slot * slotBytes;
    let at = start;
    for (const chunk of chunks) {
      this.#memory.set(chunk, at);
      at += chunk.length;
    }
    this.#post({ id, slot, length: at - start });
  }

  digest(id: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#digests.set(id, { resolve, reject });
      this.#worker.ref();
      this.#post({ id, end: 'digest' });
    });
  }

  discard(id: number): void {
    this.#post({ id, end: 'discard' });
  }

  #post(job: Md5Job): void {
    this.#worker.postMessage(job);
  }

  #answered(answer: Md5Answer): void {
    if ('slot' in answer) this.giveSlot(answer.slot);
    else {
      this.#digests.get(answer.id)?.resolve(Buffer.from(answer.digest));
      this.#digests.delete(answer.id);
    }
    if (this.#waiting.length === 0 && this.#digests.size === 0) this.#worker.unref();
  }

  /** Who waits is told; the next stream starts another worker. */
  #failed(error: Error): void {
    this.#failure = error;
    if (shared === this) shared = undefined;
    for (const waiting of [...this.#waiting.splice(0), ...this.#digests.values()]) waiting.reject(error);
    this.#digests.clear();
  }
}

let shared: Beside | undefined;
