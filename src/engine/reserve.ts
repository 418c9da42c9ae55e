// The reserve: a file that only takes up space. On a full disk it is given up, so that the store can be
// opened and things can be deleted; when there is room again it comes back.

import { randomFillSync } from 'node:crypto';
import { dirname } from 'node:path';
import { type Files, hasCode } from '../base/files.js';

const pieceBytes = 1024 * 1024;

/** As Node and as LevelDB say it. */
export function isFull(error: unknown): boolean {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return true;
  if (!(error instanceof Error)) return false;
  return /no space left|quota exceeded|not enough space/i.test(error.message) || isFull(error.cause);
}

export class Reserve {
  readonly #files: Files;
  readonly #path: string;
  readonly #bytes: number;
  #kept = false;
  #closed = false;
  #making: Promise<void> | undefined;

  constructor(files: Files, path: string, bytes: number) {
    this.#files = files;
    this.#path = path;
    this.#bytes = bytes;
  }

  /** Makes it if it is not there and leaves `floorBytes` free. Ends with it or without; tried again later. */
  keep(floorBytes: number): Promise<void> {
    if (this.#bytes === 0 || this.#kept || this.#closed) return Promise.resolve();
    this.#making ??= this.#make(floorBytes).finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  /** Whether there was something to give up. */
  async giveUp(): Promise<boolean> {
    await this.#making;
    this.#kept = false;
    if ((await this.#files.status(this.#path)) === undefined) return false;
    await this.#files.remove(this.#path);
    await this.#files.syncFolder(dirname(this.#path));
    return true;
  }

  /** Ends when nothing more is written. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#making;
  }

  async #make(floorBytes: number): Promise<void> {
    try {
      const found = await this.#files.status(this.#path);
      if (found?.size !== this.#bytes) {
        const needed = floorBytes + this.#bytes - (found?.size ?? 0);
        if ((await this.#files.freeBytes(dirname(this.#path))) < needed) return;
        if (found !== undefined) await this.#files.remove(this.#path);
        await this.#fill();
      }
      this.#kept = true;
    } catch {
      // No room after all, or no time: what was written is of no use and would only be in the way.
      await this.#files.remove(this.#path).catch(() => {});
    }
  }

  async #fill(): Promise<void> {
    // Random bytes: a file system that compresses would reserve nothing for zeros.
    const piece = randomFillSync(Buffer.allocUnsafe(Math.min(pieceBytes, this.#bytes)));
    await using file = await this.#files.open(this.#path, 'new');
    for (let position = 0; position < this.#bytes; position += piece.length) {
      if (this.#closed) throw new Error('closed before it was whole');
      await file.write(piece.subarray(0, this.#bytes - position), position);
      // Piece by piece: a flush of all at once would hold up the commits of that moment.
      await file.sync();
    }
  }
}
