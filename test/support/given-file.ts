// A file service in a known state: `given(t, { file: 'docs/a.txt', content: 'v1' })`, and SMB clients that hold files
// open: made directly on the lock table.

import { strict as assert } from 'node:assert';
import type { TestContext } from 'node:test';
import { allAccess, share as shareMode } from '#src/services/file/access.js';
import type { BreakNotice, Cache, CacheWish } from '#src/services/file/caches.js';
import { caching } from '#src/services/file/caching-rules.js';
import type { FileService } from '#src/services/file/service.js';
import { isLive } from '#src/services/file/share-access.js';
import { type Headers, header, Resource } from './resource.js';
import { gives, type ServerOptions, startServer, type TestServer } from './server.js';
import type { WireAnswer } from './wire.js';

export { type Headers, header, leaseA, leaseB, leaseC, Resource } from './resource.js';

const encode = (path: string) => path.split('/').map(encodeURIComponent).join('/');

export class Share extends Resource {
  readonly name: string;

  constructor(server: TestServer, name: string) {
    super(server, `/${name}`, 'restype=share');
    this.name = name;
  }

  directory(path: string): Directory {
    return new Directory(this.server, path === '' ? `/${this.name}` : `/${this.name}/${encode(path)}`);
  }

  get root(): Directory {
    return this.directory('');
  }

  file(path: string): File {
    return new File(this.server, `/${this.name}/${encode(path)}`);
  }

  /** What it is called by. */
  async snapshot(headers: Headers = {}): Promise<string> {
    const taken = await gives(this.put('comp=snapshot', headers), 201);
    this.server.pass(1);
    return header(taken, 'x-ms-snapshot');
  }

  async usage(): Promise<number> {
    const { text } = await gives(this.get('comp=stats'), 200);
    return Number(/<ShareUsageBytes>(\d+)</.exec(text)?.[1]);
  }
}

export class Directory extends Resource {
  constructor(server: TestServer, path: string) {
    super(server, path, 'restype=directory');
  }

  list(query = '', headers: Headers = {}): Promise<WireAnswer> {
    return this.get(query === '' ? 'comp=list' : `comp=list&${query}`, headers);
  }

  /** The names in a listing, in order. */
  async names(query = ''): Promise<string[]> {
    const { text } = await gives(this.list(query), 200);
    return [...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name = '']) => name);
  }

  renameFrom(source: Resource, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('comp=rename', { 'x-ms-file-rename-source': source.url, ...headers });
  }
}

export class File extends Resource {
  create(length: number, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('', { 'x-ms-type': 'file', 'x-ms-content-length': String(length), ...headers });
  }

  async write(content: string | Buffer, at = 0, headers: Headers = {}): Promise<WireAnswer> {
    const end = at + Buffer.byteLength(content) - 1;
    const range = { 'x-ms-range': `bytes=${at}-${end}`, 'x-ms-write': 'update' };
    return this.put('comp=range', { ...range, ...headers }, content);
  }

  clear(from: number, to: number, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('comp=range', { 'x-ms-range': `bytes=${from}-${to}`, 'x-ms-write': 'clear', ...headers });
  }

  async text(query = ''): Promise<string> {
    return (await gives(this.get(query), 200)).text;
  }

  async ranges(query = '', headers: Headers = {}): Promise<string[]> {
    const both = query === '' ? 'comp=rangelist' : `comp=rangelist&${query}`;
    const { text } = await gives(this.get(both, headers), 200);
    const rows = text.matchAll(/<(Range|ClearRange)><Start>(\d+)<\/Start><End>(\d+)<\/End>/g);
    return [...rows].map(([, kind, start, end]) => `${kind === 'Range' ? '' : 'cleared '}${start}-${end}`);
  }

  setProperties(headers: Headers): Promise<WireAnswer> {
    return this.put('comp=properties', headers);
  }

  setMetadata(headers: Headers): Promise<WireAnswer> {
    return this.put('comp=metadata', headers);
  }

  renameFrom(source: Resource, headers: Headers = {}): Promise<WireAnswer> {
    return this.put('comp=rename', { 'x-ms-file-rename-source': source.url, ...headers });
  }

  copyFrom(source: Resource | string, headers: Headers = {}): Promise<WireAnswer> {
    const url = typeof source === 'string' ? source : source.url;
    return this.put('', { 'x-ms-copy-source': url, ...headers });
  }

  async id(): Promise<bigint> {
    return BigInt(header(await gives(this.head(), 200), 'x-ms-file-id'));
  }
}

export interface State extends ServerOptions {
  /** Its directories are made too. */
  readonly file?: string;
  /** `hello world` unless given. */
  readonly content?: string | Buffer;
  readonly directory?: string;
  readonly headers?: Headers;
  readonly leased?: boolean;
}

export interface Given {
  readonly server: TestServer;
  readonly service: FileService;
  readonly share: Share;
  readonly file: File;
  readonly directory: Directory;
  readonly clients: Clients;
}

export async function given(t: Pick<TestContext, 'after'>, state: State = {}): Promise<Given> {
  const server = await startServer(t, 'file', state);
  const service = server.running.services.get('file') as FileService;
  const share = new Share(server, 'files');
  await gives(share.put(), 201);
  const path = state.file ?? 'a.txt';
  const folders = [state.directory ?? '', path.split('/').slice(0, -1).join('/')];
  for (const folder of folders) {
    const names = folder.split('/').filter((name) => name !== '');
    for (let depth = 1; depth <= names.length; depth++) {
      await share.directory(names.slice(0, depth).join('/')).put();
    }
  }
  const file = share.file(path);
  if (state.file !== undefined) {
    const content = state.content ?? 'hello world';
    await gives(file.create(Buffer.byteLength(content)), 201);
    if (content.length > 0) await gives(file.write(content), 201);
    if (state.headers) await gives(file.setProperties(state.headers), 200);
    if (state.leased) await gives(file.acquire(), 201);
  }
  const clients = new Clients(service, server.account.name);
  return { server, service, share, file, directory: share.directory(state.directory ?? ''), clients };
}

/** SMB clients as the lock table knows them. */
export class Clients {
  readonly #service: FileService;
  readonly #account: string;
  #next = 1000n;

  constructor(service: FileService, account: string) {
    this.#service = service;
    this.#account = account;
  }

  async volume(share: string): Promise<string> {
    const { store } = this.#service;
    const row = await store.run((tx) => store.shares.get(tx, [this.#account, share], { lock: 'none' }));
    assert.ok(isLive(row));
    return String(row.id);
  }

  /** An open that is granted, with what its client does when its cache is broken. */
  async open(
    file: bigint,
    options: {
      readonly access?: number;
      readonly share?: number;
      readonly wish?: CacheWish;
      readonly deleteOnClose?: boolean;
      onBreak?(notice: BreakNotice, client: Client): void;
    } = {},
  ): Promise<Client> {
    const volume = await this.volume('files');
    const { opens } = this.#service;
    const id = this.#next++;
    const notices: BreakNotice[] = [];
    const closed: bigint[] = [];
    const reserved = await opens.reserve({
      ...{ id, volume, file, overwrites: false, creates: false, cacheable: true },
      deleteOnClose: options.deleteOnClose ?? false,
      access: options.access ?? allAccess,
      share: options.share ?? shareMode.all,
      wish: options.wish ?? { kind: 'none' },
      owner: {
        ...{ sessionId: 77n, client: '10.0.0.1:1234', clientName: 'HOST', openedAt: Date.UTC(2026, 0, 2) },
        breaking: (notice) => {
          notices.push(notice);
          options.onBreak?.(notice, client);
        },
        closed: () => void closed.push(id),
      },
    });
    assert.equal(reserved.outcome, 'open');
    const cache = reserved.outcome === 'open' ? reserved.cache : undefined;
    const client: Client = {
      ...{ id, volume, file, cache, notices, closed },
      close: async () => void (await opens.close(id)),
      acknowledge: async (state) => void (await opens.acknowledge(keyOf(options.wish, id), state)),
    };
    return client;
  }
}

function keyOf(wish: CacheWish | undefined, open: bigint): { key: string } | { open: bigint } {
  return wish?.kind === 'lease' ? { key: wish.key } : { open };
}

export interface Client {
  readonly id: bigint;
  readonly volume: string;
  readonly file: bigint;
  readonly cache: Cache | undefined;
  readonly notices: readonly BreakNotice[];
  readonly closed: readonly bigint[];
  close(): Promise<void>;
  acknowledge(state: number): Promise<void>;
}

/** `RWH` as bits. */
export function cachingBits(text: string): number {
  const bits = { R: caching.read, W: caching.write, H: caching.handle } as const;
  return [...text].reduce((sum, letter) => sum | (bits[letter as 'R'] ?? 0), 0);
}

export function cachingText(bits: number): string {
  return (['R', 'W', 'H'] as const).filter((letter) => bits & cachingBits(letter)).join('') || 'none';
}
