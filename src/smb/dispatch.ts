// From a request to its handler: signature, session, encryption, tree, in this order.

import type { Call, Handler, Reply } from './call.js';
import { changeNotify } from './commands/change-notify.js';
import { close, flush } from './commands/close.js';
import { create } from './commands/create.js';
import { cancel, echo } from './commands/echo.js';
import { ioctl } from './commands/ioctl.js';
import { lock } from './commands/lock.js';
import { negotiate } from './commands/negotiate.js';
import { oplockBreak } from './commands/oplock-break.js';
import { queryDirectory } from './commands/query-directory.js';
import { queryInfo } from './commands/query-info.js';
import { read, write } from './commands/read-write.js';
import { logoff, sessionSetup } from './commands/session-setup.js';
import { setInfo } from './commands/set-info.js';
import { treeConnect, treeDisconnect } from './commands/tree.js';
import { verify } from './crypto/signing.js';
import { signsAnswer } from './responses.js';
import type { Session, Tree } from './session.js';
import { Hangup, Refused, type Status } from './status.js';
import { allOnes64, type Command, commands, flags } from './wire/header.js';

// biome-ignore format: a table
const table: Record<Command, { needs: 'nothing' | 'session' | 'tree'; handler: Handler }> = {
  negotiate:      { needs: 'nothing', handler: negotiate },
  sessionSetup:   { needs: 'nothing', handler: sessionSetup },
  logoff:         { needs: 'session', handler: logoff },
  treeConnect:    { needs: 'session', handler: treeConnect },
  treeDisconnect: { needs: 'tree',    handler: treeDisconnect },
  create:         { needs: 'tree',    handler: create },
  close:          { needs: 'tree',    handler: close },
  flush:          { needs: 'tree',    handler: flush },
  read:           { needs: 'tree',    handler: read },
  write:          { needs: 'tree',    handler: write },
  lock:           { needs: 'tree',    handler: lock },
  ioctl:          { needs: 'tree',    handler: ioctl },
  cancel:         { needs: 'nothing', handler: cancel },
  echo:           { needs: 'nothing', handler: echo },
  queryDirectory: { needs: 'tree',    handler: queryDirectory },
  changeNotify:   { needs: 'tree',    handler: changeNotify },
  queryInfo:      { needs: 'tree',    handler: queryInfo },
  setInfo:        { needs: 'tree',    handler: setInfo },
  oplockBreak:    { needs: 'tree',    handler: oplockBreak },
};

export interface Dispatched {
  /** Nothing for a CANCEL. */
  readonly reply: Reply | undefined;
  readonly status: Status;
  readonly session: Session | undefined;
  readonly signs: boolean;
}

export async function dispatch(call: Call, sealedBy: Session | undefined): Promise<Dispatched> {
  const command = commands[call.header.command];
  if (!command) throw new Refused('INVALID_PARAMETER');
  if (!call.connection.negotiated && command !== 'negotiate') throw new Hangup('not negotiated');
  const { needs, handler } = table[command];

  if (!(call.header.flags & flags.related))
    Object.assign(call.chain, { fileId: undefined, createFailure: undefined });
  const session = findSession(call, sealedBy);
  call.chain.session = session;
  call.session = session;
  if (session) checkSignature(call, command, session);
  else if (call.header.flags & flags.signed && call.header.sessionId === 0n)
    throw new Refused('INVALID_PARAMETER');
  if (needs !== 'nothing' && !session?.secured) throw new Refused('USER_SESSION_DELETED');
  if (session) checkEncryption(call, command, session.secured?.encryptionRequired === true);

  const tree = needs === 'tree' ? findTree(call, session) : undefined;
  call.chain.tree = tree ?? call.chain.tree;
  call.tree = tree;
  if (tree?.kind === 'disk') checkEncryption(call, command, tree.encrypted);

  const signs = session !== undefined && signsAnswer(call.header, session);
  if (command === 'cancel') {
    call.connection.waits.cancel(call.header);
    return { reply: undefined, status: 'SUCCESS', session, signs };
  }
  const reply = await handler(call);
  // A session that was set up just now signs its answer with the new key.
  return { reply, status: reply.status ?? 'SUCCESS', session: session ?? call.chain.session, signs };
}

/** A related request is on the session and tree of the one before it, whatever it says. */
function findSession(call: Call, sealedBy: Session | undefined): Session | undefined {
  const { sessionId, flags: bits } = call.header;
  if (sealedBy && sessionId !== sealedBy.id && !(bits & flags.related)) {
    throw new Hangup('encrypted for another session');
  }
  if (bits & flags.related) {
    if (!call.chain.session) throw new Refused('INVALID_PARAMETER');
    return call.chain.session;
  }
  return sessionId === 0n || sessionId === allOnes64 ? undefined : call.connection.sessions.get(sessionId);
}

function findTree(call: Call, session: Session | undefined): Tree {
  const related = call.header.flags & flags.related;
  const tree = related ? call.chain.tree : session?.trees.get(call.header.treeId);
  if (tree && session?.trees.has(tree.id)) return tree;
  call.chain.tree = undefined;
  throw new Refused('NETWORK_NAME_DELETED');
}

function checkSignature(call: Call, command: Command, session: Session): void {
  const { secured } = session;
  if (!secured || call.encrypted || command === 'negotiate') return;
  const signed = (call.header.flags & flags.signed) !== 0;
  if (signed) {
    if (!verify(secured.signer, call.message)) throw new Refused('ACCESS_DENIED');
  } else if (secured.signingRequired && command !== 'sessionSetup' && command !== 'cancel') {
    throw new Refused('ACCESS_DENIED');
  }
}

function checkEncryption(call: Call, command: Command, required: boolean): void {
  if (!required || call.encrypted || command === 'negotiate' || command === 'sessionSetup') return;
  throw new Refused('ACCESS_DENIED');
}
