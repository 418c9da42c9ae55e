// Reads LevelDB's numbers and strings from bytes, in order. What does not fit is a `MalformedError`, which
// says nothing of the file: the caller, who knows it, makes a `DamageError` of it.

export class MalformedError extends Error {}

export class Cursor {
  readonly bytes: Buffer;
  offset: number;

  constructor(bytes: Buffer, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
  }

  get atEnd(): boolean {
    return this.offset >= this.bytes.length;
  }

  byte(): number {
    const value = this.bytes[this.offset];
    if (value === undefined) throw new MalformedError('it ends too early');
    this.offset++;
    return value;
  }

  /** Seven bits a byte, the low ones first. Beyond 2^53 nothing LevelDB counts is right. */
  varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 63; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte >= 0x80) continue;
      // Nor does LevelDB write a number longer than it has to be.
      if (value > Number.MAX_SAFE_INTEGER || (byte === 0 && scale > 1)) break;
      return value;
    }
    throw new MalformedError('a number in it is not as LevelDB writes them');
  }

  take(length: number): Buffer {
    const end = this.offset + length;
    if (end > this.bytes.length) throw new MalformedError('it ends too early');
    const taken = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return taken;
  }

  /** A length, then that many bytes. */
  string(): Buffer {
    return this.take(this.varint());
  }

  uint32(): number {
    return this.take(4).readUInt32LE();
  }

  /** Below 2^53, as sequences are 56 bits and none gets that far. */
  uint64(): number {
    const low = this.uint32();
    const high = this.uint32();
    if (high >= 2 ** 21) throw new MalformedError('a number in it is too large');
    return high * 2 ** 32 + low;
  }
}
