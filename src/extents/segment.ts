// One segment as readers see it: its file, opened when it is read and closed when others are read more, and
// the pins that keep it from being dropped.

import type { Bytes } from '../base/bytes.js';
import { DamageError } from './errors.js';
import { checkHeader, checksumSeed, headerBytes } from './layout.js';
import type { SegmentFile, SegmentFiles } from './memory.js';

export class Segment {
  readonly number: number;
  readonly path: string;
  /** What the checksums of its blocks start from. */
  readonly seed: number;
  /** Where the next extent would go: the size of its file, or more while that is being written. */
  end: number;
  #pins = 0;
  #reads = 0;
  #file: Promise<SegmentFile> | undefined;
  readonly #handles: Handles;

  constructor(number: number, path: string, end: number, handles: Handles) {
    this.number = number;
    this.path = path;
    this.seed = checksumSeed(number);
    this.end = end;
    this.#handles = handles;
  }

  get pinned(): boolean {
    return this.#pins > 0;
  }

  /** Keeps it from being dropped until disposed. One that is forgotten ends when its memory is reclaimed. */
  pin(): Disposable {
    this.#pins++;
    return new Pin(this.#unpin);
  }

  readonly #unpin = (): void => {
    this.#pins--;
  };

  /** Whether its file may be closed. */
  get idle(): boolean {
    return this.#reads === 0;
  }

  /** Fills `target` from `position` on; a file that does not reach so far is damaged. */
  async read(target: Bytes, position: number): Promise<void> {
    this.#reads++;
    try {
      const file = await this.#open();
      const count = await file.read(target, position);
      if (count === target.length) return;
      throw new DamageError(
        `${this.path} ends at ${position + count}: bytes stored from ${position} on are lost`,
      );
    } finally {
      this.#reads--;
    }
  }

  /** Closes the file until it is read again. */
  async close(): Promise<void> {
    const opened = this.#file;
    this.#file = undefined;
    this.#handles.closed(this);
    const file = await opened?.catch(() => undefined);
    await file?.close();
  }

  #open(): Promise<SegmentFile> {
    if (!this.#file) {
      this.#file = openSegment(this.#handles.files, this.path, this.number);
      this.#file.catch(() => this.close());
    }
    this.#handles.used(this);
    return this.#file;
  }
}

async function openSegment(files: SegmentFiles, path: string, number: number): Promise<SegmentFile> {
  const file = await files.open(path, 'read');
  try {
    const header = Buffer.alloc(headerBytes);
    await file.read(header, 0);
    checkHeader(header, number, path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

class Pin implements Disposable {
  #unpin: (() => void) | undefined;

  constructor(unpin: () => void) {
    this.#unpin = unpin;
    forgotten.register(this, unpin, this);
  }

  [Symbol.dispose](): void {
    if (!this.#unpin) return;
    forgotten.unregister(this);
    this.#unpin();
    this.#unpin = undefined;
  }
}

const forgotten = new FinalizationRegistry<() => void>((unpin) => unpin());

/** The segments whose files are open: beyond `limit` the one used longest ago is closed. */
export class Handles {
  readonly files: SegmentFiles;
  readonly #limit: number;
  readonly #open = new Set<Segment>();

  constructor(files: SegmentFiles, limit: number) {
    this.files = files;
    this.#limit = limit;
  }

  used(segment: Segment): void {
    this.#open.delete(segment);
    this.#open.add(segment);
    if (this.#open.size <= this.#limit) return;
    for (const oldest of this.#open) {
      if (!oldest.idle) continue;
      void oldest.close();
      return;
    }
  }

  closed(segment: Segment): void {
    this.#open.delete(segment);
  }
}
