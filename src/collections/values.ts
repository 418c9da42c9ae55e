// A collection of values: how they become bytes and come back. A value is stored as the codec's bytes and
// decoded anew for every read: nothing is shared with the caller.

import type { Version } from '../engine/engine.js';
import type { CatalogRecord } from './catalog.js';
import { type Codec, deepFreeze, defaultCodec } from './codec.js';
import { Collection } from './collection.js';
import { ArgumentError, InvalidDataError, OperationTooLargeError } from './errors.js';
import type { Kernel } from './kernel.js';
import { ValueTooLargeError } from './pack.js';
import type { Transaction } from './transaction.js';
import { unpack } from './unpack.js';

export abstract class ValueCollection<V> extends Collection {
  /** @internal */ codec: Codec<V>;

  /** @internal */
  constructor(kernel: Kernel, name: string, record: CatalogRecord, version: Version, codec: Codec<V>) {
    super(kernel, name, record, version);
    this.codec = codec;
  }

  /** A value over the limit ends the transaction, as it can never be committed. */
  protected encode(tx: Transaction, value: V): Uint8Array {
    if (value === undefined) {
      throw new ArgumentError(
        `${this.name}: undefined cannot be stored: use null, or leave it out or remove it`,
      );
    }
    const { maxValueBytes } = this.kernel.settings;
    let size = '';
    try {
      const bytes = this.codec.encode(value);
      if (!(bytes instanceof Uint8Array))
        throw new ArgumentError(
          `${this.name}: the codec ${this.codec.name} must make a Uint8Array of a value`,
        );
      if (bytes.length <= maxValueBytes) return bytes;
      size = ` of ${bytes.length} bytes`;
    } catch (error) {
      if (!(error instanceof ValueTooLargeError)) throw error;
    }
    const cause = new OperationTooLargeError(
      `${this.name}: a value${size} is over the limit of ${maxValueBytes} bytes: split it`,
    );
    throw tx.fault(cause.message, cause);
  }

  /** @internal From `start` on to the end. */
  decode(bytes: Uint8Array, start = 0): V {
    // The store's own bytes: a codec of somebody else's might hand out a part of them.
    const value =
      this.codec === defaultCodec
        ? (unpack(bytes, start) as V)
        : this.codec.decode(Buffer.from(bytes.subarray(start)));
    return this.kernel.settings.freeze ? deepFreeze(value) : value;
  }
}

/** Refuses unless what was written with the codec of the record can be read with this one. */
function assertReadableWith(
  name: string,
  record: CatalogRecord,
  codec: Pick<Codec, 'name' | 'version'>,
): void {
  if (record.codec !== codec.name) {
    throw new InvalidDataError(
      `${name} was written with the codec ${record.codec}: open it with that one, not with ${codec.name}`,
    );
  }
  if (record.codecVersion > codec.version) {
    throw new InvalidDataError(
      `${name} was written with version ${record.codecVersion} of the codec ${codec.name}, and this is ` +
        `version ${codec.version}: use a newer one`,
    );
  }
}

/** Stands in for a codec that is not known here: the collection is there and can be removed, but not used. */
class UnknownCodec implements Codec<never> {
  readonly name: string;
  readonly version: number;
  readonly #collection: string;

  constructor(collection: string, { codec, codecVersion }: CatalogRecord) {
    this.#collection = collection;
    this.name = codec;
    this.version = codecVersion;
  }

  encode(): never {
    throw this.refusal();
  }

  decode(): never {
    throw this.refusal();
  }

  refusal(): InvalidDataError {
    return new InvalidDataError(
      `${this.#collection} was written with version ${this.version} of the codec ${this.name}, which is not known ` +
        'here: open it with that codec, or give the codec to StateManager.open',
    );
  }
}

/** The codec for what was found: of those that are known the one that wrote it, or a newer version of that. */
export function codecFor(name: string, record: CatalogRecord, known: readonly Codec[]): Codec {
  const fit = known.find((codec) => codec.name === record.codec && codec.version >= record.codecVersion);
  return fit ?? new UnknownCodec(name, record);
}

/**
 * Uses the codec that is given, or the one that is known already. A new record where the codec is newer than
 * the one that wrote: an older program must not read what this one writes.
 */
export function adoptCodec<V>(
  collection: ValueCollection<V>,
  codec: Codec<V> | undefined,
): CatalogRecord | undefined {
  const { name, record } = collection;
  if (codec !== undefined) {
    assertReadableWith(name, record, codec);
    collection.codec = codec;
  }
  if (collection.codec instanceof UnknownCodec) throw collection.codec.refusal();
  const { version } = collection.codec;
  return version > record.codecVersion ? { ...record, codecVersion: version } : undefined;
}
