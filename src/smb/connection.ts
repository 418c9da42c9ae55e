// One client's connection: bytes to requests, requests to handlers, replies to bytes.
//
// Requests are begun in the order they arrive and may finish in any other; those of one chain run one after
// the other. Whatever a handler throws becomes a status; what breaks the protocol itself ends the
// connection; nothing reaches the process. When the connection ends, by whatever cause, its sessions close
// all they have open.

import type { Socket } from 'node:net';
import { answerChain } from './answer.js';
import { splitChain } from './chain.js';
import { answerSmb1 } from './commands/negotiate.js';
import { MessageWindow } from './credits.js';
import { transformId, transformSession } from './crypto/encryption.js';
import type { CipherName, Dialect } from './crypto/keys.js';
import type { SigningName } from './crypto/signing.js';
import { Frames, framePrefix } from './framing.js';
import { makeResponses, type Response, totalSize } from './responses.js';
import type { ServerContext } from './server.js';
import type { Session } from './session.js';
import { Hangup } from './status.js';
import { endSession } from './teardown.js';
import { Waits } from './waits.js';
import { commands, type Header, smb1Id, smb2Id } from './wire/header.js';

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

const bytesBeforeNegotiate = 128 * 1024;
const bytesQueuedOut = 16 * 1024 * 1024;
const bytesCopiedOut = 16 * 1024;

export class Connection {
  readonly server: ServerContext;
  readonly socket: Socket;
  readonly address: string;
  readonly window = new MessageWindow();
  readonly sessions = new Map<bigint, Session>();
  readonly waits: Waits;
  negotiated: Negotiated | undefined;
  /** The hash over NEGOTIATE, from which each session's goes on (3.1.1). */
  preauthHash: Buffer | undefined;
  readonly #frames = new Frames(bytesBeforeNegotiate);
  readonly #pauses = new Set<() => void>();
  #received = 0;
  #inFlightBytes = 0;
  #closed = false;
  #stopTimer: () => void = () => {};

  constructor(server: ServerContext, socket: Socket) {
    this.server = server;
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
    this.waits = new Waits(server.limits.waitsPerConnection);
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
      answerChain(this, parts, sealedBy)
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
    this.waits.cancelAll(undefined);
    for (const end of [...this.#pauses]) end();
    for (const session of [...this.sessions.values()]) this.server.track(endSession(this, session, true));
    this.server.forget(this);
  }
}
