// A blob service in a known state: `given(t, { blob: 'photos/cat.jpg', content: 'v1', leasedSeconds: 60 })`.

import { strict as assert } from 'node:assert';
import type { TestContext } from 'node:test';
import { gives, type Request, type ServerOptions, startServer, type TestServer } from './server.js';
import type { WireAnswer } from './wire.js';

type Headers = NonNullable<Request['headers']>;

export const leaseA = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
export const leaseB = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';

/** Anything that has a path: a container or a blob. */
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
  acquire(seconds: number, id = leaseA): Promise<WireAnswer> {
    return this.lease('acquire', { 'x-ms-lease-duration': String(seconds), 'x-ms-proposed-lease-id': id });
  }
}

export class Container extends Resource {
  constructor(server: TestServer, name: string) {
    super(server, `/${name}`, 'restype=container');
  }

  create(headers: Headers = {}): Promise<WireAnswer> {
    return this.put('', headers);
  }

  blob(name: string): Blob {
    return new Blob(this.server, `${this.path}/${name.split('/').map(encodeURIComponent).join('/')}`);
  }

  list(query = ''): Promise<WireAnswer> {
    return this.get(query === '' ? 'comp=list' : `comp=list&${query}`);
  }

  /** The names in a listing, in order; prefixes end in what they were cut at. */
  async names(query = ''): Promise<string[]> {
    const { text } = await gives(this.list(query), 200);
    return [...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name = '']) => name);
  }
}

export class Blob extends Resource {
  upload(content: string | Buffer, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('', { 'x-ms-blob-type': 'BlockBlob', ...headers }, content);
  }

  async text(query = ''): Promise<string> {
    return (await gives(this.get(query), 200)).text;
  }

  putBlock(id: string, content: string | Buffer, headers: Headers = {}): Promise<WireAnswer> {
    return this.put(`comp=block&blockid=${encodeURIComponent(blockId(id))}`, headers, content);
  }

  /** `commit('Latest a', 'Committed b')`. */
  commit(blocks: readonly string[], headers: Headers = {}): Promise<WireAnswer> {
    const rows = blocks.map((block) => {
      const [list = '', id = ''] = block.split(' ');
      return `<${list}>${blockId(id)}</${list}>`;
    });
    return this.put('comp=blocklist', headers, `<BlockList>${rows.join('')}</BlockList>`);
  }

  append(content: string | Buffer, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('comp=appendblock', headers, content);
  }

  /** What it is called by. */
  async snapshot(headers: Headers = {}): Promise<string> {
    return header(await gives(this.put('comp=snapshot', headers), 201), 'x-ms-snapshot');
  }

  /** Its address, as another request names it. */
  get url(): string {
    const { address, account } = this.server;
    return `http://127.0.0.1:${address.port}/${account.name}${this.path}`;
  }

  copyFrom(source: Blob | string, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('', { 'x-ms-copy-source': typeof source === 'string' ? source : source.url, ...headers });
  }
}

export function blockId(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function header(answer: WireAnswer, name: string): string {
  const value = answer.headers.get(name);
  assert.ok(value !== undefined, `there is a header ${name}`);
  return value;
}

export interface State extends ServerOptions {
  /** `container/name`; the container is made, the blob only with a content or a type. */
  readonly blob?: string;
  readonly container?: string;
  readonly content?: string | Buffer;
  readonly type?: 'BlockBlob' | 'AppendBlob' | 'PageBlob';
  readonly headers?: Headers;
  /** Leased by `leaseA`; -1: for ever. */
  readonly leasedSeconds?: number;
}

export interface Given {
  readonly server: TestServer;
  readonly container: Container;
  readonly blob: Blob;
}

export async function given(t: Pick<TestContext, 'after'>, state: State = {}): Promise<Given> {
  const server = await startServer(t, 'blob', state);
  const [name = 'photos', ...rest] = (state.blob ?? state.container ?? 'photos/cat.jpg').split('/');
  const container = new Container(server, name);
  const blob = container.blob(rest.length === 0 ? 'cat.jpg' : rest.join('/'));
  await gives(container.create(), 201);
  await putState(blob, state);
  if (state.leasedSeconds !== undefined) {
    const leased = state.blob === undefined && state.container !== undefined ? container : blob;
    await gives(leased.acquire(state.leasedSeconds), 201);
  }
  return { server, container, blob };
}

async function putState(blob: Blob, { content, type, headers = {} }: State): Promise<void> {
  if (type === 'PageBlob') {
    await gives(
      blob.put('', { 'x-ms-blob-type': type, 'x-ms-blob-content-length': '1024', ...headers }),
      201,
    );
  } else if (type === 'AppendBlob') {
    await gives(blob.put('', { 'x-ms-blob-type': type, ...headers }), 201);
    if (content !== undefined) await gives(blob.append(content), 201);
  } else if (content !== undefined) await gives(blob.upload(content, headers), 201);
}
