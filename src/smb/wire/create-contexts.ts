// The contexts of CREATE: a list of named pieces that ask for more than the fixed fields can.

import { Refused } from '../status.js';
import { align8, bytes, struct, u16, u32, u64 } from './struct.js';

const contextHead = struct({
  next: u32,
  nameOffset: u16,
  nameLength: u16,
  _reserved: u16,
  dataOffset: u16,
  dataLength: u32,
});

const mostContexts = 64;

/** The contexts by name; those with names that nobody knows are in it too. */
export function readCreateContexts(list: Buffer): ReadonlyMap<string, Buffer> {
  const contexts = new Map<string, Buffer>();
  for (let at = 0; at < list.length; ) {
    const rest = list.subarray(at);
    const { next, nameOffset, nameLength, dataOffset, dataLength } = contextHead.read(rest);
    const end = next === 0 ? rest.length : next;
    const dataEnd = dataLength === 0 ? 0 : dataOffset + dataLength;
    const inside = nameOffset + nameLength <= end && dataEnd <= end && end <= rest.length && next % 8 === 0;
    if (!inside || nameLength < 4 || nameOffset < contextHead.size || contexts.size === mostContexts) {
      throw new Refused('INVALID_PARAMETER');
    }
    const name = rest.toString('latin1', nameOffset, nameOffset + nameLength);
    if (contexts.has(name)) throw new Refused('INVALID_PARAMETER');
    contexts.set(name, rest.subarray(dataLength === 0 ? 0 : dataOffset, dataEnd));
    if (next === 0) break;
    at += next;
  }
  return contexts;
}

export function makeCreateContexts(contexts: readonly (readonly [string, Buffer])[]): Buffer {
  const dataAt = contextHead.size + 8;
  return Buffer.concat(
    contexts.map(([name, data], index) => {
      const size = dataAt + data.length;
      const last = index === contexts.length - 1;
      const piece = Buffer.alloc(last ? size : align8(size));
      contextHead.write(piece, 0, {
        next: last ? 0 : piece.length,
        nameOffset: contextHead.size,
        nameLength: name.length,
        dataOffset: dataAt,
        dataLength: data.length,
      });
      piece.write(name, contextHead.size, 'latin1');
      piece.set(data, dataAt);
      return piece;
    }),
  );
}

const leaseV1Shape = { leaseKey: bytes(16), state: u32, flags: u32, _duration: u64 };
export const leaseV1 = struct(leaseV1Shape);
export const leaseV2 = struct({ ...leaseV1Shape, parentKey: bytes(16), epoch: u16, _reserved: u16 });
export const maximalAccessReply = struct({ status: u32, access: u32 });
export const diskIdReply = struct({ fileId: u64, volumeId: u64, _reserved: bytes(16) });

export const durableReplyV1 = struct({ _reserved: u64 });
export const durableReconnectV1 = struct({ fileId: bytes(16) });
export const durableRequestV2 = struct({ timeoutMs: u32, flags: u32, _reserved: u64, createGuid: bytes(16) });
export const durableReplyV2 = struct({ timeoutMs: u32, flags: u32 });
export const durableReconnectV2 = struct({ fileId: bytes(16), createGuid: bytes(16), flags: u32 });
