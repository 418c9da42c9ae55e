// Direct TCP: each message has a prefix of four bytes, a zero and its length. A prefix of length zero and the
// old NetBIOS keep-alive are skipped; anything else ends the connection.

import { Hangup } from './status.js';

const prefixSize = 4;

export class Frames {
  readonly #prefix = Buffer.alloc(prefixSize);
  #prefixFilled = 0;
  #message: Buffer | undefined;
  #filled = 0;
  /** The longest message taken; grows once a dialect is chosen. */
  limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** The messages that a chunk completes. One that lies in it whole is a view of it. */
  *push(chunk: Buffer): Generator<Buffer> {
    let at = 0;
    while (at < chunk.length) {
      if (!this.#message) {
        const length = this.#readPrefix(chunk, at);
        at += prefixSize - this.#lastFilled;
        if (length === undefined) return;
        if (length === 0) continue;
        if (chunk.length - at >= length) {
          yield chunk.subarray(at, at + length);
          at += length;
          continue;
        }
        this.#message = Buffer.allocUnsafe(length);
        this.#filled = 0;
      }
      const message: Buffer = this.#message;
      const count = Math.min(message.length - this.#filled, chunk.length - at);
      chunk.copy(message, this.#filled, at, at + count);
      this.#filled += count;
      at += count;
      if (this.#filled < message.length) return;
      this.#message = undefined;
      yield message;
    }
  }

  /** How much of the prefix was there before the last chunk. */
  #lastFilled = 0;

  #readPrefix(chunk: Buffer, at: number): number | undefined {
    this.#lastFilled = this.#prefixFilled;
    const count = Math.min(prefixSize - this.#prefixFilled, chunk.length - at);
    chunk.copy(this.#prefix, this.#prefixFilled, at, at + count);
    this.#prefixFilled += count;
    if (this.#prefixFilled < prefixSize) return undefined;
    this.#prefixFilled = 0;
    const [type] = this.#prefix;
    const length = this.#prefix.readUIntBE(1, 3);
    if (type === 0x85) return 0;
    if (type !== 0) throw new Hangup('not an SMB message');
    if (length > this.limit) throw new Hangup('message too long');
    return length;
  }
}

export function framePrefix(length: number): Buffer {
  const prefix = Buffer.alloc(prefixSize);
  prefix.writeUIntBE(length, 1, 3);
  return prefix;
}
