// Messages out: the header in front of a body, several of them as a chain, signed or encrypted.

import type { Reply } from './call.js';
import { sign } from './crypto/signing.js';
import type { Session } from './session.js';
import { type Status, statuses } from './status.js';
import { flags, type Header, header, smb2Id } from './wire/header.js';
import { align8, headerSize } from './wire/struct.js';

export interface Response {
  readonly request: Header;
  readonly status: Status;
  readonly reply: Reply;
  readonly credits: number;
  /** Set where the request was answered with PENDING before, or is being so now. */
  readonly asyncId: bigint | undefined;
  /** Signs with the key of this session. */
  readonly signedBy: Session | undefined;
}

/** One chain of responses, as pieces to be written one after the other. */
export function makeResponses(responses: readonly Response[]): Buffer[] {
  return responses.flatMap((response, index) => {
    const pieces = makeResponse(response);
    const last = index === responses.length - 1;
    if (!last) pad(pieces);
    const signer = response.signedBy?.secured?.signer;
    if (signer) sign(signer, pieces);
    response.reply.sent?.(pieces);
    return pieces;
  });
}

function makeResponse({ request, status, reply, credits, asyncId }: Response): Buffer[] {
  const head = Buffer.allocUnsafe(headerSize + reply.body.length);
  // An error of a session that is gone cannot be signed; clients take it if it repeats their signature.
  const echoes = status !== 'PENDING' && (request.flags & flags.signed) !== 0;
  const kept = request.flags & (flags.related | flags.priority | flags.replay | (echoes ? flags.signed : 0));
  header.write(head, 0, {
    ...request,
    protocolId: smb2Id,
    channelSequence: statuses[status],
    credits,
    flags: (kept | flags.response | (asyncId === undefined ? 0 : flags.async)) >>> 0,
    nextCommand: 0,
    treeId: reply.treeId ?? request.treeId,
    sessionId: reply.sessionId ?? request.sessionId,
    signature: echoes ? request.signature : noSignature,
  });
  if (asyncId !== undefined) head.writeBigUInt64LE(asyncId, 32);
  head.set(reply.body, headerSize);
  return reply.data && reply.data.length > 0 ? [head, reply.data] : [head];
}

const noSignature = Buffer.alloc(16);

/** Fills up to a multiple of 8 and points to the next message. The padding is signed along. */
function pad(pieces: Buffer[]): void {
  const size = totalSize(pieces);
  const padded = align8(size);
  (pieces[0] as Buffer).writeUInt32LE(padded, 20);
  if (padded > size) pieces.push(Buffer.alloc(padded - size));
}

export function totalSize(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** Whether an answer is signed: the request was, or the session always is. */
export function signsAnswer(request: Header, session: Session): boolean {
  const { secured } = session;
  return secured !== undefined && ((request.flags & flags.signed) !== 0 || secured.signingRequired);
}
