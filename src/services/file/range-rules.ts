// Byte-range locks: which can be held side by side, and what they mean for reading and writing.
//
//                          asked by the same handle        asked by another handle
//                          shared     exclusive            shared     exclusive
//   held shared            granted    conflict             granted    conflict
//   held exclusive         granted    conflict             conflict   conflict
//
//                          own read   own write            other's read   other's write
//   held shared            free       hindered             free           hindered
//   held exclusive         free       free                 hindered       hindered
//
// A range of length zero lies between two bytes: it meets a range that has bytes on both sides of it. At
// offset zero it meets nothing. Offsets and lengths are 64 bits and taken as they come.

export interface Range {
  readonly offset: bigint;
  readonly length: bigint;
}

export interface RangeLock extends Range {
  readonly exclusive: boolean;
  /** The open that holds or asks for it. */
  readonly owner: bigint;
}

const top = 2n ** 64n;

/** A range must end inside 64 bits. */
export function validRange({ offset, length }: Range): boolean {
  return length === 0n || offset + length <= top;
}

export function rangesMeet(one: Range, other: Range): boolean {
  return one.offset < other.offset + other.length && other.offset < one.offset + one.length;
}

export function lockConflict(held: RangeLock, asked: RangeLock): boolean {
  if (!held.exclusive && !asked.exclusive) return false;
  if (held.exclusive && !asked.exclusive && held.owner === asked.owner) return false;
  return rangesMeet(held, asked);
}

export type RangeUse = 'read' | 'write';

/** Whether a lock hinders reading or writing a range. */
export function lockHinders(held: RangeLock, use: RangeUse, owner: bigint, range: Range): boolean {
  if (held.owner === owner ? held.exclusive || use === 'read' : !held.exclusive && use === 'read')
    return false;
  return range.length > 0n && rangesMeet(held, range);
}

/** The lock that an unlock of this range removes: exactly this range, exclusive first, then the oldest. */
export function lockToRelease(locks: readonly RangeLock[], owner: bigint, range: Range): number {
  const matches = (lock: RangeLock) =>
    lock.owner === owner && lock.offset === range.offset && lock.length === range.length;
  const exclusive = locks.findIndex((lock) => lock.exclusive && matches(lock));
  return exclusive >= 0 ? exclusive : locks.findIndex(matches);
}

/**
 * Whether locks held over SMB refuse a REST request: a request that changes contents is refused by any
 * lock anywhere in the file, one that reads by an exclusive lock on the bytes it reads.
 */
export function lockRefusesRest(held: RangeLock, use: RangeUse, range: Range): boolean {
  return use === 'write' || (held.exclusive && rangesMeet(held, range));
}
