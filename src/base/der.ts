// The little of DER that authentication tokens need: definite lengths, low tags. Reading never goes
// outside its buffer; nesting is bounded because each structure is read by a function of its own.

/** One element: its tag, its content, and all its bytes. */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** The element at the start of the buffer, or nothing if there is none that is well formed. */
export function readElement(from: Buffer): Element | undefined {
  const tag = from[0];
  const first = from[1];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  let length = first;
  let at = 2;
  if (first & 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4 || from.length < 2 + count) return undefined;
    length = from.readUIntBE(2, count);
    at += count;
  }
  if (at + length > from.length) return undefined;
  return { tag, content: from.subarray(at, at + length), whole: from.subarray(0, at + length) };
}

/** All elements of a content, or nothing if something in it is not an element. */
export function readElements(from: Buffer): Element[] | undefined {
  const elements: Element[] = [];
  for (let at = 0; at < from.length; ) {
    const element = readElement(from.subarray(at));
    if (!element || elements.length === 64) return undefined;
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

/** The content of the element if it has this tag. */
export function contentOf(element: Element | undefined, tag: number): Buffer | undefined {
  return element?.tag === tag ? element.content : undefined;
}

export function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const size = content.reduce((sum, piece) => sum + piece.length, 0);
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), ...content]);
}
