// An open segment: who appends gets room at once, writes into it in any order, and asks for a sync.
//
//   enter    takes the next bytes of the file, before the file is even there
//   write    waits its turn; what lies side by side goes into one call, two calls at a time
//   sync     one fdatasync serves all who asked before it began; who asks later shares the next
//
// The first write or sync that fails ends it: the kernel may have dropped what was not yet on disk, and a
// later sync would not tell. All that waits is rejected, nothing more is taken; what was synced stays.

import { AppendError, ExtentError, ExtentsClosedError } from './errors.js';
import { encodeHeader } from './layout.js';
import type { SegmentFile, SegmentFiles } from './memory.js';
import type { Segment } from './segment.js';

interface Job {
  readonly position: number;
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** What one call to the disk carries at most, and how many calls are under way. */
const bytesAtOnce = 1024 * 1024;
const piecesAtOnce = 256;
const callsAtOnce = 2;
/** How long a piece of a body waits for the next. */
const patienceMs = 2;

export class Appender {
  readonly segment: Segment;
  /** Its file was closed: it takes no more, and nothing it took is under way. Never rejects. */
  readonly done: Promise<void>;
  readonly #file: Promise<SegmentFile>;
  /** The name of the file is on disk. */
  readonly #named: Promise<void>;
  /** By position, oldest first. */
  #queue = new Map<number, Job>();
  #settle: () => void = () => {};
  #writers = 0;
  #calls = 0;
  #syncs = 0;
  /** All calls are under way and more waits. */
  #behind = false;
  #pumpSoon: NodeJS.Immediate | undefined;
  #pumpLater: NodeJS.Timeout | undefined;
  #lastSync: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  #sealed = false;
  #failure: Error | undefined;

  constructor(segment: Segment, files: SegmentFiles, folder: string) {
    this.segment = segment;
    this.#file = create(files, segment);
    this.#named = this.#file.then(() => files.syncFolder(folder));
    this.#named.catch((error) => this.#fail(error));
    this.done = new Promise<void>((resolve) => {
      this.#settle = resolve;
    }).then(() => this.#close());
  }

  /** Whether it takes no more. */
  get ended(): boolean {
    return this.#sealed || this.#failure !== undefined;
  }

  /** Takes room for so many bytes and gives its position; `leave` must follow. */
  enter(bytes: number): number {
    const position = this.segment.end;
    this.segment.end += bytes;
    this.#writers++;
    return position;
  }

  /** A writer has ended, well or not. */
  leave(): void {
    this.#writers--;
    this.#settleIfDone();
  }

  /** Takes no more; who has room already goes on. */
  seal(): void {
    this.#sealed = true;
    this.#settleIfDone();
  }

  /** Ends when the bytes are written, not yet on disk. `more`: what follows them will come soon. */
  write(position: number, bytes: Buffer, more: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#queue.set(position, { position, bytes, resolve, reject });
      if (more) this.#pumpLater ??= setTimeout(this.#pump, patienceMs);
      // What else arrives in this turn of the event loop goes along.
      else this.#pumpSoon ??= setImmediate(this.#pump);
    });
  }

  /** Ends when all that was written before is on disk. */
  sync(): Promise<void> {
    if (!this.#nextSync) {
      this.#nextSync = this.#syncAfter(this.#lastSync);
      this.#lastSync = this.#nextSync.catch(() => {});
    }
    return this.#nextSync;
  }

  /** Who is still writing is rejected; what was written can still be synced. */
  close(): Promise<void> {
    if (this.#writers > 0) this.#fail(new ExtentsClosedError('the store was closed'));
    this.seal();
    return this.done;
  }

  #fail(cause: unknown): Error {
    if (!this.#failure) {
      this.#failure = cause instanceof ExtentError ? cause : failureOf(this.segment, cause);
      for (const job of this.#queue.values()) job.reject(this.#failure);
      this.#queue.clear();
    }
    this.#settleIfDone();
    return this.#failure;
  }

  async #syncAfter(earlier: Promise<void> | undefined): Promise<void> {
    this.#syncs++;
    try {
      await earlier;
      this.#nextSync = undefined;
      if (this.#failure) throw this.#failure;
      await (await this.#file).sync();
      await this.#named;
    } catch (error) {
      throw this.#fail(error);
    } finally {
      this.#syncs--;
      this.#settleIfDone();
    }
  }

  readonly #pump = (): void => {
    clearTimeout(this.#pumpLater);
    clearImmediate(this.#pumpSoon);
    this.#pumpLater = undefined;
    this.#pumpSoon = undefined;
    while (this.#calls < callsAtOnce && this.#queue.size > 0) void this.#write(this.#takeRun());
    this.#behind = this.#queue.size > 0;
  };

  async #write(run: readonly Job[]): Promise<void> {
    this.#calls++;
    try {
      const file = await this.#file;
      await file.write(
        run.map((job) => job.bytes),
        run[0]?.position ?? 0,
      );
      for (const job of run) job.resolve();
    } catch (error) {
      const failure = this.#fail(error);
      for (const job of run) job.reject(failure);
    }
    this.#calls--;
    if (this.#behind) this.#pump();
    this.#settleIfDone();
  }

  /** The oldest that waits and those that follow it in the file without a gap. */
  #takeRun(): Job[] {
    const run: Job[] = [];
    let bytes = 0;
    let job: Job | undefined = this.#queue.values().next().value;
    while (job && bytes < bytesAtOnce && run.length < piecesAtOnce) {
      run.push(job);
      bytes += job.bytes.length;
      this.#queue.delete(job.position);
      job = this.#queue.get(job.position + job.bytes.length);
    }
    if (this.#queue.size === 0) this.#queue = new Map(); // what was in an old one would grow old, see base/bag.ts
    return run;
  }

  #settleIfDone(): void {
    if (!this.ended || this.#calls + this.#syncs + this.#queue.size > 0) return;
    // A writer of one that failed can do nothing more.
    if (this.#writers === 0 || this.#failure) this.#settle();
  }

  async #close(): Promise<void> {
    const file = await this.#file.catch(() => undefined);
    await this.#named.catch(() => {});
    await file?.close().catch(() => {});
  }
}

async function create(files: SegmentFiles, segment: Segment): Promise<SegmentFile> {
  const file = await files.open(segment.path, 'new');
  try {
    await file.write(encodeHeader(segment.number), 0);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function failureOf(segment: Segment, cause: unknown): AppendError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppendError(`writing ${segment.path} failed, it takes no more: ${reason}`, { cause });
}
