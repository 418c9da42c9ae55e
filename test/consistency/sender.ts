// Requests whose outcome may stay unknown. Nothing is retried; connections are dropped on purpose now and then.

import http from 'node:http';
import type { Ports } from '../support/restartable.js';

export interface SenderOptions {
  readonly ports: Ports;
  /** A SAS that allows everything, without `?`. */
  readonly sas: string;
  readonly random: () => number;
  /** The share of requests whose connection is dropped before the answer. */
  readonly dropShare: number;
}

export interface Request {
  readonly service: keyof Ports;
  readonly method: string;
  /** After the account, with a query or without. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Reply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: http.IncomingHttpHeaders;
      readonly text: string;
    }
  /** It certainly never reached the server. */
  | { readonly kind: 'unsent' }
  | { readonly kind: 'unknown'; readonly why: string };

/** Longer than any pause or restart: who waits for so long waits for ever. */
const patienceMs = 20_000;
export const hung = 'no answer';

export class Sender {
  readonly #options: SenderOptions;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  send({ service, method, path, headers = {}, body = '' }: Request): Promise<Reply> {
    const { ports, sas, random, dropShare } = this.#options;
    const sent = Buffer.from(body);
    const isWrite = method !== 'GET' && method !== 'HEAD' && method !== 'DELETE';
    const isDropped = random() < dropShare;
    return new Promise((resolve) => {
      const request = http.request({
        agent: this.#agent,
        host: '127.0.0.1',
        port: ports[service],
        method,
        path: `/devstoreaccount1${path}${path.includes('?') ? '&' : '?'}${sas}`,
        headers: {
          'x-ms-version': '2025-01-05',
          ...(isWrite ? { 'Content-Length': String(sent.length) } : {}),
          ...headers,
        },
      });
      const late = setTimeout(() => {
        resolve({ kind: 'unknown', why: hung });
        request.destroy();
      }, patienceMs);
      request.on('close', () => clearTimeout(late));
      request.on('error', (error: NodeJS.ErrnoException) => {
        resolve(
          error.code === 'ECONNREFUSED'
            ? { kind: 'unsent' }
            : { kind: 'unknown', why: error.code ?? error.message },
        );
      });
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => resolve({ kind: 'unknown', why: 'broken answer' }));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ kind: 'answer', status: response.statusCode ?? 0, headers: response.headers, text });
        });
      });
      if (isDropped && sent.length > 1 && random() < 0.5) request.write(sent.subarray(0, sent.length >> 1));
      else request.end(sent);
      if (isDropped) setTimeout(() => request.destroy(new Error('dropped')), random() * 4);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
