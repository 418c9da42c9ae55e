// A client for much: connections that are kept, bodies that stream, and the most memory the server had meanwhile.

import { strict as assert } from 'node:assert';
import http from 'node:http';
import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import type { Program } from './restartable.js';

const sas = signSas(
  { service: 'blob', account: developmentAccount.name },
  { sv: '2021-08-06', ss: 'bqtf', srt: 'sco', sp: 'rwdxylacuptfi', se: '2100-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);

export class Bulk implements Disposable {
  readonly #program: Program;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #timer: NodeJS.Timeout;
  /** The most anonymous memory the server was seen to have. */
  peakBytes = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#timer = setInterval(() => this.look(), 20);
  }

  look(): void {
    this.peakBytes = Math.max(this.peakBytes, this.#program.memoryBytes);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
  }

  /** `path` follows the account. The request is the caller's to end. */
  begin(method: string, path: string, headers: http.OutgoingHttpHeaders = {}): http.ClientRequest {
    return http.request({
      agent: this.#agent,
      port: this.#program.ports.blob,
      method,
      path: `/${developmentAccount.name}${path}${path.includes('?') ? '&' : '?'}${sas}`,
      headers: { 'x-ms-version': '2025-01-05', ...headers },
    });
  }

  async put(path: string, headers: http.OutgoingHttpHeaders = {}, body: Buffer | string = ''): Promise<void> {
    const length = Buffer.byteLength(body);
    const request = this.begin('PUT', path, { 'Content-Length': length, ...headers });
    request.end(body);
    const answer = await answerTo(request);
    const text = await textOf(answer);
    assert.equal(answer.statusCode, 201, `PUT ${path}: ${text}`);
  }

  /** The answer of a GET that succeeds, whose body is the caller's to read. */
  async open(path: string, headers: http.OutgoingHttpHeaders = {}): Promise<http.IncomingMessage> {
    const request = this.begin('GET', path, headers);
    request.end();
    const answer = await answerTo(request);
    if ((answer.statusCode ?? 0) >= 300) assert.fail(`GET ${path}: ${await textOf(answer)}`);
    return answer;
  }

  async text(path: string): Promise<string> {
    return textOf(await this.open(path));
  }
}

export function answerTo(request: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
}

export async function textOf(answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Each item is worked on, so many at a time. */
export async function eachOf(
  count: number,
  atOnce: number,
  work: (item: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
