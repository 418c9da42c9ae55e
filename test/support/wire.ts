// HTTP as bytes: a client for tests that sends exactly what it is told and shows exactly what came back.
// A client library would repair, reorder, retry and normalise.

import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface WireAnswer {
  readonly status: number;
  readonly reason: string;
  /** By name in lower case; repeated ones joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** The body as text, without a byte order mark. */
  readonly text: string;
}

export interface WireRequest {
  readonly method?: string;
  /** Path and query, as they go on the wire. */
  readonly target: string;
  /** Sent in this order. `Host` and `Content-Length` are added unless they are here; `null` leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string | Buffer;
}

export interface WireAddress {
  readonly port: number;
  readonly host?: string;
  readonly tls?: boolean;
}

/** One connection. Answers come in the order in which the requests were sent. */
export class Wire {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  /** What came after that: put together once it is looked at. */
  #late: Buffer[] = [];
  #length = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#late.push(chunk);
      this.#length += chunk.length;
      this.#wake?.();
    });
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake?.();
    });
    socket.on('error', () => {}); // told by the close that follows
  }

  static async open(address: WireAddress): Promise<Wire> {
    const options = { host: address.host ?? '127.0.0.1', port: address.port, noDelay: true };
    const socket = address.tls ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options);
    const wire = new Wire(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once(address.tls ? 'secureConnect' : 'connect', resolve);
      socket.once('error', reject);
    });
    return wire;
  }

  /** Bytes as they are. */
  send(bytes: string | Buffer): this {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  request(request: WireRequest): this {
    return this.send(requestBytes(request, this.#socket.remotePort ?? 0));
  }

  /** The next answer. An interim one (100 Continue) counts as one. To HEAD there is no body, whatever the headers say. */
  async answer(method = 'GET'): Promise<WireAnswer> {
    const end = await this.#find('\r\n\r\n');
    const [line = '', ...fields] = this.#cut(end + 4)
      .toString('latin1')
      .trimEnd()
      .split('\r\n');
    const [, status = '', reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(line) ?? [];
    if (status === '') throw new Error(`not an answer: ${line}`);
    const headers = new Map<string, string>();
    for (const field of fields) {
      const colon = field.indexOf(':');
      const name = field.slice(0, colon).toLowerCase();
      const value = field.slice(colon + 1).trim();
      headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
    }
    const code = Number(status);
    const hasBody = method !== 'HEAD' && code >= 200 && code !== 204 && code !== 304;
    const body = hasBody ? await this.#body(headers) : Buffer.alloc(0);
    return { status: code, reason, headers, body, text: body.toString().replace(/^\ufeff/, '') };
  }

  /** Resolves when the other side has closed; what came until then and was not read. */
  async closed(): Promise<string> {
    while (!this.#isClosed) await this.#more();
    return this.#gathered().toString('latin1');
  }

  /** Ends what we send; the other side may still answer. */
  finish(): this {
    this.#socket.end();
    return this;
  }

  /** Breaks off, as a process that dies does. */
  abort(): void {
    this.#socket.resetAndDestroy();
  }

  /** What was sent and has not left this process: the other side does not read. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Waits until an answer has begun, then reads no more. */
  async begun(): Promise<this> {
    if (this.#length === 0) await this.#moreOrFail();
    return this.pause();
  }

  /** Reads no more. */
  pause(): this {
    this.#socket.pause();
    return this;
  }

  /** Reads, and keeps nothing of it. */
  drop(): this {
    this.#socket.removeAllListeners('data').resume();
    return this;
  }

  resume(): this {
    this.#socket.resume();
    return this;
  }

  close(): void {
    this.#socket.destroy();
  }

  async #body(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    if (headers.get('transfer-encoding') === 'chunked') return await this.#chunks();
    const length = headers.get('content-length');
    if (length !== undefined) {
      while (this.#length < Number(length)) await this.#moreOrFail();
      return this.#cut(Number(length));
    }
    while (!this.#isClosed) await this.#more();
    return this.#cut(this.#length);
  }

  async #chunks(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    while (true) {
      const end = await this.#find('\r\n');
      const length = Number.parseInt(this.#cut(end + 2).toString('latin1'), 16);
      while (this.#length < length + 2) await this.#moreOrFail();
      chunks.push(this.#cut(length));
      this.#cut(2);
      if (length === 0) return Buffer.concat(chunks);
    }
  }

  async #find(text: string): Promise<number> {
    while (true) {
      const at = this.#gathered().indexOf(text, 0, 'latin1');
      if (at >= 0) return at;
      await this.#moreOrFail();
    }
  }

  #cut(length: number): Buffer {
    const received = this.#gathered();
    this.#received = received.subarray(length);
    this.#length = this.#received.length;
    return received.subarray(0, length);
  }

  #gathered(): Buffer {
    if (this.#late.length > 0) this.#received = Buffer.concat([this.#received, ...this.#late.splice(0)]);
    return this.#received;
  }

  async #moreOrFail(): Promise<void> {
    if (this.#isClosed)
      throw new Error(`the connection was closed after: ${this.#gathered().toString('latin1', 0, 500)}`);
    await this.#more();
  }

  async #more(): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}

/** One request on a connection of its own. */
export async function ask(address: WireAddress, request: WireRequest): Promise<WireAnswer> {
  const wire = await Wire.open(address);
  try {
    return await wire.request(request).answer(request.method);
  } finally {
    wire.close();
  }
}

function requestBytes(request: WireRequest, port: number): Buffer {
  const { method = 'GET', target, headers = {} } = request;
  const body = Buffer.from(request.body ?? '');
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!names.has('host')) lines.push(`Host: 127.0.0.1:${port}`);
  const sendsLength = body.length > 0 || !['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method);
  if (!names.has('content-length') && sendsLength) lines.push(`Content-Length: ${body.length}`);
  for (const [name, value] of Object.entries(headers)) if (value !== null) lines.push(`${name}: ${value}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
