// Reliable Collections: transactional dictionaries and queues on an embedded, durable store.

export type { KeyPart, Utf16 } from '../engine/keys.js';
export { utf16 } from '../engine/keys.js';
export type { BackupInfo, BackupOptions, RestoreOptions } from './backups.js';
export type { Codec } from './codec.js';
export { defaultCodec, NotSerializableError } from './codec.js';
export type { Collection, CollectionKey } from './collection.js';
export { ConcurrentQueue } from './concurrent-queue.js';
export { type AddOptions, type CounterReadOptions, Counters } from './counters.js';
export { Dictionary, type EntriesOptions, type ReadOptions, type WriteOptions } from './dictionary.js';
export type { RangeOptions } from './enumerate.js';
export * from './errors.js';
export type { InspectedTransaction, Inspection } from './inspect.js';
export type { Role } from './kernel.js';
export type { LockMode } from './lock-entries.js';
export type { HeldLock, LockedKey } from './locks.js';
export type {
  DictionaryChange,
  DictionaryListener,
  Rebuild,
  StateChange,
  StateListener,
} from './notifications.js';
export type { ErrorListener, TransactionListener } from './notifier.js';
export type { Settings } from './options.js';
export { type PeekOptions, Queue } from './queue.js';
export type { RunOptions } from './run.js';
export { StateManager } from './state.js';
export type {
  CollectionOptions,
  ConcurrentQueueOptions,
  DictionaryOptions,
  StateLocation,
  StateOptions,
} from './state-options.js';
export type { Transaction } from './transaction.js';
export type {
  CommitOptions,
  TransactionHook,
  TransactionOptions,
  TransactionStatus,
} from './transaction-options.js';
export type { WaitOptions } from './waits.js';
export type { Watched, WatchRange } from './watch.js';
