// Running the requests of one message: one after the other, each to a handler and its result or failure to a response.

import type { Call, CancellableWait, Chain } from './call.js';
import type { Part } from './chain.js';
import type { Connection } from './connection.js';
import { dispatch } from './dispatch.js';
import { statusOf } from './refusal-status.js';
import { type Response, signsAnswer } from './responses.js';
import type { Session } from './session.js';
import { Hangup, Refused, type Status } from './status.js';
import { commands, type Header, makeErrorBody } from './wire/header.js';

/** Runs a chain and sends its answers. `sealedBy`: the session that it came encrypted from. */
export async function answerChain(
  connection: Connection,
  parts: readonly Part[],
  sealedBy: Session | undefined,
): Promise<void> {
  const chain: Chain = { session: undefined, tree: undefined, fileId: undefined, createFailure: undefined };
  const responses: Response[] = [];
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    const response = await answer(connection, { part, chain, last, sealedBy, before: responses });
    if (response) responses.push(response);
  }
  connection.send(responses, sealedBy);
}

interface Asked {
  readonly part: Part;
  readonly chain: Chain;
  /** Whether it is the last of its chain, so that it may be answered later. */
  readonly last: boolean;
  readonly sealedBy: Session | undefined;
  /** What came before it in its chain and is not sent yet. */
  readonly before: Response[];
}

/** Runs one request. Where it goes on later, what came before it in its chain is sent at once. */
async function answer(connection: Connection, asked: Asked): Promise<Response | undefined> {
  const { part, chain, last, sealedBy, before } = asked;
  const request = part.header;
  let asyncId: bigint | undefined;
  const interim = () => {
    if (asyncId !== undefined) return asyncId; // It waits again: the client knows already.
    asyncId = connection.waits.newAsyncId();
    const reply = { body: makeErrorBody(undefined) };
    const credits = grant(connection, request, 'PENDING');
    const pending = { request, status: 'PENDING', reply, credits, asyncId, signedBy: undefined } as const;
    if (before.length > 0) connection.send(before.splice(0), sealedBy);
    connection.send([pending], sealedBy);
    return asyncId;
  };
  const asyncIdOf = last ? interim : () => connection.waits.newAsyncId();
  const call: Call = {
    ...{ connection, header: request, message: part.message, chain, last },
    encrypted: sealedBy !== undefined,
    ...{ session: undefined, tree: undefined },
    wait: <T>(wait: CancellableWait<T>) => connection.waits.add(call, wait, asyncIdOf),
  };
  const { reply, status, session, signs } = await outcome(call, part, sealedBy);
  if (!reply) return undefined;
  const credits = asyncId === undefined ? grant(connection, request, status) : 0;
  const signedBy = !sealedBy && (signs || reply.signed) ? session : undefined;
  return { request, status, reply, credits, asyncId, signedBy };
}

/** Whatever a handler throws is a status; only what breaks the protocol itself ends the connection. */
async function outcome(call: Call, part: Part, sealedBy: Session | undefined): ReturnType<typeof dispatch> {
  const { server } = call.connection;
  try {
    if (part.malformed) throw new Refused('INVALID_PARAMETER');
    return await dispatch(call, sealedBy);
  } catch (error) {
    if (error instanceof Hangup) throw error;
    const status = statusOf(error);
    if (status === 'INTERNAL_ERROR' && !(error instanceof Refused)) server.report(error);
    server.countFailure(status);
    if (commands[call.header.command] === 'create') call.chain.createFailure = status;
    const data = error instanceof Refused ? error.data : undefined;
    const session = call.session ?? call.chain.session;
    const signs = session !== undefined && signsAnswer(call.header, session);
    return { reply: { body: makeErrorBody(data) }, status, session, signs };
  }
}

function grant(connection: Connection, request: Header, status: Status): number {
  const command = commands[request.command];
  const setup = command === 'negotiate' || (command === 'sessionSetup' && status !== 'SUCCESS');
  return connection.window.grant(connection.charge(request), setup ? 1 : request.credits);
}
