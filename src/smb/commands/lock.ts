// LOCK: byte ranges of a file, locked all or none, or unlocked one after the other.

import { access } from '../../services/file/access.js';
import { type RangeLock, validRange } from '../../services/file/range-rules.js';
import { FileRefused } from '../../services/file/refusals.js';
import { type Call, fileOf, needAccess, type Reply } from '../call.js';
import type { FileOpen } from '../open.js';
import { Refused } from '../status.js';
import { lockElement, lockRequest } from '../wire/files.js';
import { emptyBody } from '../wire/header.js';
import { headerSize } from '../wire/struct.js';

const flag = { shared: 1, exclusive: 2, unlock: 4, failImmediately: 0x10 } as const;
const lockFlags: readonly number[] = [1, 2, 1 | 0x10, 2 | 0x10];

/** A durable handle remembers so many; the client counts each under an index of its own. */
const mostSequences = 64;

type Element = ReturnType<typeof lockElement.read>;

export async function lock(call: Call): Promise<Reply> {
  const request = lockRequest.read(call.message);
  const elements = readElements(call.message, request.lockCount);
  const open = fileOf(call, request.fileId);
  if (open.directory) throw new Refused('INVALID_DEVICE_REQUEST');
  needAccess(open, access.readData | access.writeData);
  const [index, number] = [request.lockSequence >>> 4, request.lockSequence & 0xf];
  const counted = open.durability !== undefined && index >= 1 && index <= mostSequences;
  if (counted && open.lockSequences.get(index) === number) return { body: emptyBody.make({}) };
  open.lockSequences.delete(index);
  if (elements[0]?.flags === flag.unlock) await unlockAll(call, open, elements);
  else await lockAll(call, open, elements);
  if (counted) open.lockSequences.set(index, number);
  return { body: emptyBody.make({}) };
}

function readElements(message: Buffer, count: number): Element[] {
  if (count === 0) throw new Refused('INVALID_PARAMETER');
  const at = headerSize + lockRequest.size;
  if (at + count * lockElement.size > message.length) throw new Refused('INVALID_PARAMETER');
  return Array.from({ length: count }, (_, index) =>
    lockElement.read(message, at + index * lockElement.size),
  );
}

/** What was unlocked before an element that is wrong stays unlocked. */
async function unlockAll(call: Call, open: FileOpen, elements: readonly Element[]): Promise<void> {
  for (const element of elements) {
    if (element.flags !== flag.unlock) throw new Refused('INVALID_PARAMETER');
    if (!validRange(element)) throw new Refused('INVALID_LOCK_RANGE');
    if (!(await call.connection.server.opens.unlock(open.id, element))) throw new Refused('RANGE_NOT_LOCKED');
  }
}

async function lockAll(call: Call, open: FileOpen, elements: readonly Element[]): Promise<void> {
  const mayWait = elements.length === 1 && !((elements[0]?.flags ?? 0) & flag.failImmediately);
  for (const { flags } of elements) {
    if (!lockFlags.includes(flags)) throw new Refused('INVALID_PARAMETER');
    if (elements.length > 1 && !(flags & flag.failImmediately)) throw new Refused('INVALID_PARAMETER');
  }
  if (!elements.every(validRange)) throw new Refused('INVALID_LOCK_RANGE');
  const locks: RangeLock[] = elements.map(({ offset, length, flags }) => ({
    ...{ offset, length, owner: open.id },
    exclusive: (flags & flag.exclusive) !== 0,
  }));
  const locked = await call.connection.server.opens.lock(open.id, locks, mayWait);
  if (locked.outcome === 'refused') throw new FileRefused(locked.code);
  if (locked.outcome === 'locked') return;
  const { wait } = locked;
  if (!call.last) {
    wait.granted.catch(() => {});
    wait.giveUp('Cancelled');
    throw new Refused('INTERNAL_ERROR');
  }
  await call.wait({ result: wait.granted, cancel: () => wait.giveUp('Cancelled') });
}
