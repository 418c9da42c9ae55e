// The buffers in which bytes wait on their way to the disk: used again and again, and counted, so that slow
// disks slow down writers instead of filling memory. Full ones are shared memory: a worker that makes digests
// of what they hold needs no copy.

import { groupBytes, tableBytes } from './layout.js';

/** Four pieces make a group; each has room behind it for the group's checksums. */
export const pieceBytes = groupBytes / 4;

/** Kept for the next writers. */
const most = 256;

export class Pieces {
  readonly #spare: Buffer[] = [];
  readonly #limit: number;
  #onTheWay = 0;

  /** `limit`: how many are on the way before each writer may have only one there. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A buffer that holds `bytes` of content, at most a piece, and checksums. */
  take(bytes: number): Buffer {
    if (bytes < pieceBytes) return Buffer.allocUnsafeSlow(bytes + tableBytes);
    return this.#spare.pop() ?? Buffer.from(new SharedArrayBuffer(pieceBytes + tableBytes));
  }

  get crowded(): boolean {
    return this.#onTheWay >= this.#limit;
  }

  sent(): void {
    this.#onTheWay++;
  }

  arrived(piece: Buffer): void {
    this.#onTheWay--;
    if (piece.length === pieceBytes + tableBytes && this.#spare.length < most) this.#spare.push(piece);
  }
}
