// Load from raw sockets: each sends the same bytes again as soon as an answer is whole. Client libraries
// give out long before the server does.

import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  /** In all. */
  readonly requests: number;
  readonly request: string;
}

export interface LoadDone {
  readonly ms: number;
  /** Of those that were 200. */
  readonly answers: number;
}

parentPort?.on('message', async (job: LoadJob) => parentPort?.postMessage(await load(job)));

async function load(job: LoadJob): Promise<LoadDone> {
  const sockets = await Promise.all(Array.from({ length: job.connections }, () => open(job.port)));
  const bytes = Buffer.from(job.request, 'latin1');
  let left = job.requests;
  let answers = 0;
  const started = performance.now();
  await Promise.all(
    sockets.map(async (socket) => {
      let length: number | undefined; // of an answer: the same each time
      while (left-- > 0) {
        socket.write(bytes);
        const answer = await read(socket, length);
        length ??= answer.length;
        if (answer.subarray(9, 12).equals(ok)) answers++;
      }
    }),
  );
  const ms = performance.now() - started;
  for (const socket of sockets) socket.destroy();
  return { ms, answers };
}

const ok = Buffer.from('200');

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The next answer. Its length is looked for in its head, unless it is known. */
function read(socket: Socket, length: number | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const take = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (received.length < (length ?? lengthOf(received))) return;
      socket.off('data', take);
      socket.off('close', lost);
      resolve(received);
    };
    const lost = () => reject(new Error('the server closed a connection'));
    socket.on('data', take);
    socket.on('close', lost);
  });
}

function lengthOf(received: Buffer): number {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return Number.POSITIVE_INFINITY;
  const body = /content-length: (\d+)/i.exec(received.toString('latin1', 0, end))?.[1];
  return end + 4 + Number(body);
}
