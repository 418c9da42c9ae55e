// What the transactions and the collections of one state manager share.

import { Bag } from '../base/bag.js';
import type { Engine, Version } from '../engine/engine.js';
import { NotPrimaryError, NotReadableError, ObjectClosedError } from './errors.js';
import { isCollectionLock } from './lock-names.js';
import { LockTable } from './locks.js';
import { Notifier } from './notifier.js';
import type { Settings } from './options.js';
import type { Transaction } from './transaction.js';

/** Which calls are allowed, and with which isolation. A single process is primary; the others are for nodes. */
export type Role = 'primary' | 'secondary' | 'none';

export class Kernel {
  readonly engine: Engine;
  /** A key of the engine, or of a lock, in the words of an error. */
  readonly describe: (key: string) => string;
  readonly settings: Settings;
  readonly locks: LockTable;
  readonly notifier: Notifier;
  /** Transactions that have not ended. */
  readonly live = new Bag<Transaction>();
  closed = false;
  /** Commits refused because a read no longer held. */
  conflicts = 0;
  /** Called when the state manager closes: waits that are not for a lock end. */
  readonly onClose = new Set<() => void>();
  /** The newest commit of this process, and the newest that changed the catalogue. */
  newest: Version = 0;
  catalogVersion: Version = 0;
  /** How often commits were lost, or may have turned up: not even what is locked need be what it was. */
  resets = 0;
  /** How often the role of the primary was lost: the locks of that time are gone. */
  term = 0;
  #role: Role = 'primary';
  #lastId = 0;

  constructor(engine: Engine, settings: Settings, describe: (key: string) => string) {
    this.engine = engine;
    this.describe = describe;
    this.settings = settings;
    this.locks = new LockTable(describe, { ...settings, isWhole: isCollectionLock });
    this.notifier = new Notifier(engine, settings.slowListenerMs);
  }

  get role(): Role {
    return this.#role;
  }

  set role(role: Role) {
    if (this.#role === 'primary' && role !== 'primary') this.term++;
    this.#role = role;
  }

  /** Rising, and unique in this process. */
  drawId(): number {
    this.#lastId = Math.max(this.#lastId + 1, Math.floor(this.engine.clock.now() * 1000));
    return this.#lastId;
  }

  assertOpen(): void {
    if (this.closed) throw new ObjectClosedError('the state manager is closed: open it again');
  }

  assertReadable(): void {
    this.assertOpen();
    if (this.#role === 'none')
      throw new NotReadableError('this replica cannot be read for now: try again, or elsewhere');
  }

  assertPrimary(): void {
    this.assertOpen();
    if (this.#role !== 'primary')
      throw new NotPrimaryError('only the primary can write: find it and write there');
  }
}
