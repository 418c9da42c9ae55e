// Words for bytes that the language lacks. A Buffer is a Uint8Array; everything here takes either.

export type Bytes = Uint8Array;

export const emptyBytes: Bytes = new Uint8Array(0);

/** The same memory seen as a Buffer: no copy. */
export function buffer(bytes: Bytes): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A copy to be kept for long: small bytes are mostly a part of a larger piece of memory, which they would keep. */
export function ownCopy(bytes: Bytes): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

/** Negative, zero or positive, as the bytes are ordered; a prefix comes first. */
export function compareBytes(a: Bytes, b: Bytes): number {
  return buffer(a).compare(b);
}

export function equalBytes(a: Bytes, b: Bytes): boolean {
  return a.byteLength === b.byteLength && buffer(a).equals(b);
}

/** The smallest key above all keys that begin with `prefix`; nothing if the prefix is all 0xff. */
export function afterPrefix(prefix: Bytes): Bytes | undefined {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === 0xff) end--;
  if (end === 0) return undefined;
  const after = Uint8Array.prototype.slice.call(prefix, 0, end);
  after[end - 1] = (after[end - 1] as number) + 1;
  return after;
}

/** Bytes as a string of one character each: a key for a Map. Order is kept. */
export function mapKey(bytes: Bytes): string {
  return buffer(bytes).toString('latin1');
}

/** The bytes that `mapKey` made this of. */
export function fromMapKey(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
