// Messages put, got and deleted, in a thread of its own. A delete needs what an earlier answer told, so requests
// cannot be made beforehand as load.ts makes them.

import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

export interface MessageLoad {
  readonly port: number;
  readonly connections: number;
  /** How many messages in all go their way. */
  readonly messages: number;
  /** `cycle`: each is put, got and deleted. `delete`: all are put first, and only the deletes count. */
  readonly kind: 'cycle' | 'delete';
  /** `/account/queue`, and a SAS. */
  readonly path: string;
  readonly sas: string;
  readonly body: string;
}

export interface MessageLoadDone {
  /** Of all together. */
  readonly ms: number;
  /** Medians of one request. */
  readonly put: number;
  readonly get: number;
  readonly delete: number;
}

parentPort?.on('message', async (job: MessageLoad) => {
  parentPort?.postMessage(await (job.kind === 'cycle' ? cycles(job) : deletes(job)));
});

type Times = Record<'put' | 'get' | 'delete', number[]>;

async function cycles(job: MessageLoad): Promise<MessageLoadDone> {
  const times: Times = { put: [], get: [], delete: [] };
  const began = performance.now();
  await inParallel(job, times, async (client) => {
    await client.put();
    await client.delete(await client.get());
  });
  return done(performance.now() - began, times);
}

async function deletes(job: MessageLoad): Promise<MessageLoadDone> {
  const times: Times = { put: [], get: [], delete: [] };
  const receipts: Handed[] = [];
  await inParallel(job, times, async (client) => void receipts.push(await client.put()));
  const began = performance.now();
  await inParallel(job, times, (client) => client.delete(receipts.pop() as Handed));
  return done(performance.now() - began, times);
}

async function inParallel(
  job: MessageLoad,
  times: Times,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  let left = job.messages;
  await Promise.all(
    Array.from({ length: job.connections }, async () => {
      const client = new Client(job, times);
      while (left-- > 0) await work(client);
      client.close();
    }),
  );
}

function done(ms: number, times: Times): MessageLoadDone {
  const middle = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0;
  return { ms, put: middle(times.put), get: middle(times.get), delete: middle(times.delete) };
}

interface Handed {
  readonly id: string;
  readonly receipt: string;
}

class Client {
  readonly #job: MessageLoad;
  readonly #times: Times;
  readonly #socket: Socket;
  #received = '';
  #answered: ((text: string) => void) | undefined;

  constructor(job: MessageLoad, times: Times) {
    this.#job = job;
    this.#times = times;
    this.#socket = connect({ host: '127.0.0.1', port: job.port, noDelay: true });
    this.#socket.setEncoding('latin1').on('data', (text: string) => this.#take(text));
  }

  async put(): Promise<Handed> {
    return handedIn(await this.#ask('put', 'POST', '/messages?', this.#job.body));
  }

  async get(): Promise<Handed> {
    return handedIn(await this.#ask('get', 'GET', '/messages?visibilitytimeout=60&'));
  }

  async delete({ id, receipt }: Handed): Promise<void> {
    await this.#ask('delete', 'DELETE', `/messages/${id}?popreceipt=${encodeURIComponent(receipt)}&`);
  }

  close(): void {
    this.#socket.destroy();
  }

  async #ask(kind: keyof Times, method: string, path: string, body = ''): Promise<string> {
    const began = performance.now();
    const answer = await new Promise<string>((resolve) => {
      this.#answered = resolve;
      const length = method === 'POST' ? `Content-Length: ${body.length}\r\n` : '';
      const head = `Host: 127.0.0.1\r\nx-ms-version: 2021-12-02\r\n${length}`;
      this.#socket.write(`${method} ${this.#job.path}${path}${this.#job.sas} HTTP/1.1\r\n${head}\r\n${body}`);
    });
    this.#times[kind].push(performance.now() - began);
    if (answer.charAt(9) !== '2') throw new Error(answer);
    return answer;
  }

  #take(text: string): void {
    this.#received += text;
    if (!isWhole(this.#received)) return;
    const answer = this.#received;
    this.#received = '';
    this.#answered?.(answer);
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = text.slice(0, end).toLowerCase();
  if (head.includes('transfer-encoding: chunked')) return text.endsWith('\r\n0\r\n\r\n');
  return text.length - end - 4 >= Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
}

function handedIn(answer: string): Handed {
  const [, id = '', receipt = ''] =
    /<MessageId>(.*?)<\/MessageId>.*?<PopReceipt>(.*?)<\/PopReceipt>/s.exec(answer) ?? [];
  if (id === '') throw new Error(`no message in ${answer}`);
  return { id, receipt };
}
