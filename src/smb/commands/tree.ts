// TREE_CONNECT and TREE_DISCONNECT: a session and a share.

import { allAccess } from '../../services/file/access.js';
import { type Call, type Reply, sessionOf, treeOf } from '../call.js';
import type { Tree } from '../session.js';
import { Hangup, Refused } from '../status.js';
import { endTree } from '../teardown.js';
import { emptyBody, flags } from '../wire/header.js';
import { treeConnectRequest, treeConnectResponse } from '../wire/session.js';

const disk = 1;
const pipe = 2;
const encryptShare = 0x8000;
const pipeAccess = 0x001f00a9;
const longestShareName = 80;

export async function treeConnect(call: Call): Promise<Reply> {
  const { connection } = call;
  const session = sessionOf(call);
  // Only a signed or encrypted message proves that nobody stood between the two from the start.
  const proven = call.encrypted || (call.header.flags & flags.signed) !== 0;
  if (connection.negotiated?.dialect === 0x0311 && !proven) throw new Hangup('unsigned tree connect');

  const share = shareOf(treeConnectRequest.read(call.message).path);
  if (session.trees.size >= connection.server.limits.treesPerSession)
    throw new Refused('INSUFFICIENT_RESOURCES');
  const isPipe = share.toLowerCase() === 'ipc$';
  const account = session.secured?.user.account ?? '';
  const volume = isPipe ? undefined : await connection.server.volumes.open(account, share);
  if (!isPipe && !volume) throw new Refused('BAD_NETWORK_NAME');
  if (session.ended) throw new Refused('USER_SESSION_DELETED');

  const tree = session.addTree(
    (id): Tree =>
      volume ? { kind: 'disk', id, volume, share: volume.name, encrypted: false } : { kind: 'pipe', id },
  );
  call.chain.tree = tree;
  const body = treeConnectResponse.make({
    shareType: isPipe ? pipe : disk,
    shareFlags: tree.kind === 'disk' && tree.encrypted ? encryptShare : 0,
    capabilities: 0,
    maximalAccess: isPipe ? pipeAccess : allAccess,
  });
  return { body, treeId: tree.id };
}

/** The share of `\\server\share`; which server does not matter. */
function shareOf(path: Buffer): string {
  if (path.length % 2 !== 0) throw new Refused('INVALID_PARAMETER');
  const [empty, none, server, share, ...rest] = path.toString('utf16le').split('\\');
  if (
    empty !== '' ||
    none !== '' ||
    !server ||
    !share ||
    rest.length > 0 ||
    share.length > longestShareName
  ) {
    throw new Refused('BAD_NETWORK_NAME');
  }
  return share;
}

export async function treeDisconnect(call: Call): Promise<Reply> {
  emptyBody.read(call.message);
  await endTree(call.connection.server, sessionOf(call), treeOf(call).id);
  return { body: emptyBody.make({}) };
}
