// Snappy, decompression alone: how LevelDB packs the blocks of its tables. The format: the length of the
// result, then literals and copies of what came before, told apart by the two low bits of their first byte.

import { Cursor, MalformedError } from './cursor.js';

/** No block of a table comes near this: its content is one value of 16 MiB at most. */
const longest = 64 * 1024 * 1024;

export function unsnappy(packed: Buffer): Buffer {
  const input = new Cursor(packed);
  const length = input.varint();
  if (length > longest) throw new MalformedError('a block in it is too large');
  const output = Buffer.allocUnsafe(length);
  let end = 0;
  while (!input.atEnd) {
    const tag = input.byte();
    const kind = tag & 3;
    if (kind === 0) {
      const literal = input.take(literalLength(input, tag >> 2));
      if (end + literal.length > length) throw new MalformedError('a block in it is too long');
      literal.copy(output, end);
      end += literal.length;
    } else {
      const count = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
      const back = backReference(input, kind, tag);
      if (back === 0 || back > end || end + count > length)
        throw new MalformedError('a block has a bad copy');
      copyWithin(output, end - back, end, count);
      end += count;
    }
  }
  if (end !== length) throw new MalformedError('a block in it is too short');
  return output;
}

/** Up to 60 in the tag; beyond that the tag says in how many bytes the length follows. */
function literalLength(input: Cursor, code: number): number {
  if (code < 60) return code + 1;
  return input.take(code - 59).readUIntLE(0, code - 59) + 1;
}

function backReference(input: Cursor, kind: number, tag: number): number {
  if (kind === 1) return ((tag >> 5) << 8) | input.byte();
  return kind === 2 ? input.take(2).readUInt16LE() : input.uint32();
}

/** Byte by byte where the copy reaches into what it is writing. */
function copyWithin(output: Buffer, from: number, to: number, count: number): void {
  if (to - from >= count) output.copyWithin(to, from, from + count);
  else for (let index = 0; index < count; index++) output[to + index] = output[from + index] as number;
}
