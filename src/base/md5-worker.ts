// The thread behind md5.ts: takes slots of shared memory in the order they are sent.

import { createHash, type Hash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

export type Md5Job =
  | { readonly id: number; readonly slot: number; readonly length: number }
  | { readonly id: number; readonly end: 'digest' | 'discard' };

export type Md5Answer = { readonly slot: number } | { readonly id: number; readonly digest: Uint8Array };

const { memory, slotBytes } = workerData as { memory: Uint8Array; slotBytes: number };
const hashes = new Map<number, Hash>();

parentPort?.on('message', (job: Md5Job) => {
  if ('slot' in job) {
    const start = job.slot * slotBytes;
    hashOf(job.id).update(memory.subarray(start, start + job.length));
    answer({ slot: job.slot });
    return;
  }
  if (job.end === 'digest') answer({ id: job.id, digest: hashOf(job.id).digest() });
  hashes.delete(job.id);
});

function hashOf(id: number): Hash {
  let hash = hashes.get(id);
  if (hash === undefined) hashes.set(id, (hash = createHash('md5')));
  return hash;
}

function answer(message: Md5Answer): void {
  parentPort?.postMessage(message);
}
