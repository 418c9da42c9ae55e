// Reads a content part by part: slices of extents, bytes that lay in rows, holes. Short parts are gathered, so
// that a content of many small writes is not sent in as many packets. What it reads is pinned until it ends.

import type { Extent, ExtentReader, Extents } from '../../extents/extents.js';

export type Part =
  | { readonly kind: 'extent'; readonly place: Extent; readonly offset: number; readonly length: number }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'zeros'; readonly length: number };

/** The next parts, with the pins that hold them. */
export interface Window {
  readonly parts: readonly Part[];
  readonly pins: Pins;
}

/** The segments of a window, each pinned once. */
export class Pins implements Disposable {
  readonly #held = new Map<number, Disposable>();

  /** False where the segment is gone. */
  pin(extents: Extents, segment: number): boolean {
    if (this.#held.has(segment)) return true;
    const pin = extents.pin(segment);
    if (pin) this.#held.set(segment, pin);
    return pin !== undefined;
  }

  [Symbol.dispose](): void {
    for (const pin of this.#held.values()) pin[Symbol.dispose]();
    this.#held.clear();
  }
}

/** Chunks shorter than the one are gathered up to the other. */
const shortBytes = 16 * 1024;
const gatheredBytes = 64 * 1024;
/** Not to be written to. */
const zeros = Buffer.alloc(256 * 1024);

export interface ReaderOptions {
  readonly extents: Extents;
  readonly first: Window;
  /** What follows; nothing at the end. */
  readonly next?: () => Promise<Window | undefined>;
  /** Called once, however it ends. */
  readonly ended?: () => void;
}

export class ContentReader implements AsyncIterableIterator<Buffer>, Disposable {
  readonly #options: ReaderOptions;
  #window: Window | undefined;
  #nextPart = 0;
  #reader: ExtentReader | undefined;
  /** What is left of a hole. */
  #zeros = 0;
  /** A long chunk that came while short ones were gathered. */
  #pending: Buffer | undefined;
  #ended = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#window = options.first;
  }

  /** All of it, if it lay in a row and needs no reading. Ends the reader. */
  takeWhole(): Buffer | undefined {
    const [part, second] = this.#window?.parts ?? [];
    if (part?.kind !== 'bytes' || second || this.#options.next) return undefined;
    this[Symbol.dispose]();
    return part.bytes;
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    try {
      const value = await this.#gather();
      if (value) return { done: false, value };
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
    return this.return();
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this[Symbol.dispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reader?.[Symbol.dispose]();
    this.#window?.pins[Symbol.dispose]();
    this.#window = undefined;
    this.#pending = undefined;
    this.#options.ended?.();
  }

  async #gather(): Promise<Buffer | undefined> {
    const first = this.#pending ?? (await this.#chunk());
    this.#pending = undefined;
    if (!first || first.length >= shortBytes) return first;
    const chunks = [first];
    for (let bytes = first.length; bytes < gatheredBytes; ) {
      const chunk = await this.#chunk();
      if (!chunk) break;
      if (chunk.length >= shortBytes) {
        this.#pending = chunk;
        break;
      }
      chunks.push(chunk);
      bytes += chunk.length;
    }
    return chunks.length === 1 ? first : Buffer.concat(chunks);
  }

  async #chunk(): Promise<Buffer | undefined> {
    while (!this.#ended && this.#window) {
      if (this.#zeros > 0) return this.#takeZeros();
      const { value } = (await this.#reader?.next()) ?? {};
      if (value) return value;
      this.#reader = undefined;
      const part = this.#window?.parts[this.#nextPart++];
      if (!part) await this.#nextWindow();
      else if (part.kind === 'bytes') return part.bytes;
      else if (part.kind === 'zeros') this.#zeros = part.length;
      else this.#reader = this.#options.extents.read(part.place, part);
    }
    return undefined;
  }

  #takeZeros(): Buffer {
    const chunk = zeros.subarray(0, this.#zeros);
    this.#zeros -= chunk.length;
    return chunk;
  }

  async #nextWindow(): Promise<void> {
    this.#window?.pins[Symbol.dispose]();
    this.#window = undefined;
    this.#nextPart = 0;
    const window = await this.#options.next?.();
    if (this.#ended) window?.pins[Symbol.dispose]();
    else this.#window = window;
  }
}
