// What stands between a REST operation and a file, in the order in which it is told: the file is to be deleted, it is
// leased, it is being copied to, it is read-only, an SMB client does not share it or has locked bytes of it, or caches
// what must be given up first. `rules` says which of them each operation meets.

import type { Transaction } from '../../collections/index.js';
import { type ErrorCode, orThrow, StorageError } from '../common/errors.js';
import { type Lease, type LeaseNeed, use as useLease } from '../common/lease.js';
import { attribute } from './access.js';
import type { BreakCause } from './caching-rules.js';
import type { FileEntry } from './model.js';
import type { RestUse } from './opens-rules.js';
import { MustWait } from './operate.js';
import type { Range, RangeUse } from './range-rules.js';
import { FileRefused } from './refusals.js';
import type { FileService } from './service.js';
import { volumeId } from './share-access.js';
import type { View } from './tree.js';

interface Rule {
  /** The open that it stands for (opens-rules.ts); nothing: it never meets a sharing violation. */
  readonly use?: RestUse;
  readonly cause?: BreakCause;
  readonly bytes?: RangeUse;
  readonly lease: LeaseNeed | 'none';
  readonly readOnly?: ErrorCode;
}

const write = { cause: 'restWrite', lease: 'required', readOnly: 'ReadOnlyAttribute' } as const;

// biome-ignore format: a table
export const rules = {
  getFile:        { use: 'getFile',         cause: 'restRead', bytes: 'read', lease: 'checked' },
  getProperties:  {                         cause: 'restRead',                lease: 'checked' },
  listRanges:     { use: 'listRanges',      cause: 'restRead',                lease: 'checked' },
  copySource:     { use: 'copySource',      cause: 'restRead', bytes: 'read', lease: 'none' },
  putRange:       { use: 'putRange',        ...write, bytes: 'write' },
  resize:         { use: 'setProperties',   ...write, bytes: 'write' },
  setProperties:  { use: 'setProperties',   ...write },
  setMetadata:    { use: 'setMetadata',     ...write },
  overwrite:      { use: 'createOverwrite', ...write, bytes: 'write' },
  copyOnto:       { use: 'copyOnto',        ...write, bytes: 'write' },
  deleteFile:     { use: 'deleteFile',      cause: 'renameOrDelete', lease: 'required', readOnly: 'CannotDeleteFileOrDirectory' },
  renameSource:   { use: 'renameSource',    cause: 'renameOrDelete', lease: 'required' },
  replace:        { use: 'deleteFile',      cause: 'renameOrDelete', lease: 'required', readOnly: 'ReadOnlyAttribute' },
  acquireLease:   { use: 'acquireLease',    cause: 'renameOrDelete', lease: 'none' },
  otherLease:     {                                                  lease: 'none' },
  abortCopy:      {                                                  lease: 'required' },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof rules;

export interface Guarded {
  readonly leaseId?: string | undefined;
  /** The bytes it reads or writes; all unless given. */
  readonly range?: { readonly start: number; readonly end: number };
  /** The request itself makes it writable, or says that this is not to matter. */
  readonly ignoreReadOnly?: boolean;
  /** A copy that is pending hinders it not. */
  readonly duringCopy?: boolean;
}

/** Throws the refusal, or `MustWait`. Gives back the lease as the operation leaves it. */
export async function guardFile(
  { opens }: Pick<FileService, 'opens'>,
  tx: Transaction,
  view: View,
  entry: FileEntry,
  operation: Operation,
  guarded: Guarded = {},
): Promise<Lease> {
  const rule: Rule = rules[operation];
  const volume = volumeId(view);
  const id = BigInt(entry.id);
  if (opens.isDeletePending(volume, id)) throw new FileRefused('DeletePending');
  const { lease, copy } = entry.file;
  const left =
    rule.lease === 'none'
      ? lease
      : orThrow(useLease(lease, guarded.leaseId, rule.lease, tx.now, 'file'), { resource: 'file' });
  const changes = rule.lease === 'required' || operation === 'acquireLease' || operation === 'otherLease';
  if (changes && !guarded.duringCopy && copy?.status === 'pending') {
    throw new StorageError('PendingCopyOperation');
  }
  if (rule.readOnly !== undefined && !guarded.ignoreReadOnly && entry.attributes & attribute.readOnly) {
    throw new StorageError(rule.readOnly);
  }
  const bytes = rule.bytes && { use: rule.bytes, range: rangeOf(guarded.range) };
  const admitted = await opens.admit(volume, id, rule.use, rule.cause, bytes);
  if (admitted.outcome === 'refused') throw new FileRefused(admitted.code);
  if (admitted.outcome === 'wait') throw new MustWait(admitted.changed);
  tx.onEnd({ ordered: admitted.done, aborted: admitted.done });
  return left;
}

const wholeFile: Range = { offset: 0n, length: 2n ** 64n };

function rangeOf(range: Guarded['range']): Range {
  if (range === undefined) return wholeFile;
  return { offset: BigInt(range.start), length: BigInt(range.end - range.start) };
}

/** 409 while a directory, or whatever else has this id, is to be deleted. */
export function guardPending({ opens }: Pick<FileService, 'opens'>, view: View, id: number): void {
  if (opens.isDeletePending(volumeId(view), BigInt(id))) throw new FileRefused('DeletePending');
}
