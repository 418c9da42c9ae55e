// Set Blob Properties: the content's headers, the size and the sequence number of a page blob, together or each
// by itself. Any such call forgets where the blob was copied from. It makes no version.

import type { Transaction } from '../../collections/index.js';
import { invalidHeader, StorageError } from '../common/errors.js';
import { findForWrite } from './blobs.js';
import type { Guards } from './guards.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  type ContentHeaders,
  withLease,
} from './model.js';
import { isPageTier, pageTierBytes } from './page-tiers.js';
import { writeRow } from './rows.js';

export type SequenceChange = Readonly<{ action: 'max' | 'update'; number: bigint } | { action: 'increment' }>;

export interface PropertiesChange {
  /** All of them, those that are left out are cleared; nothing: they stay. */
  readonly headers: ContentHeaders | undefined;
  /** Of a page blob. */
  readonly length: number | undefined;
  readonly sequence: SequenceChange | undefined;
}

export function setProperties(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  { headers, length, sequence }: PropertiesChange,
  guards: Guards,
): Promise<BlobRecord> {
  return store.run(async (tx) => {
    const { place, old, lease } = await findForWrite(store, tx, container, name, guards);
    if (old.type !== 'PageBlob') refusePageChange(length, sequence);
    const { copy: _, ...kept } = old;
    const changed: BlobRecord = {
      ...kept,
      stamp: tx.stamp(old.stamp),
      headers: headers ?? old.headers,
      ...(length === undefined ? {} : await resized(store, tx, old, length)),
      ...(sequence === undefined ? {} : { sequence: nextSequence(old.sequence ?? 0n, sequence) }),
    };
    const blob = withLease(changed, lease);
    await writeRow(store, tx, place.key, old, blob);
    return blob;
  });
}

function refusePageChange(length: number | undefined, sequence: SequenceChange | undefined): void {
  if (length !== undefined) throw invalidHeader('x-ms-blob-content-length', String(length));
  if (sequence !== undefined) throw invalidHeader('x-ms-sequence-number-action', sequence.action);
}

/** What lies behind a smaller size is gone, also if it grows again. */
async function resized(
  store: BlobStore,
  tx: Transaction,
  { content, length: before, tier }: BlobRecord,
  length: number,
): Promise<Pick<BlobRecord, 'length'>> {
  if (tier !== undefined && isPageTier(tier.name) && length > pageTierBytes(tier.name)) {
    throw new StorageError('ContentLengthLargerThanTierLimit');
  }
  if (content.kind === 'pages' && length < before) {
    const state = { map: content.map, epoch: content.epoch, newestSnapshot: content.newest };
    await store.maps.clear(tx, state, { start: length, end: before });
  }
  return { length };
}

const largest = 2n ** 63n - 1n;

function nextSequence(current: bigint, change: SequenceChange): bigint {
  switch (change.action) {
    case 'max':
      return change.number > current ? change.number : current;
    case 'update':
      return change.number;
    case 'increment':
      if (current >= largest) throw new StorageError('SequenceNumberIncrementTooLarge');
      return current + 1n;
  }
}
