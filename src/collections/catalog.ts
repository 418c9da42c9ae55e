// The catalogue: which collections there are, and under which keys their rows lie.
//
//   ['c', name]                   a collection: its kind, its codec and its generation
//   ['r', generation, ...key]     its rows
//   ['n', generation]             how many rows there are: a counter
//   ['t', generation]             how many of them will expire: a counter
//   ['x', generation, time, key]  which row expires when
//   ['g', generation]             a generation that nobody needs any more, to be swept
//
// Clearing or removing a collection writes one record with a new generation, or none; the old rows are
// swept later. A generation is a stamp, so it is never used again.

import { maxKeyBytes, type NamedKey } from '../engine/engine.js';
import { encodeKey, encodeName } from '../engine/keys.js';
import { defaultCodec } from './codec.js';
import { ArgumentError, ArgumentNullError, FormatError, InvalidDataError } from './errors.js';

export type CollectionKind = 'dictionary' | 'queue' | 'concurrent queue' | 'counters';

export interface CatalogRecord {
  readonly format: 1;
  readonly kind: CollectionKind;
  readonly generation: number;
  /** Of the values: one that is not known any more, or older than what wrote them, cannot read them. */
  readonly codec: string;
  readonly codecVersion: number;
  /** Whether the number of rows is kept. */
  readonly counted: boolean;
}

export const space = {
  catalog: 'c',
  rows: 'r',
  count: 'n',
  expiring: 't',
  expiry: 'x',
  garbage: 'g',
} as const;

export function catalogKey(name: string): NamedKey {
  return encodeName([space.catalog, name]);
}

export function garbageKey(generationId: number): NamedKey {
  return encodeName([space.garbage, generationId]);
}

/** The keys of one generation. */
export interface Generation {
  readonly id: number;
  /** What each row's key begins with. */
  readonly rows: Buffer;
  readonly count: NamedKey;
  readonly expiring: NamedKey;
  readonly expiry: Buffer;
}

export function generation(id: number): Generation {
  return {
    id,
    rows: encodeKey([space.rows, id]),
    count: encodeName([space.count, id]),
    expiring: encodeName([space.expiring, id]),
    expiry: encodeKey([space.expiry, id]),
  };
}

export function encodeRecord(record: CatalogRecord): Uint8Array {
  return defaultCodec.encode(record);
}

export function decodeRecord(name: string, bytes: Uint8Array): CatalogRecord {
  const record = defaultCodec.decode(bytes) as CatalogRecord;
  if (record.format !== 1) {
    throw new InvalidDataError(
      `the collection ${name} was written in format ${record.format}, and this program knows format 1: use a newer one`,
    );
  }
  return record;
}

/** Names are compared as they are, case included. */
export function checkName(name: unknown, system = false): asserts name is string {
  if (name === undefined || name === null) throw new ArgumentNullError('a collection needs a name');
  if (typeof name !== 'string')
    throw new ArgumentError(`the name of a collection is a string, not a ${typeof name}`);
  if (name === '') throw new ArgumentError('the name of a collection cannot be empty');
  if (name.startsWith('urn:')) throw new FormatError(`a name cannot begin with urn: as ${name} does`);
  if (!system && name.startsWith('$system/')) throw new ArgumentError('names under $system/ are reserved');
  if (Buffer.byteLength(name) > maxKeyBytes / 2)
    throw new ArgumentError('the name of a collection is too long');
}
