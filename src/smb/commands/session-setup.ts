// SESSION_SETUP: who the client is, in as many steps as the tokens need; and LOGOFF.

import { ticksOf } from '../../services/file/file-system.js';
import { isAllowed } from '../account-policy.js';
import { Authentication, type AuthenticationStep } from '../auth/authentication.js';
import type { Call, Reply } from '../call.js';
import { sessionOf } from '../call.js';
import type { Connection, Negotiated } from '../connection.js';
import { emptyHash, extendHash, sessionKeys } from '../crypto/keys.js';
import { Session } from '../session.js';
import { Refused } from '../status.js';
import { endSession } from '../teardown.js';
import { emptyBody } from '../wire/header.js';
import { sessionSetupRequest, sessionSetupResponse } from '../wire/session.js';
import { signingRequiredBit } from './negotiate.js';

const binding = 1;
const encryptData = 4;

export async function sessionSetup(call: Call): Promise<Reply> {
  const { connection } = call;
  const request = sessionSetupRequest.read(call.message);
  if (request.flags & binding) throw new Refused(bindingRefusal(call));
  const session = call.session ?? newSession(call);
  call.chain.session = session;
  session.authentication ??= startAuthentication(connection);
  if (!session.secured) session.preauthHash = extendHash(session.preauthHash, call.message);

  const step = await session.authentication.step(request.security);
  if (step.outcome === 'continue') return continueSession(session, step.token);
  session.authentication = undefined;
  if (step.outcome !== 'proven') return refuseSession(connection, session, step.outcome);
  return session.secured ? proveAgain(connection, session, step) : establish(call, session, step, request);
}

/** Several connections for one session are not offered. */
function bindingRefusal(call: Call): 'REQUEST_NOT_ACCEPTED' | 'USER_SESSION_DELETED' {
  const { connection, header } = call;
  // The refusal is signed with the key of that session, wherever it is.
  call.session ??= connection.server.sessions.get(header.sessionId)?.session;
  if ((connection.negotiated?.dialect ?? 0) < 0x0300) return 'REQUEST_NOT_ACCEPTED';
  return connection.server.sessions.has(header.sessionId) ? 'REQUEST_NOT_ACCEPTED' : 'USER_SESSION_DELETED';
}

/** Ids are no secret, keys are; like those of other servers they fit into 32 bits, which some clients need. */
function newSession(call: Call): Session {
  const { connection } = call;
  if (call.header.sessionId !== 0n) throw new Refused('USER_SESSION_DELETED');
  const { server } = connection;
  if (connection.sessions.size >= server.limits.sessionsPerConnection)
    throw new Refused('INSUFFICIENT_RESOURCES');
  let id = 0n;
  while (id === 0n || server.sessions.has(id)) id = BigInt(server.random(4).readUInt32LE());
  const session = new Session(id, server.random(4), connection.preauthHash ?? emptyHash);
  connection.sessions.set(id, session);
  server.sessions.set(id, { session, connection });
  return session;
}

function startAuthentication({ server }: Connection): Authentication {
  return new Authentication({
    accounts: server.accounts,
    serverName: server.serverName,
    time: () => ticksOf(server.now()),
    random: server.random,
  });
}

function continueSession(session: Session, token: Buffer): Reply {
  const sent = (pieces: readonly Buffer[]) => {
    session.preauthHash = extendHash(session.preauthHash, ...pieces);
  };
  return {
    status: 'MORE_PROCESSING_REQUIRED',
    body: sessionSetupResponse.make({ sessionFlags: 0, security: token }),
    sessionId: session.id,
    ...(session.secured ? {} : { sent }),
  };
}

async function refuseSession(
  connection: Connection,
  session: Session,
  outcome: 'refused' | 'malformed',
): Promise<never> {
  const { server, address } = connection;
  await endSession(connection, session);
  if (outcome === 'malformed') throw new Refused('INVALID_PARAMETER');
  server.failedLogons.fail(address, server.now());
  const delayMs = server.failedLogons.delayMs(address, server.now());
  if (delayMs > 0) await connection.pause(delayMs);
  throw new Refused('LOGON_FAILURE');
}

type Proven = Extract<AuthenticationStep, { outcome: 'proven' }>;

async function establish(
  call: Call,
  session: Session,
  proven: Proven,
  request: { securityMode: number; previousSessionId: bigint },
): Promise<Reply> {
  const { connection } = call;
  const { settings } = connection.server;
  const agreed = connection.negotiated as Negotiated;
  const { dialect, signing, cipher } = agreed;
  const policy = connection.server.policyOf(proven.account);
  const encryption = settings.encryptionRequired || policy.encryptionInTransitRequired;
  if ((encryption && !cipher) || !isAllowed(policy, agreed)) {
    await endSession(connection, session);
    throw new Refused('ACCESS_DENIED');
  }
  if (session.ended) throw new Refused('USER_SESSION_DELETED');
  const keys = sessionKeys(dialect, proven.exportedKey, session.preauthHash, cipher);
  const { account, workstation } = proven;
  session.secure(
    { account, workstation },
    keys,
    { signing, cipher },
    {
      signing: settings.signingRequired || (request.securityMode & signingRequiredBit) !== 0,
      encryption,
    },
  );
  await replacePrevious(connection, session, request.previousSessionId);
  connection.expect(undefined);
  const sessionFlags = encryption ? encryptData : 0;
  const body = sessionSetupResponse.make({ sessionFlags, security: proven.token });
  return { body, sessionId: session.id, signed: true };
}

/** A client that lost its connection names the session it had; its files are closed for it, or wait for it. */
async function replacePrevious(connection: Connection, session: Session, previousId: bigint): Promise<void> {
  const previous = connection.server.sessions.get(previousId);
  if (previousId === 0n || !previous || previous.session === session) return;
  if (previous.session.secured?.user.account !== session.secured?.user.account) return;
  await endSession(previous.connection, previous.session, true);
}

/** The same user again: the session goes on with its keys and files. */
async function proveAgain(connection: Connection, session: Session, proven: Proven): Promise<Reply> {
  if (session.secured?.user.account !== proven.account) {
    await endSession(connection, session);
    throw new Refused('ACCESS_DENIED');
  }
  return { body: sessionSetupResponse.make({ sessionFlags: 0, security: proven.token }), signed: true };
}

/** Who logs off without closing its durable handles may come back for them. */
export async function logoff(call: Call): Promise<Reply> {
  emptyBody.read(call.message);
  await endSession(call.connection, sessionOf(call), true);
  return { body: emptyBody.make({}) };
}
