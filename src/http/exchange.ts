// One request on a socket and its answer.
//
// Who refuses a request by its head does not read its body. A short rest is read and dropped, so that the
// connection can be used again; a long one ends the connection, and then the answer is sent, what the
// client still sends is dropped for a while, and only then is the socket closed: closing it at once would
// make the client's machine throw the answer away unread.
//
// It is over when its handler is done and its answer is out, or the client gone.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Turns } from '../base/turns.js';
import { StorageError } from '../services/common/errors.js';
import { type AnswerBody, isStream } from './answer.js';
import { absentBody, emptyBody, RequestBody } from './body.js';
import type { RequestHead, ServiceName } from './call.js';
import type { Reply, Responder } from './endpoint.js';

export interface ExchangeLimits {
  /** A client that owes bytes, or takes none, for this long has gone. */
  readonly stallMs: number;
  /** An unread rest of a body up to this length is read and dropped. */
  readonly drainBytes: number;
  /** How long the rest of a refused body is dropped before the connection is closed. */
  readonly lingerMs: number;
}

/** Whose exchange it is. */
export interface ExchangeOwner {
  readonly endpoint: Responder;
  readonly limits: ExchangeLimits;
  /** No connection is used again. */
  readonly isStopping: boolean;
  over(exchange: Exchange): void;
}

/** What the access log and the metrics are told of an exchange that is over. */
export interface Finished {
  readonly reply: Reply;
  readonly head: RequestHead;
  /** From the head's arrival to the end of the answer. */
  readonly ms: number;
  readonly isComplete: boolean;
  readonly service: ServiceName;
  /** Of the bodies. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Larger pieces are cut, so that a slow client is seen to move. */
const pieceBytes = 256 * 1024;
/** Up to this length bytes are sent as text: node then writes head and body at once, which costs less. */
const textBytes = 8 * 1024;

/** Two MiB of bodies are read, checked and sent, some 2 ms, then all others are looked at. */
const turns = new Turns(8);

export class Exchange {
  readonly #owner: ExchangeOwner;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #head: RequestHead;
  /** Nothing if there are no bytes to come. */
  readonly #body: RequestBody | undefined;
  readonly #startedAt = performance.now();
  #reply: Reply | undefined;
  #isHandled = false;
  #isClosed = false;
  #isComplete = false;
  /** It is the client's turn: to take what is sent. */
  #isSending = false;
  #sent = 0;
  #bytesOut = 0;
  #seen = -1;
  #seenAt = 0;
  /** Among those of its owner. */
  place = 0;

  constructor(owner: ExchangeOwner, request: IncomingMessage, response: ServerResponse, waits: boolean) {
    this.#owner = owner;
    this.#request = request;
    this.#response = response;
    this.#head = headOf(request);
    this.#body = hasBytes(this.#head) ? new RequestBody(request, response, waits) : undefined;
    response.on('close', () => {
      this.#isClosed = true;
      // A response whose socket was destroyed under it counts as finished with node.
      this.#isComplete = response.writableFinished && !request.socket.destroyed;
      if (this.#isHandled) owner.over(this);
    });
    response.on('error', ignore);
  }

  get socket(): Socket {
    return this.#request.socket;
  }

  async run(): Promise<void> {
    const { endpoint } = this.#owner;
    try {
      const length = this.#head.headers['content-length'];
      const body = this.#body ?? (length === undefined ? absentBody : emptyBody);
      const reply = await endpoint.respond(this.#head, body);
      this.#reply = reply;
      if (isSmall(reply.body)) this.#sendWhole(reply, reply.body);
      else await this.#sendLarge(reply, reply.body);
    } catch (error) {
      // Nothing on the way may throw; if it does, one connection is the price and not the process.
      endpoint.failed(error, this.#reply);
      this.socket.destroy();
    }
    this.#isHandled = true;
    if (this.#isClosed) this.#owner.over(this);
  }

  finished(): Finished | undefined {
    if (this.#reply === undefined) return undefined;
    const ms = performance.now() - this.#startedAt;
    return {
      reply: this.#reply,
      head: this.#head,
      ms,
      isComplete: this.#isComplete,
      service: this.#owner.endpoint.name,
      bytesIn: this.#body?.received ?? 0,
      bytesOut: this.#bytesOut,
    };
  }

  /** Ends an exchange whose client has not moved for too long, although it is its turn. */
  checkStall(now: number): void {
    const owesBytes = this.#body?.isAwaited ?? false;
    const progress = (this.#body?.progress ?? 0) + this.#sent;
    if ((!owesBytes && !this.#isSending) || progress !== this.#seen) {
      this.#seen = progress;
      this.#seenAt = now;
    } else if (now - this.#seenAt >= this.#owner.limits.stallMs) {
      if (owesBytes) this.#body?.fail(new StorageError('OperationTimedOut'));
      else this.socket.destroy();
    }
  }

  #sendWhole(reply: Reply, body: Buffer | string | undefined): void {
    if (reply.isGone || this.#response.destroyed) {
      this.socket.destroy();
      return;
    }
    this.#isSending = true;
    const unread = this.#body?.unreadBytes ?? 0;
    const waits = this.#body?.isHeldBack ?? false;
    const close = waits || unread > this.#owner.limits.drainBytes || this.#owner.isStopping;
    if (!this.#writeHead(reply, close)) return;
    if (body !== undefined) this.#bytesOut += Buffer.byteLength(body);
    if (unread > 0 && !waits) this.#body?.discard();
    if (unread > 0 && !waits && close) this.#linger(body);
    else if (Buffer.isBuffer(body) && body.length <= textBytes) {
      this.#response.end(body.toString('latin1'), 'latin1');
    } else this.#response.end(body);
  }

  /** The headers, at once. One that cannot be written is a bug and answered as such: nothing else is sent then. */
  #writeHead(reply: Reply, close: boolean): boolean {
    const response = this.#response;
    try {
      const headers = close ? [...reply.headers, 'Connection', 'close'] : reply.headers;
      response.writeHead(reply.status, reply.reason, headers);
      return true;
    } catch (error) {
      const refusal = this.#owner.endpoint.refuse(error, this.#head, reply);
      this.#reply = refusal;
      response.writeHead(refusal.status, refusal.reason, [...refusal.headers, 'Connection', 'close']);
      response.end(refusal.body);
      return false;
    }
  }

  #linger(body: Buffer | string | undefined): void {
    const response = this.#response;
    if (body === undefined) response.flushHeaders();
    else response.write(body);
    const end = () => response.end();
    const timer = setTimeout(end, this.#owner.limits.lingerMs);
    this.#request.once('end', end);
    response.once('close', () => clearTimeout(timer));
  }

  /** Piece by piece. An error before the first piece is answered; a later one breaks the connection. */
  async #sendLarge(reply: Reply, body: Buffer | string | AsyncIterable<Buffer>): Promise<void> {
    const pieces = isStream(body) ? body : alone(body);
    const iterator = pieces[Symbol.asyncIterator]();
    let next: IteratorResult<Buffer>;
    try {
      next = await iterator.next();
    } catch (error) {
      const refusal = this.#owner.endpoint.refuse(error, this.#head, reply);
      this.#reply = refusal;
      this.#sendWhole(refusal, refusal.body as string | undefined);
      return;
    }
    try {
      const close = this.#body !== undefined && (this.#body.unreadBytes > 0 || this.#body.isHeldBack);
      if (!this.#writeHead(reply, close || this.#owner.isStopping)) return;
      while (!next.done && !this.#response.destroyed) {
        await this.#sendPiece(next.value);
        await turns.take();
        next = await iterator.next();
      }
      this.#isSending = true;
      this.#response.end();
    } finally {
      await iterator.return?.(); // what was pinned for the reading is let go
    }
  }

  async #sendPiece(piece: Buffer): Promise<void> {
    for (let at = 0; at < piece.length && !this.#response.destroyed; at += pieceBytes) {
      const part = piece.length <= pieceBytes ? piece : piece.subarray(at, at + pieceBytes);
      this.#bytesOut += part.length;
      if (!this.#response.write(part)) await this.#drained();
    }
  }

  /** Until the socket takes more, or is closed. */
  async #drained(): Promise<void> {
    const response = this.#response;
    if (response.destroyed || !response.writableNeedDrain) return;
    this.#isSending = true;
    await new Promise<void>((resolve) => {
      const wake = () => {
        response.off('drain', wake);
        response.off('close', wake);
        resolve();
      };
      response.on('drain', wake);
      response.on('close', wake);
    });
    this.#isSending = false;
    this.#sent++;
  }
}

/** Written to after the client went away: told by the close. Unheard, it would end the process. */
function ignore(): void {}

function isSmall(body: AnswerBody): body is Buffer | string | undefined {
  return body === undefined || (!isStream(body) && body.length <= pieceBytes);
}

async function* alone(body: string | Buffer): AsyncGenerator<Buffer> {
  yield Buffer.isBuffer(body) ? body : Buffer.from(body);
}

function hasBytes({ headers }: RequestHead): boolean {
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0';
}

function headOf(request: IncomingMessage): RequestHead {
  const { socket } = request;
  const address = socket.remoteAddress ?? '';
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    remoteAddress: address.startsWith('::ffff:') ? address.slice(7) : address,
    secure: (socket as TLSSocket).encrypted === true,
    isGone: () => socket.destroyed,
  };
}
