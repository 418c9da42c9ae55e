// Oplock levels and lease contexts of CREATE, to and from what the lock table calls caching.

import type { Cache, CacheWish } from '../../services/file/caches.js';
import { caching, oplockStates } from '../../services/file/caching-rules.js';
import type { Call } from '../call.js';
import { Refused } from '../status.js';
import { leaseV1, leaseV2 } from '../wire/create-contexts.js';

export const oplockLevel = { none: 0, levelII: 1, exclusive: 8, batch: 9, lease: 0xff } as const;
const breakInProgress = 2;

/** What a CREATE asks to cache. A lease counts only where the level says so, and from 2.1 on. */
export function cacheWish(call: Call, level: number, lease: Buffer | undefined): CacheWish {
  switch (level) {
    case oplockLevel.levelII:
      return { kind: 'oplock', state: oplockStates.levelII };
    case oplockLevel.exclusive:
      return { kind: 'oplock', state: oplockStates.exclusive };
    case oplockLevel.batch:
      return { kind: 'oplock', state: oplockStates.batch };
    case oplockLevel.lease:
      return lease && (call.connection.negotiated?.dialect ?? 0) > 0x0202
        ? leaseWish(call, lease)
        : { kind: 'none' };
    default:
      return { kind: 'none' };
  }
}

function leaseWish(call: Call, bytes: Buffer): CacheWish {
  if (bytes.length !== leaseV1.size && bytes.length !== leaseV2.size) throw new Refused('INVALID_PARAMETER');
  const { leaseKey, state } = leaseV1.read(bytes);
  const epoch = bytes.length === leaseV2.size ? leaseV2.read(bytes).epoch : undefined;
  return { kind: 'lease', key: leaseName(call, leaseKey), state, epoch };
}

/** A lease key is the client's own: two clients may use the same. */
export function leaseName(call: Call, leaseKey: Buffer): string {
  return `${call.connection.negotiated?.clientGuid.toString('hex')} ${leaseKey.toString('hex')}`;
}

export function leaseKeyOf(name: string): Buffer {
  return Buffer.from(name.slice(name.indexOf(' ') + 1), 'hex');
}

export function levelOf(state: number): number {
  if (state === oplockStates.batch) return oplockLevel.batch;
  if (state === oplockStates.exclusive) return oplockLevel.exclusive;
  return state & caching.read ? oplockLevel.levelII : oplockLevel.none;
}

/** What was granted; a lease in the form of the one that first asked for it. */
export function cacheReply(
  cache: Cache | undefined,
  asked: Buffer | undefined,
): { level: number; contexts: [string, Buffer][] } {
  if (!cache) return { level: oplockLevel.none, contexts: [] };
  if (cache.kind === 'oplock' || !asked) return { level: levelOf(cache.state), contexts: [] };
  const { state, epoch } = cache;
  const flags = cache.breaking ? breakInProgress : 0;
  const leaseKey = leaseKeyOf(cache.key);
  const context =
    epoch !== undefined
      ? leaseV2.make({ leaseKey, state, flags, parentKey: parentKeyOf(asked), epoch })
      : leaseV1.make({ leaseKey, state, flags });
  return { level: oplockLevel.lease, contexts: [['RqLs', context]] };
}

function parentKeyOf(asked: Buffer): Buffer {
  return asked.length === leaseV2.size ? leaseV2.read(asked).parentKey : Buffer.alloc(16);
}
