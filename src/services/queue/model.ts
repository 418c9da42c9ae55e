// What a queue is made of.
//
//   queues      [account, name]                  which incarnation has this name; changed by create, clear, delete
//   properties  id                               metadata and stored access policies
//   messages    [messages id, next visible, seq] one small row a message, in the order they are handed out
//   texts       [messages id, seq]               its text, which a get does not rewrite
//   counts      messages id                      how many there are: a counter
//
// A message is found by its pop receipt, which tells where its row lies: there is no index by id. `seq` is the
// stamp of its insertion. Clearing a queue gives it a new messages id; the old rows are swept.

import type { Counters, Dictionary, Transaction } from '../../collections/index.js';
import type { AccessPolicy } from '../common/access-policy.js';
import { StorageError } from '../common/errors.js';
import type { Garbage } from '../common/garbage.js';
import type { Metadata } from '../common/metadata.js';
import type { Store } from '../common/store.js';
import { Fronts } from './fronts.js';

export interface QueueEntry {
  readonly format: 1;
  readonly id: number;
  readonly messages: number;
  readonly deadLetter?: DeadLetter | undefined;
}

/** A message that was handed out so often, and is due again, goes to the other queue of the account instead. */
export interface DeadLetter {
  readonly afterDequeues: number;
  readonly target: string;
}

export interface QueueProperties {
  readonly metadata: Metadata;
  readonly policies: readonly AccessPolicy[];
}

export interface MessageRow {
  readonly id: string;
  /** Milliseconds since 1970, as all times here; Infinity: it never expires. */
  readonly expires: number;
  readonly dequeued: number;
  /** Drawn anew on each put, get and update: the receipt must name it. */
  readonly nonce: number;
}

export type QueueKey = readonly [account: string, name: string];
export type MessageKey = readonly [messages: number, nextVisible: number, seq: number];

export interface QueueStore extends Store {
  readonly queues: Dictionary<QueueKey, QueueEntry>;
  readonly properties: Dictionary<number, QueueProperties>;
  readonly messages: Dictionary<MessageKey, MessageRow>;
  readonly texts: Dictionary<readonly [messages: number, seq: number], string>;
  readonly counts: Counters<number>;
  readonly garbage: Garbage;
  readonly fronts: Fronts;
}

const garbageKind = 'queue messages';

export async function openQueueStore(store: Store, garbage: Garbage): Promise<QueueStore> {
  const { state } = store;
  const system = { system: true } as const;
  const uncounted = { system: true, count: false } as const;
  const queueStore: QueueStore = {
    ...store,
    queues: await state.dictionary('$system/queue/queues', system),
    properties: await state.dictionary('$system/queue/properties', uncounted),
    messages: await state.dictionary('$system/queue/messages', uncounted),
    texts: await state.dictionary('$system/queue/texts', uncounted),
    counts: await state.counters('$system/queue/counts', system),
    garbage,
    fronts: new Fronts(),
  };
  garbage.register(garbageKind, (id) => sweepMessages(queueStore, id));
  return queueStore;
}

/** The queue as it is now, and must still be when the transaction commits. */
export async function findQueue(store: QueueStore, tx: Transaction, key: QueueKey): Promise<QueueEntry> {
  const entry = await store.queues.get(tx, key, { lock: 'none', check: true });
  if (entry === undefined) throw new StorageError('QueueNotFound');
  return entry;
}

/** The messages under this id go with the commit. */
export async function discardMessages(store: QueueStore, tx: Transaction, id: number): Promise<void> {
  await store.garbage.discard(tx, garbageKind, id);
  tx.onEnd({ ordered: () => store.fronts.forget(id) });
}

const sweepAtOnce = 500;

async function sweepMessages(store: QueueStore, id: number): Promise<boolean> {
  return store.run(async (tx) => {
    let swept = 0;
    for await (const key of store.messages.keys(tx, { prefix: [id], newest: true, pageSize: sweepAtOnce })) {
      await store.messages.delete(tx, key);
      await store.texts.delete(tx, [id, key[2]]);
      if (++swept === sweepAtOnce) return true;
    }
    await store.counts.remove(tx, id);
    return false;
  });
}
