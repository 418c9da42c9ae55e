// The encoding of DCE/RPC values: numbers aligned to their size, texts as counted UTF-16 behind pointers.

/** Reads in order; a value outside the input is a RangeError. */
export class NdrReader {
  readonly #input: Buffer;
  #at = 0;

  constructor(input: Buffer) {
    this.#input = input;
  }

  u32(): number {
    this.#at = (this.#at + 3) & ~3;
    const value = this.#input.readUInt32LE(this.#at);
    this.#at += 4;
    return value;
  }

  /** A counted text: room, offset, length, then its units with a final zero. */
  text(): string {
    this.u32();
    this.u32();
    const units = this.u32();
    const end = this.#at + units * 2;
    if (end > this.#input.length) throw new RangeError('text outside the input');
    const text = this.#input.toString('utf16le', this.#at, end);
    this.#at = end;
    return text.replace(/\0$/, '');
  }

  optionalText(): string | undefined {
    return this.u32() === 0 ? undefined : this.text();
  }
}

export class NdrWriter {
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #nextPointer = 0x00020000;

  u32(value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.#push(bytes);
  }

  /** A pointer to what follows; each has a number of its own. */
  pointer(): void {
    this.u32(this.#nextPointer);
    this.#nextPointer += 4;
  }

  /** Rows of numbers and texts; a text is a pointer in its row and follows behind all rows. */
  rows(rows: readonly (readonly (number | string | null)[])[]): void {
    for (const value of rows.flat()) {
      if (typeof value === 'string') this.pointer();
      else this.u32(value ?? 0);
    }
    for (const value of rows.flat()) if (typeof value === 'string') this.#text(value);
  }

  #text(value: string): void {
    const bytes = Buffer.from(`${value}\0`, 'utf16le');
    const units = bytes.length / 2;
    this.u32(units);
    this.u32(0);
    this.u32(units);
    this.#push(bytes);
    this.#push(Buffer.alloc((4 - (this.#size % 4)) % 4));
  }

  #push(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#size += bytes.length;
  }

  done(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
