// Whether shares hold together: for who verifies a store. Every file id leads to its entry and every entry lies in a
// directory that is there; what a share is said to use is the sum of its files.

import { type Transaction, utf16 } from '../../collections/index.js';
import { type FileStore, rootDirectory } from './model.js';
import { isLive } from './share-access.js';

export interface SharesReport {
  readonly entries: number;
  /** A sentence each. */
  readonly damage: readonly string[];
}

/** A share that is written to all the time is summed up so often. */
const mostAttempts = 5;

export async function verifyShares(store: FileStore): Promise<SharesReport> {
  const damage: string[] = [];
  let entries = 0;
  for (const [id, name] of await allShares(store)) {
    const found = await lookAt(store, id);
    entries += found.entries;
    damage.push(...found.damage.map((sentence) => `share ${name}: ${sentence}`));
  }
  return { entries, damage };
}

/** Those that soft delete keeps too. */
async function allShares(store: FileStore): Promise<Map<number, string>> {
  await using tx = store.state.begin();
  const found = new Map<number, string>();
  for await (const [key, row] of store.shares.entries(tx)) if (isLive(row)) found.set(row.id, key.join('/'));
  for await (const [key, { share }] of store.deleted.entries(tx)) {
    found.set(share.id, `${key[0]}/${key[1]} (deleted)`);
  }
  return found;
}

async function lookAt(store: FileStore, share: number): Promise<SharesReport> {
  for (let attempt = 1; ; attempt++) {
    const before = await usageOf(store, share);
    const { entries, length, damage } = await countEntries(store, share);
    const isQuiet = before === (await usageOf(store, share));
    if (!isQuiet && attempt < mostAttempts) continue;
    if (isQuiet && before !== length) {
      damage.push(`its files have ${length} bytes, and its usage is ${before}`);
    }
    return { entries, damage };
  }
}

function usageOf(store: FileStore, share: number): Promise<number> {
  return store.run((tx) => store.usage.get(tx, share));
}

async function countEntries(store: FileStore, share: number) {
  await using tx = store.state.begin();
  const damage: string[] = [];
  let [entries, length, places] = [0, 0, 0];
  for await (const [[, directory, folded], entry] of store.entries.entries(tx, { prefix: [share] })) {
    entries++;
    length += entry.file?.length ?? 0;
    if (entry.id === rootDirectory) continue;
    const place = await store.places.get(tx, [share, entry.id], { lock: 'snapshot' });
    if (place?.directory !== directory || place.folded !== folded.text || entry.parent !== directory) {
      damage.push(`the id of ${entry.name} leads elsewhere`);
    }
    if (!(await isDirectory(store, tx, share, directory))) {
      damage.push(`${entry.name} lies in no directory that is there`);
    }
  }
  for await (const _ of store.places.keys(tx, { prefix: [share] })) places++;
  if (places !== Math.max(0, entries - 1)) {
    damage.push(`there are ${places} places for ${Math.max(0, entries - 1)} entries`);
  }
  return { entries, length, damage };
}

async function isDirectory(store: FileStore, tx: Transaction, share: number, id: number): Promise<boolean> {
  if (id === rootDirectory) return true;
  const place = await store.places.get(tx, [share, id], { lock: 'snapshot' });
  if (place === undefined) return false;
  const key = [share, place.directory, utf16(place.folded)] as const;
  const entry = await store.entries.get(tx, key, { lock: 'snapshot' });
  return entry?.id === id && entry.file === undefined;
}
