// The thread behind digests.ts: takes jobs in the order they are sent, and answers each message with theirs.

import { parentPort } from 'node:worker_threads';
import { type DigestAnswer, type DigestJob, type Digests, HereStream } from './digests.js';

const streams = new Map<number, HereStream>();

parentPort?.on('message', (jobs: readonly DigestJob[]) => {
  const answer: DigestAnswer = jobs.map(run);
  parentPort?.postMessage(answer);
});

function run(job: DigestJob): Digests | undefined {
  const stream = streams.get(job.stream) ?? new HereStream(job.kinds);
  if ('bytes' in job) {
    streams.set(job.stream, stream);
    stream.update(job.bytes);
    return undefined;
  }
  streams.delete(job.stream);
  return job.end === 'digest' ? stream.digest() : undefined;
}
