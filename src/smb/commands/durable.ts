// The contexts of CREATE that ask for a durable handle, and those that come back for one.

import type { Cache } from '../../services/file/caches.js';
import { caching } from '../../services/file/caching-rules.js';
import { allowedOn } from '../../services/file/enforcement.js';
import { maximalAccess, type OpenAction, resolve } from '../../services/file/open-file.js';
import type { Call, Reply } from '../call.js';
import type { Durability } from '../durables.js';
import { judgedOf } from '../file-context.js';
import { parsePath } from '../names.js';
import type { FileOpen } from '../open.js';
import type { Session, Tree } from '../session.js';
import { Refused } from '../status.js';
import {
  durableReconnectV1,
  durableReconnectV2,
  durableReplyV1,
  durableReplyV2,
  durableRequestV2,
  leaseV1,
} from '../wire/create-contexts.js';
import { flags } from '../wire/header.js';
import { leaseName, oplockLevel } from './caching.js';
import { type Contexts, createReply } from './create-reply.js';
import { handleOwner } from './handle-owner.js';

type DiskTree = Extract<Tree, { kind: 'disk' }>;

const usualMs = 60_000;
const longestMs = 300_000;

/** Which of the contexts may come together. */
export function checkDurable(contexts: Contexts): void {
  const asked = ['DHnQ', 'DHnC', 'DH2Q', 'DH2C'].filter((name) => contexts.has(name)).join(' ');
  if (!['', 'DHnQ', 'DHnC', 'DHnQ DHnC', 'DH2Q', 'DH2C'].includes(asked))
    throw new Refused('INVALID_PARAMETER');
}

/** What a new handle gets of what it asks for: it needs a cache that the client would be told about. */
export function durabilityOf(
  call: Call,
  session: Session,
  contexts: Contexts,
  cache: Cache | undefined,
): Durability | undefined {
  const { negotiated } = call.connection;
  const dialect = negotiated?.dialect ?? 0;
  const first = contexts.has('DHnQ') && dialect >= 0x0210;
  const second = dialect >= 0x0300 ? contexts.get('DH2Q') : undefined;
  if (!negotiated || !(cache && cache.state & caching.handle) || !(first || second)) return undefined;
  const account = session.secured?.user.account ?? '';
  const known = { account, clientGuid: negotiated.clientGuid };
  if (!second) return { ...known, version: 1, createGuid: undefined, timeoutMs: usualMs };
  const { timeoutMs, createGuid } = durableRequestV2.read(second);
  return {
    ...{ ...known, version: 2, createGuid: Buffer.from(createGuid) },
    timeoutMs: Math.min(timeoutMs === 0 ? usualMs : timeoutMs, longestMs),
  };
}

export function durableAnswer(durability: Durability | undefined): [string, Buffer][] {
  if (!durability) return [];
  const { version, timeoutMs } = durability;
  return version === 1
    ? [['DHnQ', durableReplyV1.make({})]]
    : [['DH2Q', durableReplyV2.make({ timeoutMs, flags: 0 })]];
}

/** A CREATE that the client sends again, as it has not seen the answer: the handle that it has opened already. */
export async function replayed(
  call: Call,
  session: Session,
  contexts: Contexts,
  level: number,
): Promise<Reply | undefined> {
  const asked = contexts.get('DH2Q');
  const { negotiated, server } = call.connection;
  if (!asked || !negotiated || negotiated.dialect < 0x0300) return undefined;
  const id = server.durables.createdWith(negotiated.clientGuid, durableRequestV2.read(asked).createGuid);
  if (id === undefined) return undefined;
  if (!(call.header.flags & flags.replay)) throw new Refused('DUPLICATE_OBJECTID');
  const open = session.opens.get(id);
  const leased = server.opens.cacheOf(id)?.kind === 'lease';
  const same = open?.kind === 'file' && open.tree === call.tree && leased === (level === oplockLevel.lease);
  if (!same || (leased && !sameLease(call, open, contexts))) throw new Refused('ACCESS_DENIED');
  return again(call, contexts, open, open.action, durableAnswer(open.durability));
}

/** Gives a handle that waits to its client; whatever does not fit is as if it were not there. */
export async function reconnect(
  call: Call,
  session: Session,
  tree: DiskTree,
  contexts: Contexts,
  name: string,
): Promise<Reply> {
  const { connection } = call;
  const { durables, opens } = connection.server;
  const asked = askedFor(contexts);
  const found = durables.find(asked.fileId.readBigUInt64LE(0));
  if (!found || !belongs(session, tree, found, asked) || !sameLease(call, found.open, contexts))
    throw new Refused('OBJECT_NAME_NOT_FOUND');
  if (contexts.has('RqLs') && !(await isNamed(found.open, name))) throw new Refused('INVALID_PARAMETER');
  // Somebody else may have needed the file meanwhile.
  if (durables.find(found.open.id) !== found) throw new Refused('OBJECT_NAME_NOT_FOUND');
  durables.take(found.open.id);
  const open: FileOpen = { ...found.open, tree, listing: undefined, watch: undefined };
  session.opens.set(open.id, open);
  const { openedAt } = open.handle.owner;
  const reconnectedAt = connection.server.now();
  opens.setOwner(open.id, { ...handleOwner(call, session, open.id), openedAt, reconnectedAt });
  return again(call, contexts, open, 'opened', []);
}

interface Asked {
  readonly fileId: Buffer;
  /** Version 1 knows no guid. */
  readonly createGuid: Buffer | undefined;
}

function askedFor(contexts: Contexts): Asked {
  const first = contexts.get('DHnC');
  if (first) return { createGuid: undefined, ...durableReconnectV1.read(first) };
  return durableReconnectV2.read(contexts.get('DH2C') ?? Buffer.alloc(0));
}

const noGuid = Buffer.alloc(16);

function belongs(
  session: Session,
  tree: DiskTree,
  { open, durability }: { open: FileOpen; durability: Durability },
  { createGuid }: Asked,
): boolean {
  const sameGuid = createGuid === undefined || createGuid.equals(durability.createGuid ?? noGuid);
  const sameUser = session.secured?.user.account === durability.account;
  return sameUser && sameGuid && open.volume.id === tree.volume.id;
}

/** A handle with a lease is asked for with its key, one with an oplock without any. */
function sameLease(call: Call, open: FileOpen, contexts: Contexts): boolean {
  const cache = call.connection.server.opens.cacheOf(open.id);
  const asked = contexts.get('RqLs');
  if (cache?.kind !== 'lease') return asked === undefined;
  return asked !== undefined && leaseName(call, leaseV1.read(asked).leaseKey) === cache.key;
}

async function isNamed(open: FileOpen, name: string): Promise<boolean> {
  const { path } = parsePath(name);
  const { existing } = await open.volume.transaction((tx) => resolve(tx, path));
  return existing?.id === open.file;
}

async function again(
  call: Call,
  asked: Contexts,
  open: FileOpen,
  action: OpenAction,
  contexts: readonly (readonly [string, Buffer])[],
): Promise<Reply> {
  const { node, maximal } = await open.volume.transaction(async (tx) => {
    const node = await tx.get(open.file);
    const parent = node && (await tx.get(node.parent));
    if (!parent) throw new Refused('OBJECT_NAME_NOT_FOUND');
    const allowed = allowedOn(judgedOf(call), node, parent);
    return { node, maximal: maximalAccess(allowed, node, open.volume.readOnly) };
  });
  const cache = call.connection.server.opens.cacheOf(open.id);
  return createReply(call, asked, { open, node, maximal, action, cache, contexts });
}
