// What an operator sets on queues and tables beyond the reference: where messages go that nobody manages to process,
// and which properties have an index.

import type { IndexState } from '../../services/table/indexes.js';
import { UsageError } from '../command-line.js';
import { opened } from '../services.js';
import { type Body, text } from './body.js';
import type { AdminCall } from './calls.js';

/** `{ account, queue, target, afterDequeues }`; without a target, messages stay where they are. */
export async function setDeadLetterOf({ store, body }: AdminCall): Promise<unknown> {
  const key = [text(body, 'account'), text(body, 'queue')] as const;
  const { store: queues } = await opened(store, 'queue');
  const afterDequeues = body['afterDequeues'] ?? 5;
  if (!Number.isSafeInteger(afterDequeues) || (afterDequeues as number) < 1) {
    throw new UsageError('afterDequeues is a whole number above 0');
  }
  const target = body['target'] === undefined ? undefined : text(body, 'target');
  const { setDeadLetter } = await import('../../services/queue/queues.js');
  const deadLetter = target === undefined ? undefined : { afterDequeues: afterDequeues as number, target };
  await setDeadLetter(queues, key, deadLetter);
  return { account: key[0], queue: key[1], ...deadLetter };
}

/** `{ account }`, or of all accounts. */
export async function listDeadLetters({ store, body }: AdminCall): Promise<unknown> {
  const { store: queues } = await opened(store, 'queue');
  const { deadLetters } = await import('../../services/queue/queues.js');
  return deadLetters(queues, accountOf(body));
}

/** `{ account, table, property }`. It is built in the background; `state` tells whether it is done. */
export async function createIndexOf({ store, body }: AdminCall): Promise<IndexState> {
  const { store: tables, indexBuilder } = await opened(store, 'table');
  const { createIndex } = await import('../../services/table/indexes.js');
  const made = await createIndex(tables, await tableOf(body), text(body, 'property'));
  indexBuilder.start();
  return made;
}

/** `{ account }`, or of all accounts. */
export async function listIndexesOf({ store, body }: AdminCall): Promise<IndexState[]> {
  const { store: tables } = await opened(store, 'table');
  const { listIndexes } = await import('../../services/table/indexes.js');
  return listIndexes(tables, accountOf(body));
}

export async function deleteIndexOf({ store, body }: AdminCall): Promise<unknown> {
  const { store: tables } = await opened(store, 'table');
  const { dropIndex } = await import('../../services/table/indexes.js');
  const property = text(body, 'property');
  if (!(await dropIndex(tables, await tableOf(body), property)))
    throw new UsageError(`table ${text(body, 'table')} has no index on ${property}`);
  return { account: text(body, 'account'), table: text(body, 'table'), property };
}

async function tableOf(body: Body) {
  const { tableKey } = await import('../../services/table/model.js');
  return tableKey(text(body, 'account'), text(body, 'table'));
}

function accountOf(body: Body): string | undefined {
  return body['account'] === undefined ? undefined : text(body, 'account');
}
