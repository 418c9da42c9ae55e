// Load on a service from raw sockets, in a thread of its own: each connection sends its next request as soon as
// an answer is whole. `{n}` in a request is a number that no other request of the run has; `{i}` goes round.

import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

export interface ServiceLoad {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Head and body, with placeholders of a fixed width. */
  readonly request: string;
  /** Where `{n}` begins. */
  readonly first: number;
  /** How many `{i}` there are before it begins again. */
  readonly round: number;
}

export interface ServiceLoadDone {
  readonly ms: number;
  readonly answers: number;
  /** By status; what was not 2xx spoils a measurement. */
  readonly refused: number;
  readonly percentiles: readonly [p50: number, p95: number, p99: number];
  /** The first refusal, for whoever wonders. */
  readonly refusal: string | undefined;
}

parentPort?.on('message', async (job: ServiceLoad) => parentPort?.postMessage(await load(job)));

async function load(job: ServiceLoad): Promise<ServiceLoadDone> {
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => Connection.open(job.port)),
  );
  const times: number[] = [];
  let refused = 0;
  let refusal: string | undefined;
  let next = job.first;
  const started = performance.now();
  const until = started + job.seconds * 1000;
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < until) {
        const n = next++;
        const sent = performance.now();
        const answer = await connection.ask(fill(job.request, n, n % job.round));
        times.push(performance.now() - sent);
        if (answer.status >= 300) {
          refused++;
          refusal ??= answer.text();
        }
      }
    }),
  );
  const ms = performance.now() - started;
  for (const connection of connections) connection.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { ms, answers: times.length, refused, percentiles: [at(0.5), at(0.95), at(0.99)], refusal };
}

function fill(request: string, n: number, i: number): Buffer {
  const text = request
    .replaceAll('{n}', String(n).padStart(12, '0'))
    .replaceAll('{i}', String(i).padStart(6, '0'));
  return Buffer.from(text, 'latin1');
}

interface Answer {
  readonly status: number;
  text(): string;
}

class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed a connection')));
    socket.on('error', () => {});
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () =>
        resolve(new Connection(socket)),
      );
      socket.once('error', reject);
    });
  }

  ask(bytes: Buffer): Promise<Answer> {
    this.#socket.write(bytes);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = answerEnd(this.#received);
    if (end === undefined) return;
    const whole = this.#received.subarray(0, end);
    this.#received = this.#received.subarray(end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(whole.toString('latin1', 9, 12)), text: () => whole.toString() });
  }
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

/** Where the answer ends; nothing if there is more to come. */
function answerEnd(received: Buffer): number | undefined {
  const head = received.indexOf(headEnd);
  if (head < 0) return undefined;
  const text = received.toString('latin1', 0, head).toLowerCase();
  const length = /content-length: (\d+)/.exec(text)?.[1];
  const begin = head + 4;
  if (length !== undefined)
    return received.length >= begin + Number(length) ? begin + Number(length) : undefined;
  if (!text.includes('transfer-encoding: chunked')) return begin;
  return received.subarray(-5).equals(lastChunk) ? received.length : undefined;
}
