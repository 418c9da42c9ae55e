// The bytes a request carries, read once: whole, or chunk by chunk with back-pressure.
//
// `100 Continue` is sent when reading begins, so a client that waits for it sends nothing to a request
// that is refused by its head. A client that goes away before the declared length has come ends the
// reading with a `ClientGoneError`: nothing of such a body is ever stored.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { assert } from '../base/assert.js';
import { StorageError } from '../services/common/errors.js';

export interface Body extends AsyncIterable<Buffer> {
  /** `Content-Length`; nothing if the request declared none. */
  readonly declaredLength: number | undefined;
  /** Whether the client sends nothing of it before it is told to go on. */
  readonly isHeldBack: boolean;

  /**
   * The declared length, checked before a byte is read: 411 `MissingContentLengthHeader` if there is
   * none, 413 `RequestBodyTooLarge` if it is above the limit.
   */
  requireLength(limit: number): number;

  /** All of it; 413 `RequestBodyTooLarge` above the limit. A request without a body gives no bytes. */
  readAll(limit: number): Promise<Buffer>;
}

/** The client closed the connection, or broke off: there is nobody to answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
  constructor() {
    super('the client went away before the request was complete');
  }
}

const none = Buffer.alloc(0);

/** A body that is in memory: of a part of a batch, or of a test. */
export function bodyOf(bytes: Buffer): Body {
  return {
    declaredLength: bytes.length,
    isHeldBack: false,
    requireLength: (limit) => checkLength(bytes.length, limit),
    readAll: async (limit) => {
      checkLength(bytes.length, limit);
      return bytes;
    },
    async *[Symbol.asyncIterator]() {
      if (bytes.length > 0) yield bytes;
    },
  };
}

/** The body of a request that has none: neither bytes nor a length. */
export const absentBody: Body = {
  declaredLength: undefined,
  isHeldBack: false,
  requireLength: () => {
    throw new StorageError('MissingContentLengthHeader');
  },
  readAll: async () => none,
  async *[Symbol.asyncIterator]() {},
};

/** The body of a request that declares no bytes. */
export const emptyBody: Body = bodyOf(Buffer.alloc(0));

function checkLength(length: number, limit: number): number {
  if (length <= limit) return length;
  throw new StorageError('RequestBodyTooLarge', { details: { MaxLimit: String(limit) } });
}

/** Beyond this much unread, the socket waits. */
const highWaterBytes = 256 * 1024;

/** The body of a request of node that has one. */
export class RequestBody implements Body {
  readonly declaredLength: number | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #owesContinue: boolean;
  #begun = false;
  #received = 0;
  #ended = false;
  #isDiscarding = false;
  #failure: Error | undefined;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** Wakes the reader; there is one at most. */
  #wake: (() => void) | undefined;
  /** Moved by every chunk that arrives: who watches for stalled clients compares it. */
  progress = 0;

  constructor(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    this.#request = request;
    this.#response = response;
    this.#owesContinue = expectsContinue;
    const length = request.headers['content-length'];
    this.declaredLength = length === undefined ? undefined : Number(length); // digits, as node's parser saw to it; none where chunks come
  }

  /** Whether the client's turn is on: it owes bytes that somebody waits for. */
  get isAwaited(): boolean {
    return this.#wake !== undefined;
  }

  /** Bytes that came. */
  get received(): number {
    return this.#received;
  }

  /** Bytes the client will still send, whoever reads them; unknown if it declared no length. */
  get unreadBytes(): number {
    if (this.#ended) return 0;
    return (this.declaredLength ?? Number.POSITIVE_INFINITY) - this.#received;
  }

  /** Whether the client still waits to be told to go on: it may send its body or not. */
  get isHeldBack(): boolean {
    return this.#owesContinue;
  }

  requireLength(limit: number): number {
    if (this.declaredLength === undefined) throw new StorageError('MissingContentLengthHeader');
    return checkLength(this.declaredLength, limit);
  }

  async readAll(limit: number): Promise<Buffer> {
    this.requireLength(limit);
    this.#begin();
    while (!this.#ended && this.#failure === undefined) await this.#arrival(Number.POSITIVE_INFINITY);
    if (this.#failure !== undefined) throw this.#failure;
    const chunks = this.#queue;
    this.#queue = [];
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    this.requireLength(Number.POSITIVE_INFINITY);
    this.#begin();
    while (true) {
      const chunk = this.#queue.shift();
      if (chunk !== undefined) {
        this.#queuedBytes -= chunk.length;
        yield chunk;
      } else if (this.#failure !== undefined) throw this.#failure;
      else if (this.#ended) return;
      else await this.#arrival(highWaterBytes);
    }
  }

  /** Ends the reading with an error: the client stalled, or the server stops. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#wakeUp();
  }

  /** Lets what still comes run into nothing, so that the connection can go on. */
  discard(): void {
    this.#isDiscarding = true;
    this.#queue = [];
    this.#request.resume();
  }

  #begin(): void {
    assert(!this.#begun, 'a request body is read once');
    this.#begun = true;
    if (this.#request.destroyed) this.fail(new ClientGoneError());
    this.#request.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#request.on('end', () => this.#end());
    this.#request.on('close', () => this.#close());
    this.#request.on('error', () => this.fail(new ClientGoneError()));
    if (this.#owesContinue) {
      this.#owesContinue = false;
      this.#response.writeContinue();
    }
  }

  #limit = highWaterBytes;

  #arrival(limit: number): Promise<void> {
    this.#limit = limit;
    this.#request.resume();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #take(chunk: Buffer): void {
    this.#received += chunk.length;
    this.#queuedBytes += chunk.length;
    this.progress++;
    if (this.#isDiscarding) return;
    this.#queue.push(chunk);
    if (this.#queuedBytes >= this.#limit) this.#request.pause();
    if (this.#limit !== Number.POSITIVE_INFINITY) this.#wakeUp();
  }

  #end(): void {
    this.#ended = true;
    // node's parser counts as well; were it ever wrong, a short body must not be taken for a whole one.
    if (this.#received !== this.declaredLength) this.#failure ??= new StorageError('InvalidInput');
    this.#wakeUp();
  }

  #close(): void {
    if (!this.#ended) this.fail(new ClientGoneError());
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
