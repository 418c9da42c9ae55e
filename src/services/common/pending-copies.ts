// Copies whose bytes come in the background: the target is there at once, pending, and filled when all have come. A
// copy is a row of its own until it has ended, so it goes on after a restart, and where its end could not be stored.
//
//   pending ── all came ────────────────────> success     the content is there, with a new ETag
//      ├────── aborted by a client ─────────> aborted     the target is empty
//      ├────── the source failed, or 2 weeks > failed     the target is empty
//      └────── overwritten or deleted ──────>             the copy ends with its target
//
// While it is pending nobody else writes to the target; whoever ends it does so in a transaction that finds the copy
// still pending, so it ends once. Of those from other servers so many go on at a time; the rest wait in order.
//
// A source that cannot be reached, breaks off or answers that it is busy is asked again, ten times in about four
// minutes, each time from the beginning; the target tells meanwhile what went wrong. One that refuses, or is another
// than it was, fails the copy at once.

import type { Body } from './body.js';
import { Pauses } from './pauses.js';
import { CopyFailure, type FetchSource, fetchAgain, type PendingCopy } from './sources.js';

/** What copies go to: blobs, or files. */
export interface CopyTargets<Key, Copy extends PendingCopy> {
  all(): Promise<readonly (readonly [Key, Copy])[]>;
  now(): number;
  receive(chunks: AsyncIterable<Buffer>, length: number): Promise<Body>;
  /** So many bytes have come, or why it begins again. Throws if the copy is not pending any more. */
  tell(key: Key, copy: Copy, copied: number, description?: string): Promise<void>;
  finish(key: Key, copy: Copy, body: Body): Promise<void>;
  fail(key: Key, copy: Copy, description: string): Promise<void>;
}

const longestMs = 14 * 24 * 3600 * 1000;
const progressMs = 1000;
const mostAtOnce = 32;
/** Before the source is asked again. */
const pausesMs = [1, 2, 4, 8, 16, 30, 60, 60, 60].map((seconds) => seconds * 1000);

export class PendingCopies<Key, Copy extends PendingCopy> {
  readonly #targets: CopyTargets<Key, Copy>;
  readonly #fetchSource: FetchSource;
  readonly #report: (error: unknown) => void;
  readonly #turns = new Turns(mostAtOnce);
  readonly #pauses = new Pauses(() => this.#targets.now());
  readonly #running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  #closed = false;

  constructor(targets: CopyTargets<Key, Copy>, fetchSource: FetchSource, report: (error: unknown) => void) {
    this.#targets = targets;
    this.#fetchSource = fetchSource;
    this.#report = report;
  }

  /** Goes on with all that are pending and not under way. */
  async resume(): Promise<void> {
    const running = new Set(this.#running.keys()); // one that ends meanwhile is not begun again
    const all = await this.#targets.all();
    if (this.#closed) return;
    for (const [key, copy] of all) if (!running.has(copy.id)) this.start(key, copy);
  }

  /** Resolves when it has ended, however it did. */
  start(key: Key, copy: Copy): Promise<void> {
    const known = this.#running.get(copy.id);
    if (known !== undefined) return known.ended;
    const stop = new AbortController();
    const ended = this.#run(key, copy, stop.signal)
      .catch(this.#report)
      .finally(() => this.#running.delete(copy.id));
    this.#running.set(copy.id, { stop, ended });
    return ended;
  }

  /** Those whose pause is over by the clock go on, and those that nobody is at. */
  async wake(): Promise<void> {
    this.#pauses.wake();
    await this.resume();
  }

  /** A client has aborted it: its bytes need not come. */
  stop(id: string): void {
    this.#running.get(id)?.stop.abort();
  }

  /** Those under way stay pending, for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#running.values()];
    for (const { stop } of all) stop.abort('closing');
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #run(key: Key, copy: Copy, signal: AbortSignal): Promise<void> {
    try {
      for (const pauseMs of pausesMs) {
        const failure = await this.#attempt(key, copy, signal).catch(passing);
        if (failure === undefined) return;
        signal.throwIfAborted();
        await this.#targets.tell(key, copy, 0, failure.message);
        await this.#pauses.take(pauseMs, signal);
      }
      await this.#attempt(key, copy, signal);
    } catch (error) {
      if (signal.reason === 'closing') return;
      await this.#targets.fail(key, copy, descriptionOf(error));
    }
  }

  async #attempt(key: Key, copy: Copy, signal: AbortSignal): Promise<void> {
    using _turn = copy.own === undefined ? await this.#turns.take(signal) : undefined;
    const source = await fetchAgain(this.#fetchSource, copy, signal);
    const counted = this.#counted(key, copy, source.body);
    using body = await this.#targets.receive(counted, source.length);
    await this.#targets.finish(key, copy, body);
  }

  /** Tells now and then how far it is. */
  async *#counted(key: Key, copy: Copy, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let copied = 0;
    let toldAt = this.#targets.now();
    for await (const chunk of chunks) {
      yield chunk;
      copied += chunk.length;
      const now = this.#targets.now();
      if (now - copy.began > longestMs) throw new CopyFailure('500 OperationCancelled');
      if (now - toldAt < progressMs) continue;
      toldAt = now;
      await this.#targets.tell(key, copy, copied);
    }
  }
}

/** A failure that another attempt may not meet. */
function passing(error: unknown): CopyFailure {
  if (error instanceof CopyFailure && error.passes) return error;
  throw error;
}

function descriptionOf(error: unknown): string {
  if (error instanceof CopyFailure) return error.message;
  return `500 InternalError "${error instanceof Error ? error.message : String(error)}"`;
}

/** So many at a time, the others in the order in which they came. */
class Turns {
  #left: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#left = count;
  }

  /** Resolves when it is somebody's turn, which ends when it is disposed. Rejects if they stop waiting. */
  async take(signal: AbortSignal): Promise<Disposable> {
    if (this.#left > 0) this.#left--;
    else await this.#wait(signal);
    return { [Symbol.dispose]: () => this.#end() };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.push(begin);
    });
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#left++;
    else next();
  }
}
