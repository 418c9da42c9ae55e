// What is locked beside rows, whose keys stand for themselves: names and whole collections.

export function nameLock(name: string): string {
  return `name ${name}`;
}

export function collectionLock(name: string): string {
  return `collection ${name}`;
}

/** Keys of rows begin with a byte below all letters, so none is taken for it. */
export function isCollectionLock(key: string): boolean {
  return key.startsWith('collection ');
}

/** Whether the key of a lock is a name as it stands, not the bytes of a row's key. */
export function isPlainName(key: string): boolean {
  return isCollectionLock(key) || key.startsWith('name ');
}
