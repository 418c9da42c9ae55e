// CREATE: opens a file, a directory or a pipe.

import { allAccess, attribute } from '../../services/file/access.js';
import { action, type Change, change, modified, nameChange } from '../../services/file/changes.js';
import { mapGeneric } from '../../services/file/descriptor.js';
import { ticksOf } from '../../services/file/file-system.js';
import { type Disposition, type OpenedFile, openFile } from '../../services/file/open-file.js';
import { type Call, type Reply, sessionOf, treeOf } from '../call.js';
import { fileContext } from '../file-context.js';
import { isReservedName, type ParsedPath, parsePath, readName } from '../names.js';
import { type FileOpen, fileIdBytes } from '../open.js';
import { openPipe } from '../pipes/pipe.js';
import { versionOf, volumeOf } from '../previous-versions.js';
import type { Session, Tree } from '../session.js';
import { Refused, type Status } from '../status.js';
import { closeHandle } from '../teardown.js';
import { readCreateContexts } from '../wire/create-contexts.js';
import { createRequest, createResponse } from '../wire/files.js';
import { cacheWish } from './caching.js';
import { type Contexts, createReply } from './create-reply.js';
import { checkDurable, durabilityOf, durableAnswer, reconnect, replayed } from './durable.js';
import { handleOwner } from './handle-owner.js';

// biome-ignore format: a table
export const option = {
  directory: 0x1, writeThrough: 0x2, nonDirectory: 0x40, deleteOnClose: 0x1000,
  unsupported: 0x80 | 0x2000 | 0x100000,
} as const;
// biome-ignore format: a table
const dispositions: readonly Disposition[] = ['supersede', 'open', 'create', 'openIf', 'overwrite', 'overwriteIf'];
const overwriting = new Set([0, 4, 5]);

const maximumAllowed = 0x02000000;
const systemSecurity = 0x01000000;
const reservedAccess = 0x0ce0fe00;
const deleting = 0x00010000 | 0x10000000 | maximumAllowed;
const knownAttributes = 0x00003fb7;
const encryptedAttribute = 0x4000;

type CreateFields = ReturnType<typeof createRequest.read>;

export async function create(call: Call): Promise<Reply> {
  const request = createRequest.read(call.message);
  call.chain.fileId = undefined;
  const session = sessionOf(call);
  const tree = treeOf(call);
  if (session.opens.size >= call.connection.server.limits.opensPerSession)
    throw new Refused('TOO_MANY_OPENED_FILES');
  const name = readName(request.name);
  if (tree.kind === 'pipe') return createPipe(call, session, tree, name);
  if (name.startsWith('\\')) throw new Refused('INVALID_PARAMETER');
  const contexts = readCreateContexts(request.contexts);
  checkDurable(contexts);
  if (contexts.has('DHnC') || contexts.has('DH2C')) return reconnect(call, session, tree, contexts, name);
  check(request);
  const known = await replayed(call, session, contexts, request.oplockLevel);
  if (known) return known;
  if ((contexts.get('ExtA')?.length ?? 0) > 0) throw new Refused('EAS_NOT_SUPPORTED');
  return createFile(call, { request, contexts, parsed: parsePath(name), session, tree });
}

/** What can be told to be wrong without looking at any file, in the order that clients test it. */
function check(request: CreateFields): void {
  const { options, desiredAccess, fileAttributes, disposition } = request;
  const directory = (options & option.directory) !== 0;
  const wrong: [boolean, Status][] = [
    [request.impersonationLevel > 3, 'BAD_IMPERSONATION_LEVEL'],
    [disposition > 5, 'INVALID_PARAMETER'],
    [(request.shareAccess & ~7) !== 0, 'INVALID_PARAMETER'],
    [(options & 0xff000000) !== 0, 'INVALID_PARAMETER'],
    [(options & option.unsupported) !== 0, 'NOT_SUPPORTED'],
    [directory && (options & option.nonDirectory) !== 0, 'INVALID_PARAMETER'],
    [directory && overwriting.has(disposition), 'INVALID_PARAMETER'],
    [desiredAccess === 0, 'ACCESS_DENIED'],
    [(desiredAccess & reservedAccess) !== 0, 'ACCESS_DENIED'],
    [(desiredAccess & systemSecurity) !== 0, 'PRIVILEGE_NOT_HELD'],
    [(fileAttributes & ~(knownAttributes | encryptedAttribute)) !== 0, 'INVALID_PARAMETER'],
    [(fileAttributes & encryptedAttribute) !== 0, 'ACCESS_DENIED'],
    [(options & option.deleteOnClose) !== 0 && (desiredAccess & deleting) === 0, 'INVALID_PARAMETER'],
  ];
  const first = wrong.find(([isWrong]) => isWrong);
  if (first) throw new Refused(first[1]);
}

interface Opening {
  readonly request: CreateFields;
  readonly contexts: Contexts;
  readonly parsed: ParsedPath;
  readonly session: Session;
  readonly tree: Extract<Tree, { kind: 'disk' }>;
}

async function createFile(call: Call, opening: Opening): Promise<Reply> {
  const { request, contexts, parsed, session, tree } = opening;
  const { server } = call.connection;
  const disposition = dispositions[request.disposition] as Disposition;
  const { path, snapshot } = versionOf(parsed.path, contexts.get('TWrp'));
  if (isReservedName(path.at(-1) ?? '')) throw new Refused('OBJECT_NAME_INVALID');
  const volume = await volumeOf(call, tree, snapshot);

  const id = newFileId(call, session);
  const context = fileContext(call, volume);
  const owner = handleOwner(call, session, id);
  const opened = await openFile(context, {
    ...{ id, disposition, owner, path, kind: kindOf(request, parsed) },
    access: mapGeneric(request.desiredAccess) & allAccess,
    maximum: (request.desiredAccess & maximumAllowed) !== 0,
    share: request.shareAccess,
    attributes: request.fileAttributes,
    deleteOnClose: (request.options & option.deleteOnClose) !== 0,
    writeThrough: (request.options & option.writeThrough) !== 0,
    security: contexts.get('SecD') && Buffer.from(contexts.get('SecD') as Buffer),
    wish: cacheWish(call, request.oplockLevel, contexts.get('RqLs')),
  });
  const { node } = opened;
  const handle = server.opens.handle(id);
  if (!handle) throw new Refused('FILE_CLOSED');
  if (session.ended || !session.trees.has(tree.id)) {
    await closeHandle(server, volume, handle);
    throw new Refused('FILE_CLOSED');
  }
  const open: FileOpen = {
    ...{ kind: 'file', id, tree, volume, handle, file: node.id, directory: node.directory },
    ...{ access: opened.access, options: request.options, position: 0n },
    ...{ frozen: { written: false, changed: false }, listing: undefined, watch: undefined },
    action: opened.action,
    ...{ durability: durabilityOf(call, session, contexts, opened.cache), lockSequences: new Map() },
  };
  session.opens.set(id, open);
  server.durables.remember(open);
  await server.watches.post(volume, openChanges(opened));
  const { action, cache, maximal } = opened;
  return createReply(call, contexts, {
    ...{ open, node, maximal, action, cache },
    contexts: durableAnswer(open.durability),
  });
}

function openChanges({ action: done, node }: OpenedFile): Change[] {
  if (done === 'opened') return [];
  if (done === 'created') return [nameChange(node, action.added)];
  return [modified(node, change.size | change.lastWrite | change.attributes)];
}

function kindOf(request: CreateFields, parsed: ParsedPath): 'file' | 'directory' | 'any' {
  if (request.options & option.directory) return 'directory';
  if (request.options & option.nonDirectory) return 'file';
  return parsed.directory ? 'directory' : 'any';
}

/** Random, so that an id of one session cannot be guessed in another. */
function newFileId(call: Call, session: Session): bigint {
  const { server } = call.connection;
  for (;;) {
    const id = server.random(8).readBigUInt64LE() >> 1n;
    if (id !== 0n && !session.opens.has(id) && !server.opens.handle(id)) return id;
  }
}

const openedAction = 1;

function createPipe(call: Call, session: Session, tree: Tree, name: string): Reply {
  const { server } = call.connection;
  const pipe = openPipe(name, { server, account: session.secured?.user.account ?? '' });
  if (!pipe) throw new Refused('OBJECT_NAME_NOT_FOUND');
  const id = newFileId(call, session);
  session.opens.set(id, { kind: 'pipe', id, tree, pipe });
  call.chain.fileId = fileIdBytes(id);
  call.chain.createFailure = undefined;
  const now = ticksOf(server.now());
  return {
    body: createResponse.make({
      ...{
        oplockLevel: 0,
        flags: 0,
        action: openedAction,
        fileId: fileIdBytes(id),
        contexts: Buffer.alloc(0),
      },
      ...{ created: now, accessed: now, written: now, changed: now, allocated: 4096, length: 0 },
      attributes: attribute.normal,
    }),
  };
}
