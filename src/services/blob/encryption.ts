// Customer-provided keys: a content that only who sends the key can read. The key is never stored, only its hash.
//
// What comes in one body is encrypted as one: 16 random bytes, then the content under AES-256 in counter mode, begun at
// them. So any byte can be read by itself: its place in the extent tells where in the key stream it is, also when
// an extent is shared, cut or moved. Bytes are verified by the checksums of the extents below.

import { createCipheriv, randomBytes } from 'node:crypto';
import { digestStream } from '../../base/digests.js';
import type { Transaction } from '../../collections/index.js';
import type { Body, BodyOptions } from '../common/body.js';
import type { ContentReader } from '../common/content-reader.js';
import { type Piece, unpackPiece } from '../common/content-rows.js';
import { StorageError } from '../common/errors.js';
import { fill } from '../common/range-map.js';
import type { ByteSlice } from './content.js';
import type { BlobContent, BlobRecord, BlobStore } from './model.js';

export interface CustomerKey {
  readonly key: Buffer;
  /** Of the key, in Base64: what is stored and told. */
  readonly sha256: string;
}

const ivBytes = 16;
const algorithm = 'aes-256-ctr';

/** Refuses who has no key, another one, or one too many. */
export function checkKey({ key: stored }: Pick<BlobRecord, 'key'>, key: CustomerKey | undefined): void {
  if (stored === key?.sha256) return;
  if (stored === undefined) throw new StorageError('BlobDoesNotUseCustomerSpecifiedEncryption');
  if (key === undefined) throw new StorageError('BlobUsesCustomerSpecifiedEncryption');
  throw new StorageError('BlobCustomerSpecifiedEncryptionMismatch');
}

/** Stores a body encrypted; its digests are those of what came. */
export async function receiveEncrypted(
  store: BlobStore,
  chunks: AsyncIterable<Buffer>,
  length: number,
  wants: BodyOptions,
  { key }: CustomerKey,
): Promise<Body> {
  const sums = digestStream(wants, length);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv);
  async function* encrypted(): AsyncGenerator<Buffer> {
    yield iv;
    for await (const chunk of chunks) {
      await sums.update(chunk);
      yield cipher.update(chunk);
    }
  }
  try {
    const body = await store.contents.receive(encrypted(), length + ivBytes, {});
    return body.behind(ivBytes, await sums.digest());
  } catch (error) {
    sums.discard();
    throw error;
  }
}

/** What begins at `position` of an encrypted extent's content, decrypted chunk by chunk. */
function decipher(key: Buffer, iv: Buffer, position: number): (chunk: Buffer) => Buffer {
  const counter = (BigInt(`0x${iv.toString('hex')}`) + BigInt(Math.floor(position / ivBytes))) % 2n ** 128n;
  const begun = Buffer.from(counter.toString(16).padStart(2 * ivBytes, '0'), 'hex');
  const stream = createCipheriv(algorithm, key, begun); // in counter mode both ways are the same
  stream.update(Buffer.alloc(position % ivBytes));
  return (chunk) => stream.update(chunk);
}

/** Part of an encrypted content, opened: its extent's first bytes, then itself. Nothing to read: zeros. */
type Opened = { readonly reader: ContentReader; readonly position: number } | { readonly zeros: number };

export interface EncryptedReader extends AsyncIterable<Buffer>, Disposable {}

/** Reads a part of an encrypted content. To be read to its end, or disposed. */
export async function openEncrypted(
  store: BlobStore,
  tx: Transaction,
  content: BlobContent,
  slice: ByteSlice,
  { key }: CustomerKey,
): Promise<EncryptedReader | undefined> {
  if (slice.length === 0 || content.kind === 'empty') return undefined;
  const windows = new Windows(store, content, slice);
  const first = await windows.next(tx);
  return {
    [Symbol.dispose]: () => {
      windows[Symbol.dispose]();
      close(first);
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (
          let window = first;
          window.length > 0;
          window = windows.atEnd ? [] : await store.run((t) => windows.next(t))
        ) {
          try {
            for (const part of window) yield* decrypted(part, key);
          } finally {
            close(window);
          }
        }
      } finally {
        windows[Symbol.dispose]();
      }
    },
  };
}

function close(parts: readonly Opened[]): void {
  for (const part of parts) if ('reader' in part) part.reader[Symbol.dispose]();
}

async function* decrypted(part: Opened, key: Buffer): AsyncGenerator<Buffer> {
  if ('zeros' in part) {
    for (let left = part.zeros; left > 0; left -= zeros.length) yield zeros.subarray(0, left);
    return;
  }
  let head = Buffer.alloc(0);
  let open: ((chunk: Buffer) => Buffer) | undefined;
  for await (const chunk of part.reader) {
    let rest = chunk;
    if (open === undefined) {
      head = Buffer.concat([head, chunk]);
      if (head.length < ivBytes) continue;
      open = decipher(key, head.subarray(0, ivBytes), part.position);
      rest = head.subarray(ivBytes);
    }
    if (rest.length > 0) yield open(rest);
  }
}

const zeros = Buffer.alloc(64 * 1024);

/** The parts of a range, some at a time; what is opened together is as of one moment. */
class Windows implements Disposable {
  readonly #store: BlobStore;
  readonly #content: Exclude<BlobContent, { kind: 'empty' }>;
  readonly #end: number;
  #at: number;
  /** Keeps a map from being swept while it is read. */
  #pin: ContentReader | undefined;

  constructor(
    store: BlobStore,
    content: Exclude<BlobContent, { kind: 'empty' }>,
    { offset, length }: ByteSlice,
  ) {
    this.#store = store;
    this.#content = content;
    this.#at = offset;
    this.#end = offset + length;
  }

  get atEnd(): boolean {
    return this.#at >= this.#end;
  }

  async next(tx: Transaction): Promise<readonly Opened[]> {
    const content = this.#content;
    const range = { start: this.#at, end: this.#end };
    if (content.kind === 'piece') {
      const piece = unpackPiece(content.piece);
      this.#at = this.#end;
      return [
        await this.#open(tx, {
          ...piece,
          offset: piece.offset + range.start,
          length: range.end - range.start,
        }),
      ];
    }
    const snapshot = content.kind === 'pages' && content.isKept ? content.epoch : undefined;
    this.#pin ??= await this.#store.maps.open(
      tx,
      content.map,
      { offset: range.start, length: range.end - range.start },
      snapshot,
    );
    const page = await this.#store.slices.shown(tx, content.map, range, snapshot);
    const parts: Opened[] = [];
    for (const { start, end, source } of fill(page.slices, { start: range.start, end: page.end })) {
      const length = end - start;
      parts.push(source?.kind === 'extent' ? await this.#open(tx, { ...source, length }) : { zeros: length });
    }
    this.#at = page.end;
    return parts;
  }

  async #open(tx: Transaction, piece: Piece): Promise<Opened> {
    const head: Piece = { extent: piece.extent, offset: 0, length: ivBytes };
    return { reader: await this.#store.contents.open(tx, [head, piece]), position: piece.offset - ivBytes };
  }

  [Symbol.dispose](): void {
    this.#pin?.[Symbol.dispose]();
  }
}
