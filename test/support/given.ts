// A blob service in a known state: `given(t, { blob: 'photos/cat.jpg', content: 'v1', leasedSeconds: 60 })`.

import type { TestContext } from 'node:test';
import { type Headers, header, Resource } from './resource.js';
import { gives, type ServerOptions, startServer, type TestServer } from './server.js';
import type { WireAnswer } from './wire.js';

export { header, leaseA, leaseB, Resource } from './resource.js';

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

  copyFrom(source: Blob | string, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('', { 'x-ms-copy-source': typeof source === 'string' ? source : source.url, ...headers });
  }
}

export function blockId(text: string): string {
  return Buffer.from(text).toString('base64');
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
