// Everything that the bytes of blobs and files need, put together.

import type { Extents } from '../../extents/extents.js';
import { GarbageSweeper } from './content-garbage.js';
import { ContentMaps } from './content-maps.js';
import { openContentRows } from './content-rows.js';
import { Contents } from './contents.js';
import { Reclaim } from './reclaim.js';
import { SliceRows } from './slice-rows.js';
import type { Store } from './store.js';

export interface ContentStore {
  readonly contents: Contents;
  readonly maps: ContentMaps;
  readonly slices: SliceRows;
  readonly reclaim: Reclaim;
}

/** `report` is told of what goes wrong in the background. Start and stop `reclaim` with the server. */
export async function openContentStore(
  store: Store,
  extents: Extents,
  report: (error: unknown) => void,
): Promise<ContentStore> {
  const rows = await openContentRows(store.state);
  const contents = new Contents({ rows, extents, makeRoom: () => reclaim.makeRoom() });
  const maps = new ContentMaps({ store, rows, contents, extents });
  const garbage = new GarbageSweeper({ store, rows, contents, maps });
  const reclaim = new Reclaim({ store, rows, extents, garbage, report });
  return { contents, maps, slices: new SliceRows(rows), reclaim };
}
