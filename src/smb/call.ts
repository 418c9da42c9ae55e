// One request on its way through the server, what a handler may ask of it, and what it gives back.

import type { Connection } from './connection.js';
import type { FileOpen, Open } from './open.js';
import { allOnesFileId } from './open.js';
import type { Session, Tree } from './session.js';
import { Refused, type Status } from './status.js';
import { flags, type Header } from './wire/header.js';

/** What the messages of one chain hand on to each other. */
export interface Chain {
  session: Session | undefined;
  tree: Tree | undefined;
  /** The file that the last message created or used. */
  fileId: Buffer | undefined;
  /** Why there is none: the status of the CREATE that failed. */
  createFailure: Status | undefined;
}

export interface Reply {
  readonly status?: Status;
  readonly body: Buffer;
  /** Bytes after the body that are sent as they are, without being copied. */
  readonly data?: Buffer;
  readonly sessionId?: bigint;
  readonly treeId?: number;
  /** Signed even if nothing else asks for it. */
  readonly signed?: boolean;
  /** Sees the message as it goes out, before it is encrypted. */
  readonly sent?: (pieces: readonly Buffer[]) => void;
}

/** A wait that a CANCEL can end. */
export interface CancellableWait<T> {
  readonly result: Promise<T>;
  /** Ends it: the result rejects. */
  cancel(): void;
}

export interface Call {
  readonly connection: Connection;
  readonly header: Header;
  /** This message alone, header included. */
  readonly message: Buffer;
  readonly chain: Chain;
  /** Whether it came encrypted. */
  readonly encrypted: boolean;
  /** Whether it is the last of its chain, so that it may be answered later. */
  readonly last: boolean;
  /** Found on the way to the handler. */
  session: Session | undefined;
  tree: Tree | undefined;
  /** Tells the client to wait, and waits. In the middle of a chain it just waits. */
  wait<T>(wait: CancellableWait<T>): Promise<T>;
}

export type Handler = (call: Call) => Promise<Reply> | Reply;

export function sessionOf(call: Call): Session {
  if (!call.session) throw new Refused('USER_SESSION_DELETED');
  return call.session;
}

export function treeOf(call: Call): Tree {
  if (!call.tree) throw new Refused('NETWORK_NAME_DELETED');
  return call.tree;
}

/** The open that a request names, or that the message before it in its chain used. */
export function openOf(call: Call, fileId: Buffer): Open {
  const session = sessionOf(call);
  const inherited = fileId.equals(allOnesFileId) && (call.header.flags & flags.related) !== 0;
  if (inherited && call.chain.createFailure) throw new Refused(call.chain.createFailure);
  const id = inherited ? call.chain.fileId : fileId;
  const open = id && session.opens.get(id.readBigUInt64LE(8));
  if (!open || open.tree !== call.tree || id.readBigUInt64LE(0) !== open.id) throw new Refused('FILE_CLOSED');
  call.chain.fileId = id;
  call.chain.createFailure = undefined;
  return open;
}

export function fileOf(call: Call, fileId: Buffer): FileOpen {
  const open = openOf(call, fileId);
  if (open.kind !== 'file') throw new Refused('INVALID_DEVICE_REQUEST');
  return open;
}

/** Refuses unless the handle has one of these rights. */
export function needAccess(open: FileOpen, rights: number): void {
  if (!(open.access & rights)) throw new Refused('ACCESS_DENIED');
}
