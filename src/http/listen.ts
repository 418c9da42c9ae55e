// Sockets: one address that a service listens on, and how it stops.
//
// node:http with the settings this needs: its own limit on header count drops headers in silence, its
// request timeout would cut long uploads, its bad-request answers are not the service's. A stalled client
// is found by a look at all exchanges now and then, not by a timer for each.

import http from 'node:http';
import type { ServerOptions as SecureOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Bag } from '../base/bag.js';
import { StorageError } from '../services/common/errors.js';
import type { Reply, Responder } from './endpoint.js';
import { Exchange, type ExchangeLimits, type ExchangeOwner, type Finished } from './exchange.js';

export type TlsOptions =
  | { readonly cert: Buffer; readonly key: Buffer }
  | { readonly pfx: Buffer; readonly passphrase?: string | undefined };

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls?: TlsOptions | undefined;
  readonly keepAliveMs?: number | undefined;
  /** How long the head of a request may take. */
  readonly headMs?: number | undefined;
  readonly limits?: Partial<ExchangeLimits> | undefined;
  readonly maxConnections?: number | undefined;
  /** Told of every request, once it is over. */
  readonly finished?: ((finished: Finished) => void) | undefined;
}

const maxHeaderBytes = 64 * 1024;
const maxPipelined = 1000;
const usualLimits: ExchangeLimits = { stallMs: 60_000, drainBytes: 1024 * 1024, lingerMs: 5_000 };

export class Listener implements ExchangeOwner {
  readonly endpoint: Responder;
  readonly limits: ExchangeLimits;
  isStopping = false;
  readonly #options: ListenOptions;
  readonly #server: http.Server;
  readonly #exchanges = new Bag<Exchange>();
  /** How many requests wait for the answers before them, of sockets that ever had any. */
  readonly #pipelined = new WeakMap<Socket, number>();
  readonly #watch: NodeJS.Timeout;
  #idle: (() => void) | undefined;

  /** Resolves when it accepts connections; rejects if the address is taken or not this machine's. */
  static async open(endpoint: Responder, options: ListenOptions): Promise<Listener> {
    // Without TLS, 26 modules of node need not be loaded.
    const create = options.tls ? await secureServers(options.tls) : http.createServer;
    const listener = new Listener(endpoint, options, create);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => {
        listener.#server.off('error', reject);
        // A connection that could not be accepted, for want of descriptors perhaps, is no reason to die.
        listener.#server.on('error', (error) => endpoint.failed(error));
        resolve();
      });
    });
    return listener;
  }

  private constructor(endpoint: Responder, options: ListenOptions, create: CreateServer) {
    this.endpoint = endpoint;
    this.#options = options;
    this.limits = { ...usualLimits, ...options.limits };
    const settings = {
      maxHeaderSize: maxHeaderBytes,
      requestTimeout: 0,
      headersTimeout: options.headMs ?? 30_000,
      connectionsCheckingInterval: Math.min(5_000, options.headMs ?? 5_000),
      keepAliveTimeout: options.keepAliveMs ?? 65_000,
      requireHostHeader: false, // its absence is answered in the service's form
      insecureHTTPParser: false,
    };
    this.#server = create(settings);
    this.#server.maxHeadersCount = 0;
    this.#server.maxConnections = options.maxConnections ?? 10_000;
    this.#server.on('request', (request, response) => this.#take(request, response, false));
    this.#server.on('checkContinue', (request, response) => this.#take(request, response, true));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
      this.#refuse(error, socket),
    );
    this.#watch = setInterval(() => this.#checkStalls(), Math.max(10, this.limits.stallMs / 8)).unref();
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo;
  }

  /** Takes nothing new, finishes what it took, and cuts off what is not done after `graceMs`. */
  async stop(graceMs = 10_000): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    if (this.#exchanges.size > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        setTimeout(resolve, graceMs).unref();
      });
    }
    clearInterval(this.#watch);
    this.#server.closeAllConnections();
    await closed;
  }

  /** Node hands out pipelined requests as they come; each begins when the answer before it is out. */
  #take(request: http.IncomingMessage, response: http.ServerResponse, waits: boolean): void {
    if (response.socket !== null) {
      this.#begin(request, response, waits);
      return;
    }
    const { socket } = request;
    const waiting = (this.#pipelined.get(socket) ?? 0) + 1;
    this.#pipelined.set(socket, waiting);
    response.once('socket', () => {
      this.#pipelined.set(socket, (this.#pipelined.get(socket) ?? 1) - 1);
      this.#begin(request, response, waits);
    });
    if (waiting > maxPipelined) socket.destroy();
  }

  #begin(request: http.IncomingMessage, response: http.ServerResponse, waits: boolean): void {
    const exchange = new Exchange(this, request, response, waits);
    this.#exchanges.add(exchange);
    void exchange.run(); // it never rejects
  }

  over(exchange: Exchange): void {
    this.#exchanges.delete(exchange);
    if (this.#options.finished !== undefined) {
      const finished = exchange.finished();
      if (finished !== undefined) this.#options.finished(finished);
    }
    if (this.#exchanges.size === 0) this.#idle?.();
  }

  #checkStalls(): void {
    const now = performance.now();
    for (const exchange of this.#exchanges) exchange.checkStall(now);
  }

  /** What node's parser would not take. Nothing may be written into another answer on the same socket. */
  #refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const isBusy = [...this.#exchanges].some((exchange) => exchange.socket === socket);
    if (isBusy || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    socket.end(rawAnswer(this.endpoint.malformed(refusalOf(error))));
  }
}

type CreateServer = (settings: http.ServerOptions) => http.Server;

async function secureServers(tls: TlsOptions): Promise<CreateServer> {
  const { createServer } = await import('node:https');
  return (settings) => createServer({ ...settings, ...tlsSettings(tls) });
}

function tlsSettings(tls: TlsOptions): SecureOptions {
  if ('cert' in tls) return { cert: tls.cert, key: tls.key };
  return tls.passphrase === undefined ? { pfx: tls.pfx } : { pfx: tls.pfx, passphrase: tls.passphrase };
}

function refusalOf(error: NodeJS.ErrnoException): StorageError {
  switch (error.code) {
    case 'HPE_INVALID_METHOD':
      return new StorageError('InvalidHttpVerb');
    case 'HPE_INVALID_URL':
      return new StorageError('InvalidUri');
    case 'HPE_HEADER_OVERFLOW':
      return new StorageError('InvalidInput', {
        status: 431,
        message: `The request line and headers are larger than ${maxHeaderBytes} bytes.`,
      });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new StorageError('OperationTimedOut', { status: 408 });
    default:
      return new StorageError('InvalidInput', { message: 'The request is not valid HTTP.' });
  }
}

/** An answer as it is on the wire, for a socket that node has given up on. */
function rawAnswer(reply: Reply): string {
  const lines = [`HTTP/1.1 ${reply.status} ${reply.reason ?? http.STATUS_CODES[reply.status] ?? ''}`];
  for (let at = 0; at < reply.headers.length; at += 2) {
    lines.push(`${reply.headers[at]}: ${reply.headers[at + 1]}`);
  }
  lines.push(`Date: ${new Date().toUTCString()}`, 'Connection: close', '', '');
  return lines.join('\r\n') + (typeof reply.body === 'string' ? reply.body : '');
}
