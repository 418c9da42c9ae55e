// Messages: put, get, peek, update, delete and clear.
//
// A message that is handed out gets a later row: its next visible time is part of the key, so whoever looks for
// what is visible reads from the front and stops at the first that is not. Visibility and expiry are judged by
// the time of the decision; no timer makes them true.

import { LockTimeoutError, type Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { type ReadAhead, window } from './front.js';
import {
  discardMessages,
  findQueue,
  type MessageKey,
  type MessageRow,
  type QueueKey,
  type QueueStore,
} from './model.js';
import { encodeReceipt, type Receipt } from './receipts.js';

export interface Message {
  readonly id: string;
  readonly inserted: number;
  readonly expires: number;
  readonly nextVisible: number;
  readonly dequeued: number;
  readonly receipt: string;
  readonly text: string;
}

/** `seq` is the stamp of the insertion, in microseconds. */
const insertedMs = (seq: number) => Math.floor(seq / 1000);

export interface NewMessage {
  readonly id: string;
  readonly text: string;
  readonly nonce: number;
  readonly visibilityMs: number;
  /** Infinity: it never expires. */
  readonly ttlMs: number;
}

export function putMessage(store: QueueStore, queue: QueueKey, message: NewMessage): Promise<Message> {
  return store.run(async (tx) => {
    const { messages } = await findQueue(store, tx, queue);
    const seq = tx.stamp();
    const key: MessageKey = [messages, tx.now + message.visibilityMs, seq];
    const { id, nonce, text } = message;
    const row = { id, expires: tx.now + message.ttlMs, dequeued: 0, nonce };
    await writeRow(store, tx, key, row);
    await store.texts.set(tx, [messages, seq], text);
    await store.counts.add(tx, messages, 1);
    return shown(key, row, text);
  });
}

/** How long a get that has nothing yet waits for who is at work on a message: that one may be refused and leave it. */
const patienceMs = 1000;

/** Up to `most` visible messages, each to nobody else for `visibilityMs`. */
export function getMessages(
  store: QueueStore,
  queue: QueueKey,
  options: { readonly most: number; readonly visibilityMs: number; readonly nonce: () => number },
): Promise<Message[]> {
  return store.run(async (tx) => {
    const { messages, deadLetter } = await findQueue(store, tx, queue);
    const front = store.fronts.of(messages);
    const read = readAhead(store, tx, messages);
    const taken: Message[] = [];
    while (taken.length < options.most) {
      const key = await front.take(tx, read);
      if (key === undefined) break;
      const row = await lockRow(store, tx, key, tx.hasWrites ? 0 : patienceMs);
      if (row === 'in use') front.leave(tx, key);
      if (row === undefined) front.gone(key);
      if (row === undefined || row === 'in use') continue;
      if (row.expires <= tx.now) {
        await dropMessage(store, tx, key);
        continue;
      }
      const text = (await store.texts.get(tx, [messages, key[2]], { lock: 'none' })) ?? '';
      if (deadLetter !== undefined && row.dequeued >= deadLetter.afterDequeues) {
        if (await moveMessage(store, tx, [queue[0], deadLetter.target], key, row, text)) continue;
      }
      const later: MessageKey = [messages, tx.now + options.visibilityMs, key[2]];
      const handedOut = { ...row, dequeued: row.dequeued + 1, nonce: options.nonce() };
      await store.messages.delete(tx, key);
      await writeRow(store, tx, later, handedOut);
      taken.push(shown(later, handedOut, text));
    }
    return taken;
  });
}

/**
 * The same, but where there is none it waits for one to come or to become visible, as long as it is told. A client
 * that went away meanwhile gets none: it would be hidden for nobody.
 */
export async function awaitMessages(
  store: QueueStore,
  queue: QueueKey,
  options: Parameters<typeof getMessages>[2] & { readonly waitMs: number; isGone(): boolean },
): Promise<Message[]> {
  const until = performance.now() + options.waitMs;
  for (;;) {
    const { messages } = await store.run((tx) => findQueue(store, tx, queue));
    const arrival = store.fronts.arrival(messages);
    try {
      if (options.isGone()) return [];
      const found = await getMessages(store, queue, options);
      const left = until - performance.now();
      if (found.length > 0 || left <= 0) return found;
      await arrival.within(Math.min(left, lookAgainMs));
    } finally {
      arrival.end();
    }
  }
}

/** A message that becomes visible by time alone tells nobody. */
const lookAgainMs = 250;

/** Whether it went: the other queue may be gone. It begins there anew, with the time it has left. */
async function moveMessage(
  store: QueueStore,
  tx: Transaction,
  target: QueueKey,
  key: MessageKey,
  row: MessageRow,
  text: string,
): Promise<boolean> {
  const entry = await store.queues.get(tx, target, { lock: 'none', check: true });
  if (entry === undefined) return false;
  await dropMessage(store, tx, key);
  const moved: MessageKey = [entry.messages, tx.now, tx.stamp()];
  await writeRow(store, tx, moved, { ...row, dequeued: 0 });
  await store.texts.set(tx, [entry.messages, moved[2]], text);
  await store.counts.add(tx, entry.messages, 1);
  return true;
}

/** What a get would return, left as it is. */
export function peekMessages(store: QueueStore, queue: QueueKey, most: number): Promise<Message[]> {
  return store.run(async (tx) => {
    const { messages } = await findQueue(store, tx, queue);
    const { start, seen } = store.fronts.of(messages);
    tx.see(seen);
    const from = start === undefined ? {} : { from: start };
    const found: Message[] = [];
    const range = {
      prefix: [messages],
      to: [messages, nextAfter(tx.now)],
      newest: true,
      pageSize: most * 2,
      ...from,
    };
    for await (const [key, row] of store.messages.entries(tx, range)) {
      if (row.expires <= tx.now) continue;
      const text = (await store.texts.get(tx, [messages, key[2]], { lock: 'none' })) ?? '';
      found.push(shown(key, row, text));
      if (found.length === most) break;
    }
    return found;
  });
}

export interface MessageUpdate {
  readonly visibilityMs: number;
  /** Nothing: the text stays. */
  readonly text: string | undefined;
  readonly nonce: number;
}

export function updateMessage(
  store: QueueStore,
  queue: QueueKey,
  id: string,
  receipt: Receipt,
  update: MessageUpdate,
): Promise<{ receipt: string; nextVisible: number }> {
  return store.run(async (tx) => {
    const { key, row } = await findMessage(store, tx, queue, id, receipt);
    const nextVisible = tx.now + update.visibilityMs;
    if (nextVisible > row.expires) throw new StorageError('InvalidQueryParameterValue');
    const later: MessageKey = [key[0], nextVisible, key[2]];
    if (nextVisible !== key[1]) await store.messages.delete(tx, key);
    await writeRow(store, tx, later, { ...row, nonce: update.nonce });
    if (update.text !== undefined) await store.texts.set(tx, [key[0], key[2]], update.text);
    return { receipt: encodeReceipt({ nextVisible, seq: key[2], nonce: update.nonce }), nextVisible };
  });
}

export function deleteMessage(
  store: QueueStore,
  queue: QueueKey,
  id: string,
  receipt: Receipt,
): Promise<void> {
  return store.run(async (tx) => {
    const { key } = await findMessage(store, tx, queue, id, receipt);
    await dropMessage(store, tx, key);
  });
}

/** One write: the old messages are swept. */
export function clearMessages(store: QueueStore, queue: QueueKey): Promise<void> {
  return store.run(async (tx) => {
    const entry = await store.queues.get(tx, queue, { lock: 'update' });
    if (entry === undefined) throw new StorageError('QueueNotFound');
    await discardMessages(store, tx, entry.messages);
    await store.queues.set(tx, queue, { ...entry, messages: tx.stamp() });
  });
}

/** The message whose current receipt this is; any other receipt is as good as none. */
async function findMessage(
  store: QueueStore,
  tx: Transaction,
  queue: QueueKey,
  id: string,
  { nextVisible, seq, nonce }: Receipt,
): Promise<{ key: MessageKey; row: MessageRow }> {
  const { messages } = await findQueue(store, tx, queue);
  const key: MessageKey = [messages, nextVisible, seq];
  const row = await store.messages.get(tx, key, { lock: 'update' });
  if (row === undefined || row.id !== id || row.nonce !== nonce || row.expires <= tx.now) {
    throw new StorageError('MessageNotFound');
  }
  return { key, row };
}

/** The row as it is now; nothing if it is gone. Waits for others as long as it is told. */
export async function lockRow(
  store: QueueStore,
  tx: Transaction,
  key: MessageKey,
  timeoutMs: number,
): Promise<MessageRow | 'in use' | undefined> {
  try {
    return await store.messages.get(tx, key, { lock: 'update', timeoutMs });
  } catch (error) {
    if (error instanceof LockTimeoutError) return 'in use';
    throw error;
  }
}

async function writeRow(store: QueueStore, tx: Transaction, key: MessageKey, row: MessageRow): Promise<void> {
  await store.messages.set(tx, key, row);
  store.fronts.arrives(tx, key);
}

export async function dropMessage(store: QueueStore, tx: Transaction, key: MessageKey): Promise<void> {
  await store.messages.delete(tx, key);
  await store.texts.delete(tx, [key[0], key[2]]);
  await store.counts.add(tx, key[0], -1);
}

function readAhead(store: QueueStore, tx: Transaction, messages: number): ReadAhead {
  return async (after) => {
    const keys: MessageKey[] = [];
    const range = { prefix: [messages], to: [messages, nextAfter(tx.now)], newest: true, pageSize: window };
    const from = after === undefined ? {} : { after };
    for await (const key of store.messages.keys(tx, { ...range, ...from })) {
      keys.push(key);
      if (keys.length === window) break;
    }
    return keys;
  };
}

/** The smallest time that is later: times have whole milliseconds or fractions of them. */
function nextAfter(now: number): number {
  return Math.floor(now) + 1;
}

function shown(key: MessageKey, row: MessageRow, text: string): Message {
  const [, nextVisible, seq] = key;
  return {
    id: row.id,
    inserted: insertedMs(seq),
    expires: row.expires,
    nextVisible,
    dequeued: row.dequeued,
    receipt: encodeReceipt({ nextVisible, seq, nonce: row.nonce }),
    text,
  };
}
