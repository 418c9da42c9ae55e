// What can be said of a state manager when it is opened, and of its collections.

import type { Engine } from '../engine/engine.js';
import { openEngine } from '../engine/level.js';
import type { Codec } from './codec.js';
import { ArgumentError } from './errors.js';
import type { StateListener } from './notifications.js';
import type { ErrorListener, TransactionListener } from './notifier.js';
import { checkNumber, type Settings } from './options.js';
import type { Transaction } from './transaction.js';
import type { WaitOptions } from './waits.js';

export type StateLocation =
  | { readonly location: string }
  | { readonly memory: true }
  | { readonly engine: Engine };

export type StateOptions = StateLocation &
  Partial<Settings> & {
    /** Codecs for collections that are used by name alone; each is known by its name and version. */
    readonly codecs?: readonly Codec[];
    /** How much may be noted for incremental backups before the next one must be full; 256 MiB unless given. */
    readonly maxBackupLogBytes?: number;
    /** New data is refused while less is free on the disk; 256 MiB unless given. */
    readonly minFreeBytes?: number;
    /** As `onStateChange`, from before the first: it is told of the rebuild. */
    readonly onStateChange?: StateListener;
    readonly onTransaction?: TransactionListener;
    readonly onError?: ErrorListener;
  };

export interface CollectionOptions<V> extends WaitOptions {
  /** Creates it as part of this transaction. */
  readonly tx?: Transaction;
  /** How its values become bytes: MessagePack unless given. */
  readonly codec?: Codec<V>;
  /** Allows a name under `$system/`, which `list()` does not show: for who builds a service on the library. */
  readonly system?: boolean;
}

export interface DictionaryOptions<V> extends CollectionOptions<V> {
  /** `false` where nobody asks for the count and no row expires: writes then need not know what was there. */
  readonly count?: boolean;
}

export interface ConcurrentQueueOptions<V> extends CollectionOptions<V> {
  /** One item more, those of open transactions included, is a `QueueFullError`. */
  readonly maxSize?: number;
}

/** Where it shall be, in one way and no other: memory in place of a folder would lose what is stored. */
export function checkPlace(options: StateOptions): void {
  const { location, memory, engine } = (options ?? {}) as Partial<Record<string, unknown>>;
  const given = [location, memory === false ? undefined : memory, engine].filter(
    (place) => place !== undefined,
  );
  const isFolder = typeof location === 'string' && location !== '';
  if (given.length !== 1 || !(isFolder || memory === true || engine !== undefined))
    throw new ArgumentError('open needs one of { location: a folder }, { memory: true } or { engine }');
}

/** The engine it is to stand on; what cannot be is refused. */
export function engineOf(options: StateOptions): Promise<Engine> | Engine {
  const { maxBackupLogBytes, minFreeBytes } = options;
  if (maxBackupLogBytes !== undefined)
    checkNumber('maxBackupLogBytes', maxBackupLogBytes, 0, Number.MAX_SAFE_INTEGER);
  if (minFreeBytes !== undefined) checkNumber('minFreeBytes', minFreeBytes, 0, Number.MAX_SAFE_INTEGER);
  const { engine, location } = options as { engine?: Engine; location?: string };
  if (engine !== undefined) return engine;
  return openEngine(location === undefined ? { memory: true } : { location }, {
    ...(maxBackupLogBytes !== undefined && { maxChangeLogBytes: maxBackupLogBytes }),
    ...(minFreeBytes !== undefined && { floorBytes: minFreeBytes }),
  });
}
