// Load from raw sockets, in a thread of its own: each connection sends its next request as soon as an answer is
// whole. Client libraries give out long before the server does, and on a small machine what the load costs is
// taken from the server: so the request is made once, only its numbers are written anew, and an answer is
// looked at just far enough to know its status and its end.

import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { seededRandom } from '#src/base/random.js';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** Infinite where `requests` are counted instead. */
  readonly seconds: number;
  /** In all. */
  readonly requests?: number;
  /**
   * Head and body. `{nnn}` of any width becomes a number that no other request of the run has, `{iii}` one that
   * goes round, `{rrr}` letters that nothing compresses, others each time.
   */
  readonly request: Uint8Array;
  /** Where the numbers begin. */
  readonly first: number;
  /** How many `{i}` there are before it begins again. */
  readonly round: number;
}

export interface LoadDone {
  readonly ms: number;
  readonly answers: number;
  /** Of whole answers, heads included. */
  readonly bytes: number;
  /** How many were not 2xx: they spoil a measurement. */
  readonly refused: number;
  /** The first of them, for whoever wonders. */
  readonly refusal: string | undefined;
  readonly percentiles: readonly [p50: number, p95: number, p99: number];
}

parentPort?.on('message', async (job: Load) => parentPort?.postMessage(await load(job)));

async function load(job: Load): Promise<LoadDone> {
  const run = new Run(job);
  const clients = await Promise.all(Array.from({ length: job.connections }, () => Client.open(run)));
  const started = performance.now();
  run.until = started + job.seconds * 1000;
  await Promise.all(clients.map((client) => client.work()));
  const ms = performance.now() - started;
  const times = run.times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const { bytes, refused, refusal } = run;
  return { ms, answers: times.length, bytes, refused, refusal, percentiles: [at(0.5), at(0.95), at(0.99)] };
}

/** What the connections of one run share. */
class Run {
  readonly job: Load;
  readonly times: number[] = [];
  bytes = 0;
  refused = 0;
  refusal: string | undefined;
  until = 0;
  next: number;
  readonly end: number;

  constructor(job: Load) {
    this.job = job;
    this.next = job.first;
    this.end = job.first + (job.requests ?? Number.POSITIVE_INFINITY);
  }
}

const readBytes = 256 * 1024;

class Client {
  readonly #run: Run;
  readonly #socket: Socket;
  /** Its own copy: the numbers are written into it. */
  readonly #request: Buffer;
  readonly #places: readonly Place[];
  #sentAt = 0;
  /** What came of a head that is not whole yet; mostly nothing. */
  #begun: Buffer | undefined;
  /** What is still to come of an answer whose head is known; -1 until then, infinite for one in chunks. */
  #left = -1;
  #done: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  static open(run: Run): Promise<Client> {
    return new Promise((resolve, reject) => {
      // One buffer for all that is received: no stream, no allocation.
      const onread = {
        buffer: Buffer.allocUnsafe(readBytes),
        callback: (length: number, buffer: Uint8Array) => {
          client.#take(buffer as Buffer, length);
          return true;
        },
      };
      const options = { host: '127.0.0.1', port: run.job.port, noDelay: true, onread };
      const socket = connect(options, () => resolve(client));
      const client = new Client(run, socket);
      socket.once('error', reject);
    });
  }

  private constructor(run: Run, socket: Socket) {
    this.#run = run;
    this.#socket = socket;
    this.#request = Buffer.from(run.job.request);
    this.#places = placesIn(this.#request);
    socket.on('close', () => this.#done?.reject(new Error('the server closed a connection')));
  }

  /** Until the time is over. */
  work(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = { resolve, reject };
      this.#next(0);
    });
  }

  #next(now: number): void {
    if (now < this.#run.until && this.#run.next < this.#run.end) {
      this.#send();
      return;
    }
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
    this.#done?.resolve();
  }

  #send(): void {
    const { job } = this.#run;
    const n = this.#run.next++;
    for (const { at, length, kind } of this.#places) {
      if (kind === 'r') scribble(this.#request, at, length);
      else write(this.#request, at, length, kind === 'i' ? n % job.round : n);
    }
    this.#sentAt = performance.now();
    this.#socket.write(this.#request);
  }

  #take(buffer: Buffer, length: number): void {
    this.#run.bytes += length;
    if (this.#left < 0) this.#takeHead(buffer, length);
    else this.#takeRest(buffer, length);
    if (this.#left === 0) this.#answered();
  }

  #takeHead(buffer: Buffer, length: number): void {
    const received =
      this.#begun === undefined
        ? buffer.subarray(0, length)
        : Buffer.concat([this.#begun, buffer.subarray(0, length)]);
    const end = received.indexOf(headEnd);
    if (end < 0) {
      this.#begun = Buffer.from(received);
      return;
    }
    this.#begun = undefined;
    const head = received.toString('latin1', 0, end);
    if (head.charCodeAt(9) !== two) {
      this.#run.refused++;
      this.#run.refusal ??= received.toString();
    }
    const declared = lengthIn(head);
    if (declared !== undefined) this.#left = declared - (received.length - end - 4);
    else if (!head.toLowerCase().includes('transfer-encoding: chunked')) this.#left = 0;
    else {
      this.#left = Number.POSITIVE_INFINITY;
      this.#takeRest(received, received.length);
    }
  }

  #takeRest(buffer: Buffer, length: number): void {
    if (this.#left !== Number.POSITIVE_INFINITY) this.#left -= length;
    else if (length >= 5 && buffer.subarray(length - 5, length).equals(lastChunk)) this.#left = 0;
  }

  #answered(): void {
    const now = performance.now();
    this.#run.times.push(now - this.#sentAt);
    this.#left = -1;
    this.#next(now);
  }
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');
const two = 0x32;

function lengthIn(head: string): number | undefined {
  let at = head.indexOf('\nContent-Length: ');
  if (at < 0) at = head.indexOf('\ncontent-length: ');
  return at < 0 ? undefined : Number.parseInt(head.slice(at + 17, at + 30), 10);
}

interface Place {
  readonly at: number;
  readonly length: number;
  readonly kind: string;
}

function placesIn(request: Buffer): Place[] {
  const places: Place[] = [];
  for (const found of request.toString('latin1').matchAll(/\{(n+|i+|r+)\}/g)) {
    places.push({ at: found.index, length: found[0].length, kind: found[0][1] ?? '' });
  }
  return places;
}

function write(bytes: Buffer, at: number, length: number, n: number): void {
  let rest = n;
  for (let place = at + length - 1; place >= at; place--) {
    bytes[place] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

const letters = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
const random = seededRandom(1);

function scribble(bytes: Buffer, at: number, length: number): void {
  for (let place = at; place < at + length; place++) {
    bytes[place] = letters[Math.floor(random() * letters.length)] ?? 0;
  }
}
