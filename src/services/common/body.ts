// A request's body on its way in: stored in one pass that also makes its digests.
//
// Up to 4 KiB stay in memory and go into a row; beyond that LevelDB stalls, so the rest goes to an extent. It
// is on disk before the transaction that names it begins: a commit that waited for it would keep the whole
// group waiting. Only who answers before the disk (SMB without write-through) has the commit wait instead.

import { type Bytes, buffer } from '../../base/bytes.js';
import { type DigestKinds, type Digests, digestStream, digestsOf } from '../../base/digests.js';
import type { Extents, Written } from '../../extents/extents.js';

/** The largest content that lies in a row. */
export const inlineBytes = 4096;

export interface BodyOptions extends DigestKinds {
  /** Not yet on disk when it is received: the commit that names it waits. */
  readonly syncLater?: boolean;
}

/** The body is longer or shorter than was said. */
export class BodyLengthError extends Error {
  override readonly name = 'BodyLengthError';
  constructor(expected: number, received: number) {
    super(
      `a body of ${expected} bytes was announced, and ${received} ${received > expected ? 'or more ' : ''}came`,
    );
  }
}

export type StoredBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'extent'; readonly written: Written };

/** Stored, and kept from being reclaimed until it is disposed: when the fate of the commit that names it is known. */
export class Body implements Disposable {
  readonly length: number;
  readonly digests: Digests;
  readonly stored: StoredBody;
  /** So many bytes of what is stored come before the content: what it was encrypted with, for instance. */
  readonly prefix: number;
  readonly #writer: Disposable | undefined;

  constructor(length: number, digests: Digests, stored: StoredBody, writer?: Disposable, prefix = 0) {
    this.length = length;
    this.digests = digests;
    this.stored = stored;
    this.prefix = prefix;
    this.#writer = writer;
  }

  /** The same bytes, of which the first are not content; its digests are those of what the client sent. */
  behind(prefix: number, digests: Digests): Body {
    return new Body(this.length - prefix, digests, this.stored, this.#writer, prefix);
  }

  [Symbol.dispose](): void {
    this.#writer?.[Symbol.dispose]();
  }
}

/** A body that is in memory already; more than `inlineBytes` of it go to an extent. */
export async function bodyOf(extents: Extents, bytes: Bytes, options: BodyOptions = {}): Promise<Body> {
  if (bytes.length > inlineBytes) return receiveExtent(extents, [bytes], bytes.length, options);
  return inlineBody(Buffer.from(bytes), options);
}

/** Reads `length` bytes, no more and no fewer: else a `BodyLengthError`. */
export async function receive(
  extents: Extents,
  source: AsyncIterable<Bytes>,
  length: number,
  options: BodyOptions = {},
): Promise<Body> {
  if (length > inlineBytes) return receiveExtent(extents, source, length, options);
  const chunks: Bytes[] = [];
  let received = 0;
  for await (const chunk of source) {
    received += chunk.length;
    if (received > length) break;
    chunks.push(chunk);
  }
  if (received !== length) throw new BodyLengthError(length, received);
  return inlineBody(chunks.length === 1 ? buffer(chunks[0] as Bytes) : Buffer.concat(chunks), options);
}

/** One that lies in a row, of bytes that nobody writes to any more. Nothing has to be waited for. */
export function inlineBody(bytes: Buffer, options: BodyOptions): Body {
  const stored = bytes.length === 0 ? { kind: 'empty' as const } : { kind: 'bytes' as const, bytes };
  return new Body(bytes.length, digestsOf(bytes, options), stored);
}

async function receiveExtent(
  extents: Extents,
  source: AsyncIterable<Bytes> | readonly Bytes[],
  length: number,
  options: BodyOptions,
): Promise<Body> {
  const digests = digestStream(options, length);
  const writer = await extents.write(length, (bytes) => digests.update(bytes));
  try {
    let received = 0;
    for await (const chunk of source) {
      received += chunk.length;
      if (received > length) break;
      const full = writer.append(chunk);
      if (full) await full;
    }
    if (received !== length) throw new BodyLengthError(length, received);
    const written = await writer.finish();
    if (!options.syncLater) await written.synced;
    return new Body(length, await digests.digest(), { kind: 'extent', written }, writer);
  } catch (error) {
    digests.discard();
    writer[Symbol.dispose]();
    throw error;
  }
}
