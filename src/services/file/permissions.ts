// The security descriptors of a share, by their key: a hash of what they say, so that the same descriptor has the same
// key and none is ever changed. They stay as long as the share.

import { createHash } from 'node:crypto';
import { buffer } from '../../base/bytes.js';
import { Recent } from '../../base/recent.js';
import type { Transaction } from '../../collections/index.js';
import { orThrow, StorageError } from '../common/errors.js';
import { type Descriptor, inheritDescriptor, makeDescriptor, readDescriptor } from './descriptor.js';
import type { FileStore } from './model.js';
import { parseSddl } from './sddl.js';

/** Of the root of a new share. */
const rootSddl =
  'O:SYG:SYD:(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)(A;OICI;0x1301bf;;;AU)(A;;FA;;;SY)(A;OICIIO;GA;;;CO)';

export const rootDescriptor = makeDescriptor(orThrow(parseSddl(rootSddl)));

/** `<uint64>*<uint64>`. */
export function permissionKey(descriptor: Uint8Array): string {
  const hash = createHash('sha256').update(descriptor).digest();
  return `${hash.readBigUInt64LE(0)}*${hash.readBigUInt64LE(8)}`;
}

interface Keyed {
  readonly key: string;
  readonly descriptor: Buffer;
}

/** What was looked up or computed lately; a key always means the same. */
const known = new Recent<string, Buffer>(1000);
const inherited = new Recent<string, Keyed>(1000);

export function storePermission(
  store: FileStore,
  tx: Transaction,
  share: number,
  descriptor: Buffer,
): Promise<string> {
  return storeKeyed(store, tx, share, { key: permissionKey(descriptor), descriptor });
}

async function storeKeyed(
  store: FileStore,
  tx: Transaction,
  share: number,
  { key, descriptor }: Keyed,
): Promise<string> {
  if (!(await store.permissions.has(tx, [share, key], { lock: 'none' }))) {
    await store.permissions.set(tx, [share, key], descriptor);
  }
  return key;
}

/** 400 `FileInvalidPermissionKey` if the share has none of this key. */
export async function loadPermission(
  store: FileStore,
  tx: Transaction,
  share: number,
  key: string,
): Promise<Buffer> {
  const stored = await store.permissions.get(tx, [share, key], { lock: 'none' });
  if (stored === undefined) throw new StorageError('FileInvalidPermissionKey');
  return buffer(stored);
}

/** The same for a key that an entry has. */
export async function descriptorOf(
  store: FileStore,
  tx: Transaction,
  share: number,
  key: string,
): Promise<Buffer> {
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  const loaded = await loadPermission(store, tx, share, key);
  known.set(key, loaded);
  return loaded;
}

/** The key of what something new has under a parent whose key this is. */
export async function inheritPermission(
  store: FileStore,
  tx: Transaction,
  share: number,
  parentKey: string,
  directory: boolean,
): Promise<string> {
  const name = `${parentKey} ${directory}`;
  let keyed = inherited.get(name);
  if (keyed === undefined) {
    const parent: Descriptor = orThrow(readDescriptor(await descriptorOf(store, tx, share, parentKey)));
    const descriptor = makeDescriptor(inheritDescriptor(parent, directory));
    keyed = { key: permissionKey(descriptor), descriptor };
    inherited.set(name, keyed);
  }
  return storeKeyed(store, tx, share, keyed);
}
