// The store as it is open now, and what happens when a write to it fails.
//
//   open      read and written
//   failed    a write failed: LevelDB's log may be torn, and what the same handle wrote later could be
//             acknowledged and gone after a crash, so it is never written again. Reads go on from what is
//             durable, as long as the handle is there.
//   opening   the disk took a probe: the old handle is closed, then the store is opened again, in this
//             order because it does not open twice. Reads wait.
//   closed    for good
//
// On a full disk the reserve is given up before the probe is tried again.

import { setTimeout as delay } from 'node:timers/promises';
import type { Disk } from './disk.js';
import { ClosedError, UnavailableError } from './errors.js';
import { Handle } from './handle.js';
import { loadMarks, type Marks, marksOperation } from './marks.js';
import { isFull } from './reserve.js';
import type { Operation, Store } from './store.js';

type State =
  | { readonly name: 'open'; readonly handle: Handle }
  | { readonly name: 'failed'; readonly handle: Handle | undefined; readonly cause: unknown }
  | { readonly name: 'opening'; readonly opened: Promise<void>; readonly cause: unknown }
  | { readonly name: 'closed' };

/** What is written first whenever the store is opened, made of what was found there. */
export type NextMarks = (found: Marks) => Marks;

export interface LiveStoreOptions {
  readonly marks: NextMarks;
  /** Reads what else is kept there, before anything is written. */
  readonly load: (store: Store) => Promise<void>;
  /** It was opened again: what was lost may have turned up. */
  readonly reopened: () => void;
  readonly retryMs: number;
}

export class LiveStore {
  readonly #disk: Disk;
  readonly #options: LiveStoreOptions;
  #state: State = { name: 'closed' };
  #recovery: Promise<void> | undefined;
  readonly #end = new AbortController();

  constructor(disk: Disk, options: LiveStoreOptions) {
    this.#disk = disk;
    this.#options = options;
  }

  /** A disk that is full does not keep the store from being read. */
  async open(): Promise<void> {
    try {
      this.#state = { name: 'open', handle: await openMarked(this.#disk, this.#options) };
      return;
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.#disk.reserve.giveUp();
    }
    try {
      this.#state = { name: 'open', handle: await openMarked(this.#disk, this.#options) };
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      this.#state = { name: 'open', handle: new Handle(await this.#disk.open()) };
      this.fail(cause);
    }
  }

  get writable(): boolean {
    return this.#state.name === 'open';
  }

  get closed(): boolean {
    return this.#state.name === 'closed';
  }

  get damage(): Error | undefined {
    return this.#disk.damage;
  }

  /** Why nothing is written. */
  get cause(): unknown {
    return 'cause' in this.#state ? this.#state.cause : undefined;
  }

  /** What can be read now; nothing while the store is being opened again, see `opened`. */
  get handle(): Handle | undefined {
    const state = this.#state;
    switch (state.name) {
      case 'open':
        return state.handle;
      case 'opening':
        return undefined;
      case 'closed':
        throw new ClosedError('The store was closed.');
      default:
        if (state.handle !== undefined) return state.handle;
        throw unavailable(state.cause);
    }
  }

  /** Ends when the store is open again, or that has failed. */
  get opened(): Promise<void> {
    return this.#state.name === 'opening' ? this.#state.opened : Promise.resolve();
  }

  write(operations: Operation[]): Promise<void> {
    const state = this.#state;
    if (state.name !== 'open') return Promise.reject(unavailable(this.cause));
    return state.handle.store.write(operations);
  }

  /** A write has failed. */
  fail(cause: unknown): void {
    if (this.#state.name !== 'open') return;
    const { handle } = this.#state;
    this.#state = { name: 'failed', handle, cause };
    this.#recovery = this.#recover(handle);
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { name: 'closed' };
    this.#end.abort();
    await this.#recovery;
    if (state.name === 'open' || (state.name === 'failed' && !state.handle?.retired)) {
      await state.handle?.close();
    }
    await this.#disk.close();
  }

  async #recover(failed: Handle): Promise<void> {
    let old: Handle | undefined = failed;
    while (!this.closed) {
      const answered = await this.#probe();
      if (this.closed) return;
      if (answered) {
        const opening = this.#reopen(old);
        old = undefined;
        if (await opening) return;
      }
      await delay(this.#options.retryMs, undefined, { ref: false, signal: this.#end.signal }).catch(() => {});
    }
  }

  async #probe(): Promise<boolean> {
    try {
      await this.#disk.probe();
      return true;
    } catch (error) {
      // Only a full disk is helped by the reserve; on any other it would be given up for nothing.
      if (!isFull(error) || !(await this.#disk.reserve.giveUp().catch(() => false))) return false;
    }
    return tryProbe(this.#disk);
  }

  async #reopen(old: Handle | undefined): Promise<boolean> {
    const { cause } = this;
    let done = (): void => {};
    const opened = new Promise<void>((resolve) => {
      done = resolve;
    });
    this.#state = { name: 'opening', opened, cause };
    try {
      await old?.close();
      const handle = await openMarked(this.#disk, this.#options);
      if (this.closed) {
        await handle.close();
        return true;
      }
      this.#state = { name: 'open', handle };
      this.#options.reopened();
      return true;
    } catch (error) {
      if (!this.closed) this.#state = { name: 'failed', handle: undefined, cause: error };
      return false;
    } finally {
      done();
    }
  }
}

/** Opens the store and writes its marks anew: only now is it known that it can be written. */
async function openMarked(disk: Disk, { load, marks }: LiveStoreOptions): Promise<Handle> {
  const store = await disk.open();
  try {
    await load(store);
    await store.write([marksOperation(marks(loadMarks(store)))]);
    return new Handle(store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function tryProbe(disk: Disk): Promise<boolean> {
  return disk.probe().then(
    () => true,
    () => false,
  );
}

function unavailable(cause: unknown): UnavailableError {
  return new UnavailableError(
    'The store cannot be opened since a write to disk failed. It is tried again each second.',
    { cause },
  );
}
