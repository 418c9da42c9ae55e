// A store of contents in a folder, with owners that each name one piece. Segments are small, so that they are
// filled, emptied, moved and dropped all the time.

import { join } from 'node:path';
import { type Dictionary, StateManager } from '#src/collections/index.js';
import { type Extents, type ExtentsOptions, openExtents } from '#src/extents/extents.js';
import { type ContentRows, openContentRows, type PackedPiece } from '#src/services/common/content-rows.js';
import { type ContentStore, openContentStore } from '#src/services/common/content-store.js';
import { createStore, type Store } from '#src/services/common/store.js';

/** A content is known by its length and the salt it was made with. */
export interface Owner {
  readonly salt: number;
  readonly length: number;
  readonly piece: PackedPiece;
}

export interface OwnedContents extends ContentStore, AsyncDisposable {
  readonly store: Store;
  readonly extents: Extents;
  readonly rows: ContentRows;
  readonly owners: Dictionary<number, Owner>;
}

export async function openOwnedContents(
  folder: string,
  report: (error: unknown) => void,
  { extentsAt = join(folder, 'extents'), ...options }: Partial<ExtentsOptions> & { extentsAt?: string } = {},
): Promise<OwnedContents> {
  const state = await StateManager.open({ location: join(folder, 'store') });
  const store = createStore(state);
  const extents = await openExtents(
    { location: extentsAt },
    { clock: state.engine.clock, segmentBytes: 1024 * 1024, ...options },
  );
  const content = await openContentStore(store, extents, report);
  return {
    ...content,
    store,
    extents,
    rows: await openContentRows(state),
    owners: await state.dictionary('owners'),
    [Symbol.asyncDispose]: async () => {
      await content.reclaim.stop();
      await extents.close();
      await state.close();
    },
  };
}
