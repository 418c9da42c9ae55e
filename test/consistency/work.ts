// What clients do: for each kind of object a few calls, one of which is made at random.

import type { Place, Thread } from './thread.js';
import { actOnAppend, actOnBlob, actOnContainer, append, blob, container } from './work-blobs.js';
import { actOnFiles, file, fileNames } from './work-files.js';
import { actOnQueue, queue } from './work-queues.js';
import { actOnPartition, actOnWhole, partition, rowNames } from './work-tables.js';

/** Each kind of object: how often it is chosen, and one call on it. */
const kinds: readonly (readonly [
  object: string,
  weight: number,
  act: (thread: Thread, place: Place, object: string) => Promise<unknown>,
])[] = [
  ['blob 0', 3, actOnBlob],
  ['blob 1', 3, actOnBlob],
  ['timed 0', 3, actOnBlob],
  ['append 0', 3, actOnAppend],
  ['container 0', 2, actOnContainer],
  ['mixed 0', 3, actOnPartition],
  ['whole 0', 3, actOnWhole],
  ['queue 0', 4, actOnQueue],
  ['files 0', 4, actOnFiles],
];
const weights = kinds.reduce((sum, [, weight]) => sum + weight, 0);

export async function act(thread: Thread, place: Place): Promise<void> {
  let at = thread.random() * weights;
  for (const [object, weight, work] of kinds) {
    at -= weight;
    if (at < 0) return void (await work(thread, place, object));
  }
}

/** What stands there when all is over, so that nothing that was told is missing unseen. */
export async function readAll(thread: Thread, place: Place): Promise<void> {
  for (const [object] of kinds) {
    if (object.startsWith('blob') || object.startsWith('timed'))
      await blob(thread, place, object, { op: 'read' });
    if (object.startsWith('append')) await append(thread, place, object, { op: 'read' });
    if (object.startsWith('container')) await container(thread, place, object, { op: 'read' });
    if (object.startsWith('files'))
      for (const name of fileNames) await file(thread, place, object, { op: 'read', name });
    if (object.startsWith('mixed') || object.startsWith('whole'))
      await partition(thread, place, object, { op: 'query', rows: rowNames });
  }
}

/** Gets and deletes until there is nothing. */
export async function emptyQueue(thread: Thread, place: Place): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    const result = await queue(thread, place, { op: 'get', most: 32, hideMs: 60_000 });
    if (!result || !('ok' in result)) continue;
    const found = result.messages ?? [];
    if (found.length === 0) return;
    for (const { id, receipt } of found) await queue(thread, place, { op: 'delete', id, receipt });
  }
}
