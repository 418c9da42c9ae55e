// One request on a socket and its answer.
//
// Who refuses a request by its head does not read its body. A short rest is read and dropped, so that the
// connection can be used again; a long one ends the connection, and then the answer is sent, what the
// client still sends is dropped for a while, and only then is the socket closed: closing it at once would
// make the client's machine throw the answer away unread.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { StorageError } from '../services/common/errors.js';
import { RequestBody } from './body.js';
import type { RequestHead } from './call.js';
import type { Reply, Responder } from './endpoint.js';

export interface ExchangeLimits {
  /** A client that owes bytes, or takes none, for this long has gone. */
  readonly stallMs: number;
  /** An unread rest of a body up to this length is read and dropped. */
  readonly drainBytes: number;
  /** How long the rest of a refused body is dropped before the connection is closed. */
  readonly lingerMs: number;
}

/** What the access log and the metrics are told, once the last byte is out or the client is gone. */
export interface Finished {
  readonly reply: Reply;
  readonly head: RequestHead;
  /** From the head's arrival to the end of the answer. */
  readonly ms: number;
  readonly isComplete: boolean;
}

/** Larger pieces are cut, so that a slow client is seen to move. */
const pieceBytes = 256 * 1024;

export class Exchange {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #body: RequestBody;
  readonly #head: RequestHead;
  readonly #endpoint: Responder;
  readonly #limits: ExchangeLimits;
  readonly #startedAt = performance.now();
  #reply: Reply | undefined;
  #isComplete = false;
  #isSending = false;
  #sent = 0;
  #seen = -1;
  #seenAt = 0;

  constructor(
    endpoint: Responder,
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
    limits: ExchangeLimits,
  ) {
    this.#endpoint = endpoint;
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    this.#body = new RequestBody(request, response, expectsContinue);
    this.#head = headOf(request);
    // A response whose socket was destroyed under it finishes as well; node's own listener may destroy it.
    response.prependListener('finish', () => {
      this.#isComplete = !request.socket.destroyed;
    });
  }

  /** Answers; resolves when the answer is handed to the socket, or nobody waits for it. `last`: close after it. */
  async run(isLast: () => boolean): Promise<void> {
    const reply = await this.#endpoint.respond(this.#head, this.#body);
    this.#reply = reply;
    const { body } = reply;
    if (isSmall(body)) this.#sendWhole(reply, body, isLast());
    else {
      const pieces = typeof body === 'string' || Buffer.isBuffer(body) ? alone(body) : body;
      const refusal = await this.#sendStream(reply, pieces, isLast());
      if (refusal === undefined) return;
      this.#reply = refusal;
      this.#sendWhole(refusal, refusal.body as string | undefined, isLast());
    }
  }

  finished(): Finished | undefined {
    if (this.#reply === undefined) return undefined;
    const ms = performance.now() - this.#startedAt;
    return { reply: this.#reply, head: this.#head, ms, isComplete: this.#isComplete };
  }

  /** Ends an exchange whose client has not moved for too long, although it is its turn. */
  checkStall(now: number): void {
    const isClientsTurn = this.#body.isAwaited || this.#isSending;
    const progress = this.#body.progress + this.#sent;
    if (!isClientsTurn || progress !== this.#seen) {
      this.#seen = progress;
      this.#seenAt = now;
    } else if (now - this.#seenAt >= this.#limits.stallMs) {
      if (this.#body.isAwaited) this.#body.fail(new StorageError('OperationTimedOut'));
      else this.#request.socket.destroy();
    }
  }

  #sendWhole(reply: Reply, body: Buffer | string | undefined, isLast: boolean): void {
    this.#isSending = true;
    if (reply.isGone || this.#response.destroyed) {
      this.#request.socket.destroy();
      return;
    }
    const unread = this.#body.unreadBytes;
    const close = isLast || this.#body.owesContinue || unread > this.#limits.drainBytes;
    const sent = this.#writeHead(reply, close);
    const whole = sent === reply ? body : (sent.body as string);
    if (unread > 0 && !this.#body.owesContinue) {
      this.#body.discard();
      if (close) {
        this.#linger(whole);
        return;
      }
    }
    this.#response.end(whole);
  }

  /** The headers, at once. One that cannot be written is a bug, and answered as such. */
  #writeHead(reply: Reply, close: boolean): Reply {
    const response = this.#response;
    try {
      const headers = close ? [...reply.headers, 'Connection', 'close'] : reply.headers;
      response.writeHead(reply.status, reply.reason, headers);
      return reply;
    } catch (error) {
      const other = this.#endpoint.failedBody(error, this.#head, reply);
      this.#reply = other;
      response.writeHead(other.status, other.reason, [...other.headers, 'Connection', 'close']);
      return other;
    }
  }

  #linger(body: Buffer | string | undefined): void {
    const response = this.#response;
    if (body === undefined) response.flushHeaders();
    else response.write(body);
    const timer = setTimeout(() => response.end(), this.#limits.lingerMs);
    const end = () => {
      clearTimeout(timer);
      response.end();
    };
    this.#request.once('end', end);
    response.once('close', () => clearTimeout(timer));
  }

  /** Sends a body piece by piece. An error before the first piece is given back as an answer of its own. */
  async #sendStream(reply: Reply, body: AsyncIterable<Buffer>, isLast: boolean): Promise<Reply | undefined> {
    const iterator = body[Symbol.asyncIterator]();
    try {
      let next: IteratorResult<Buffer>;
      try {
        next = await iterator.next();
      } catch (error) {
        return this.#endpoint.failedBody(error, this.#head, reply);
      }
      const close = isLast || this.#body.unreadBytes > 0 || this.#body.owesContinue;
      const sent = this.#writeHead(reply, close);
      if (sent !== reply) {
        this.#response.end(sent.body);
        return undefined;
      }
      if (this.#body.unreadBytes > 0) this.#body.discard();
      while (!next.done && !this.#response.destroyed) {
        await this.#sendChunk(next.value);
        next = await iterator.next();
      }
      this.#isSending = true;
      this.#response.end();
    } catch (error) {
      this.#endpoint.failed(error, reply);
      this.#request.socket.destroy(); // the client must not take a part for the whole
    } finally {
      await iterator.return?.();
    }
    return undefined;
  }

  async #sendChunk(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length && !this.#response.destroyed; at += pieceBytes) {
      const piece = chunk.length <= pieceBytes ? chunk : chunk.subarray(at, at + pieceBytes);
      if (!this.#response.write(piece)) await this.#drained();
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

function isSmall(body: Reply['body']): body is Buffer | string | undefined {
  return (
    body === undefined || ((typeof body === 'string' || Buffer.isBuffer(body)) && body.length <= pieceBytes)
  );
}

async function* alone(body: string | Buffer): AsyncGenerator<Buffer> {
  yield Buffer.isBuffer(body) ? body : Buffer.from(body);
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
  };
}
