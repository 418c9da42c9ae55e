// Telling listeners of all there is, so that they build anew what they derive from it: once after opening, and
// again after the store was opened again because the disk had failed, as commits that were lost may be back.

import type { Collection, CollectionKey } from './collection.js';
import { Dictionary } from './dictionary.js';
import type { Kernel } from './kernel.js';
import type { StateListener } from './notifications.js';
import { Transaction } from './transaction.js';

/** First the state manager's listeners, which may set callbacks, then the dictionary's own, one after the other. */
export async function rebuild(
  kernel: Kernel,
  listeners: ReadonlySet<StateListener>,
  collections: readonly Collection[],
): Promise<void> {
  kernel.notifier.tellAll(listeners, { action: 'rebuild', collections });
  for (const collection of collections) {
    if (!(collection instanceof Dictionary) || collection.rebuild === undefined) continue;
    const { resets } = kernel;
    try {
      await rebuildOne(kernel, collection);
    } catch (error) {
      if (resets === kernel.resets) kernel.notifier.report(error); // else there will be another rebuild
    }
  }
}

/** The enumeration ends with its transaction: using it later is an `InvalidOperationError`. */
async function rebuildOne(kernel: Kernel, dictionary: Dictionary<CollectionKey, unknown>): Promise<void> {
  await using tx = new Transaction(kernel, { snapshot: 'begin' });
  // The lock of a clear is held until its listeners have been told, and those are told after this. The snapshot needs none.
  tx.touched.push(dictionary);
  void tx.snapshot; // it is seen from now on
  await tx.settled();
  dictionary.rebuiltTo = Number(tx.visibilitySequenceNumber);
  await dictionary.rebuild?.(dictionary.entries(tx));
}
