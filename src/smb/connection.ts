// One client's connection: bytes to requests, requests to handlers, replies to bytes.
//
// Requests are begun in the order they arrive and may finish in any other; those of one chain run one after
// the other. Whatever a handler throws becomes a status; what breaks the protocol itself ends the
// connection; nothing reaches the process. When the connection ends, by whatever cause, its sessions close
// all they have open.

import type { Socket } from 'node:net';
import type { Call, CancellableWait, Chain, Reply } from './call.js';
import { type Part, splitChain } from './chain.js';
import { answerSmb1 } from './commands/negotiate.js';
import { MessageWindow } from './credits.js';
import { transformId, transformSession } from './crypto/encryption.js';
import type { CipherName, Dialect } from './crypto/keys.js';
import type { SigningName } from './crypto/signing.js';
import { dispatch } from './dispatch.js';
import { Frames, framePrefix } from './framing.js';
import { statusOf } from './refusal-status.js';
import { makeResponses, type Response, totalSize } from './responses.js';
import type { ServerContext } from './server.js';
import type { Session } from './session.js';
import { Hangup, Refused, type Status } from './status.js';
import { endSession } from './teardown.js';
import { commands, flags, type Header, makeErrorBody, smb1Id, smb2Id } from './wire/header.js';

/** What both sides agreed on. */
export interface Negotiated {
  readonly dialect: Dialect;
  readonly clientGuid: Buffer;
  readonly clientCapabilities: number;
  readonly clientSecurityMode: number;
  readonly capabilities: number;
  readonly securityMode: number;
  readonly signing: SigningName;
  readonly cipher: CipherName | undefined;
  /** The most bytes in one read, write or other transfer. */
  readonly maxSize: number;
}

/** A request that was answered with PENDING, or waits in the middle of a chain. */
interface Waiting {
  readonly asyncId: bigint;
  readonly messageId: bigint;
  readonly session: Session | undefined;
  cancel(): void;
}

const bytesBeforeNegotiate = 128 * 1024;
const bytesQueuedOut = 16 * 1024 * 1024;
const bytesCopiedOut = 16 * 1024;

export class Connection {
  readonly server: ServerContext;
  readonly socket: Socket;
  readonly address: string;
  readonly window = new MessageWindow();
  readonly sessions = new Map<bigint, Session>();
  negotiated: Negotiated | undefined;
  /** The hash over NEGOTIATE, from which each session's goes on (3.1.1). */
  preauthHash: Buffer | undefined;
  readonly #frames = new Frames(bytesBeforeNegotiate);
  readonly #waiting = new Set<Waiting>();
  readonly #pauses = new Set<() => void>();
  #nextAsyncId = 1n;
  #received = 0;
  #inFlightBytes = 0;
  #closed = false;
  #stopTimer: () => void = () => {};

  constructor(server: ServerContext, socket: Socket) {
    this.server = server;
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#flow());
    socket.on('error', () => this.close());
    socket.on('end', () => this.close());
    socket.on('close', () => this.close());
    this.expect(server.limits.firstMessageMs);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Gives the client so much time for the next step on its way to a session. */
  expect(ms: number | undefined): void {
    this.#stopTimer();
    if (this.#closed) return;
    this.#stopTimer = ms === undefined ? () => {} : this.server.schedule(ms, () => this.close());
  }

  /** Lets time pass, less of it if the connection ends: a server that stops waits for nobody's penalty. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        stop();
        this.#pauses.delete(end);
        resolve();
      };
      const stop = this.server.schedule(ms, end);
      this.#pauses.add(end);
    });
  }

  /** From here on messages may be as long as the dialect allows. */
  agree(negotiated: Negotiated): void {
    this.negotiated = negotiated;
    this.#frames.limit = negotiated.maxSize + 64 * 1024 + 256;
    this.expect(this.server.limits.sessionSetupMs);
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      for (const message of this.#frames.push(chunk)) {
        this.#accept(message);
        if (this.#closed) return;
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#flow();
  }

  #accept(message: Buffer): void {
    const first = this.#received++ === 0;
    if (message.length < 4) throw new Hangup('message too short');
    switch (message.readUInt32LE(0)) {
      case smb2Id:
        this.#begin(message, undefined);
        break;
      case transformId: {
        const session = this.sessions.get(transformSession(message) ?? 0n);
        const plain = session?.unseal(message);
        if (!session || !plain || plain.length < 4 || plain.readUInt32LE(0) !== smb2Id) {
          throw new Hangup('message cannot be decrypted');
        }
        this.#begin(plain, session);
        break;
      }
      case smb1Id:
        if (!first) throw new Hangup('SMB1 after the first message');
        answerSmb1(this, message);
        break;
      default:
        throw new Hangup('unknown protocol');
    }
  }

  #begin(message: Buffer, sealedBy: Session | undefined): void {
    const parts = splitChain(message);
    for (const part of parts) this.#takeId(part.header);
    this.#inFlightBytes += message.length;
    this.server.track(
      this.#run(parts, sealedBy)
        .catch((error) => this.#fail(error))
        .finally(() => {
          this.#inFlightBytes -= message.length;
          this.#flow();
        }),
    );
  }

  #takeId(head: Header): void {
    if (commands[head.command] === 'cancel') return;
    if (!this.window.take(Number(head.messageId), this.charge(head)))
      throw new Hangup('message id not granted');
  }

  /** How many ids a message uses: more than one for large transfers, from 2.1 on. */
  charge(head: Header): number {
    return (this.negotiated?.dialect ?? 0x0202) > 0x0202 ? Math.max(1, head.creditCharge) : 1;
  }

  async #run(parts: readonly Part[], sealedBy: Session | undefined): Promise<void> {
    const chain: Chain = { session: undefined, tree: undefined, fileId: undefined, createFailure: undefined };
    const responses: Response[] = [];
    for (const [index, part] of parts.entries()) {
      const last = index === parts.length - 1;
      const response = await this.#answer(part, chain, last, sealedBy, responses);
      if (response) responses.push(response);
    }
    this.send(responses, sealedBy);
  }

  /** Runs one request. Where it goes on later, what came before it in its chain is sent at once. */
  async #answer(
    part: Part,
    chain: Chain,
    last: boolean,
    sealedBy: Session | undefined,
    before: Response[],
  ): Promise<Response | undefined> {
    const request = part.header;
    let asyncId: bigint | undefined;
    const interim = () => {
      if (asyncId !== undefined) return asyncId; // It waits again: the client knows already.
      asyncId = this.#nextAsyncId++;
      const reply = { body: makeErrorBody(undefined) };
      const credits = this.#grant(request, 'PENDING');
      const pending = { request, status: 'PENDING', reply, credits, asyncId, signedBy: undefined } as const;
      if (before.length > 0) this.send(before.splice(0), sealedBy);
      this.send([pending], sealedBy);
      return asyncId;
    };
    const call: Call = {
      ...{ connection: this, header: request, message: part.message, chain, last },
      encrypted: sealedBy !== undefined,
      ...{ session: undefined, tree: undefined },
      wait: <T>(wait: CancellableWait<T>) => this.#wait(call, wait, last ? interim : undefined),
    };
    const { reply, status, session, signs } = await this.#dispatch(call, part, sealedBy);
    if (!reply) return undefined;
    const credits = asyncId === undefined ? this.#grant(request, status) : 0;
    const signedBy = !sealedBy && (signs || reply.signed) ? session : undefined;
    return { request, status, reply, credits, asyncId, signedBy };
  }

  async #dispatch(call: Call, part: Part, sealedBy: Session | undefined): ReturnType<typeof dispatch> {
    try {
      if (part.malformed) throw new Refused('INVALID_PARAMETER');
      return await dispatch(call, sealedBy);
    } catch (error) {
      if (error instanceof Hangup) throw error;
      const status = statusOf(error);
      if (status === 'INTERNAL_ERROR' && !(error instanceof Refused)) this.server.report(error);
      this.server.countFailure(status);
      if (commands[call.header.command] === 'create') call.chain.createFailure = status;
      const data = error instanceof Refused ? error.data : undefined;
      const session = call.session ?? call.chain.session;
      const signs = session !== undefined && signsAnswer(call.header, session);
      return { reply: { body: makeErrorBody(data) }, status, session, signs };
    }
  }

  #grant(request: Header, status: Status): number {
    const command = commands[request.command];
    const charge = this.charge(request);
    const setup = command === 'negotiate' || (command === 'sessionSetup' && status !== 'SUCCESS');
    return this.window.grant(charge, setup ? 1 : request.credits);
  }

  async #wait<T>(call: Call, wait: CancellableWait<T>, interim: (() => bigint) | undefined): Promise<T> {
    if (this.#waiting.size >= this.server.limits.waitsPerConnection) {
      wait.cancel();
      wait.result.catch(() => {});
      throw new Refused('INSUFFICIENT_RESOURCES');
    }
    const asyncId = interim ? interim() : this.#nextAsyncId++;
    const { messageId } = call.header;
    const waiting: Waiting = { asyncId, messageId, session: call.session, cancel: () => wait.cancel() };
    this.#waiting.add(waiting);
    try {
      return await wait.result;
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** Ends the wait that a CANCEL names; one that nobody waits for is ignored. */
  cancel(head: Header): void {
    const asyncId = (BigInt(head.treeId) << 32n) | BigInt(head.processId);
    for (const waiting of [...this.#waiting]) {
      const meant =
        head.flags & flags.async ? waiting.asyncId === asyncId : waiting.messageId === head.messageId;
      if (meant) waiting.cancel();
    }
  }

  /** Ends all waits of a session that is gone. */
  cancelAll(session: Session | undefined): void {
    for (const waiting of [...this.#waiting]) if (!session || waiting.session === session) waiting.cancel();
  }

  send(responses: readonly Response[], sealedBy: Session | undefined): void {
    if (this.#closed || responses.length === 0) return;
    const pieces = makeResponses(responses);
    this.write(sealedBy?.canSeal ? sealedBy.seal(pieces) : pieces);
  }

  /** Small messages go out in one piece, which costs less than gathering; large ones are not copied. */
  write(pieces: readonly Buffer[]): void {
    if (this.#closed) return;
    const size = totalSize(pieces);
    const prefix = framePrefix(size);
    if (size <= bytesCopiedOut) {
      this.socket.write(Buffer.concat([prefix, ...pieces], prefix.length + size));
      return;
    }
    this.socket.cork();
    this.socket.write(prefix);
    for (const piece of pieces) this.socket.write(piece);
    this.socket.uncork();
  }

  /** Reads no more while too much is under way or waits to be sent. */
  #flow(): void {
    if (this.#closed) return;
    const full =
      this.#inFlightBytes > this.server.limits.inFlightBytes || this.socket.writableLength > bytesQueuedOut;
    if (full !== this.socket.isPaused()) {
      if (full) this.socket.pause();
      else this.socket.resume();
    }
  }

  #fail(error: unknown): void {
    if (!(error instanceof Hangup)) this.server.report(error);
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopTimer();
    this.socket.destroy();
    this.cancelAll(undefined);
    for (const end of [...this.#pauses]) end();
    for (const session of [...this.sessions.values()]) this.server.track(endSession(this, session, true));
    this.server.forget(this);
  }
}

/** Whether an answer is signed: the request was, or the session always is. */
export function signsAnswer(request: Header, session: Session): boolean {
  const { secured } = session;
  return secured !== undefined && ((request.flags & flags.signed) !== 0 || secured.signingRequired);
}

export type { Reply };
