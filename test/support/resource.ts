// A resource of a server as a test asks for it: a container, a blob, a share, a file.

import { strict as assert } from 'node:assert';
import { gives, type Request, type TestServer } from './server.js';
import type { WireAnswer } from './wire.js';

export type Headers = NonNullable<Request['headers']>;

export const leaseA = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
export const leaseB = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
export const leaseC = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';

/** Anything that has a path. */
export class Resource {
  readonly server: TestServer;
  readonly path: string;
  readonly #fixed: string;

  constructor(server: TestServer, path: string, fixed = '') {
    this.server = server;
    this.path = path;
    this.#fixed = fixed;
  }

  ask(method: string, query = '', headers: Headers = {}, body?: string | Buffer): Promise<WireAnswer> {
    const both = [this.#fixed, query].filter((part) => part !== '').join('&');
    const path = both === '' ? this.path : `${this.path}?${both}`;
    return this.server.ask({ method, path, headers, ...(body === undefined ? {} : { body }) });
  }

  get(query = '', headers: Headers = {}): Promise<WireAnswer> {
    return this.ask('GET', query, headers);
  }

  head(query = '', headers: Headers = {}): Promise<WireAnswer> {
    return this.ask('HEAD', query, headers);
  }

  put(query = '', headers: Headers = {}, body?: string | Buffer): Promise<WireAnswer> {
    return this.ask('PUT', query, headers, body);
  }

  delete(query = '', headers: Headers = {}): Promise<WireAnswer> {
    return this.ask('DELETE', query, headers);
  }

  async etag(query = ''): Promise<string> {
    return header(await gives(this.head(query), 200), 'etag');
  }

  lease(action: string, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('comp=lease', { 'x-ms-lease-action': action, ...headers });
  }

  /** Leased by `leaseA` unless another id is given; -1: for ever. */
  acquire(seconds = -1, id = leaseA): Promise<WireAnswer> {
    return this.lease('acquire', { 'x-ms-lease-duration': String(seconds), 'x-ms-proposed-lease-id': id });
  }

  /** Its address, as another request names it. */
  get url(): string {
    const { address, account } = this.server;
    return `http://127.0.0.1:${address.port}/${account.name}${this.path}`;
  }
}

export function header(answer: WireAnswer, name: string): string {
  const value = answer.headers.get(name);
  assert.ok(value !== undefined, `there is a header ${name}`);
  return value;
}
