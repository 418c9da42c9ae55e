// A client for load: signs as 3.1.1 with AES-GMAC does, keeps many requests under way, copies nothing.
// It checks statuses and no signatures, so that the server's time is what is measured.

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { emptyHash, extendHash, sessionKeys } from '#src/smb/crypto/keys.js';
import { type Signer, sign, signer } from '#src/smb/crypto/signing.js';
import { Frames, framePrefix } from '#src/smb/framing.js';
import * as wire from '#src/smb/wire/files.js';
import { type Command, commands, header, smb2Id } from '#src/smb/wire/header.js';
import {
  contextTypes,
  makeContexts,
  negotiateRequest,
  sessionSetupRequest,
  treeConnectRequest,
} from '#src/smb/wire/session.js';
import { align8, headerSize, utf16 } from '#src/smb/wire/struct.js';
import { ntlmAuthenticate, ntlmNegotiate } from '../test/support/ntlm-client.js';
import type { SmbTarget } from './targets.js';

const moreProcessing = 0xc0000016;
const pending = 0x103;
const aesGmac = 2;
const sha512 = 1;
const dialect = 0x0311;

export class LoadClient implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #frames = new Frames(2 ** 24);
  readonly #answers = new Map<bigint, (message: Buffer) => void>();
  #signer: Signer | undefined;
  #hash = emptyHash;
  #nextId = 0n;
  #sessionId = 0n;
  #treeId = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      for (const message of this.#frames.push(chunk)) this.#receive(message);
    });
  }

  /** Logged on, with the share of the benchmarks. */
  static async open({ port, login }: SmbTarget): Promise<LoadClient> {
    const socket = connect(port, '127.0.0.1');
    await new Promise((done, fail) => socket.once('connect', done).once('error', fail));
    const client = new LoadClient(socket);
    const at = login.indexOf('%');
    await client.#logOn(login.slice(0, at), login.slice(at + 1));
    const path = utf16('\\\\127.0.0.1\\bench');
    const tree = await client.#ask('treeConnect', treeConnectRequest.make({ flags: 0, path }));
    client.#treeId = header.read(tree).treeId;
    return client;
  }

  #receive(message: Buffer): void {
    const { messageId, channelSequence: status } = header.read(message);
    if (status === pending) return;
    this.#answers.get(messageId)?.(message);
    this.#answers.delete(messageId);
  }

  /** As many ids as it takes for the larger of request and answer. */
  #send(command: Command, body: Buffer, bytes: number): Promise<Buffer> {
    const charge = Math.max(1, Math.ceil(bytes / 65536));
    const messageId = this.#nextId;
    this.#nextId += BigInt(charge);
    const message = header.make({
      ...{ protocolId: smb2Id, creditCharge: charge, channelSequence: 0, command: commands.indexOf(command) },
      ...{ credits: 512, flags: 0, nextCommand: 0, messageId, processId: 0, treeId: this.#treeId },
      ...{ sessionId: this.#sessionId, signature: Buffer.alloc(16) },
    });
    const pieces = [message, body];
    if (this.#signer) sign(this.#signer, pieces);
    else this.#hash = extendHash(this.#hash, ...pieces);
    this.#socket.cork();
    this.#socket.write(framePrefix(message.length + body.length));
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
    return new Promise((done) => this.#answers.set(messageId, done));
  }

  async #ask(command: Command, body: Buffer, bytes = 0): Promise<Buffer> {
    const answer = await this.#send(command, body, bytes);
    const { channelSequence: status } = header.read(answer);
    if (status !== 0) throw new Error(`${command} answers 0x${status.toString(16)}`);
    return answer;
  }

  async #logOn(user: string, password: string): Promise<void> {
    const agreed = await this.#send('negotiate', negotiation(), 0);
    this.#hash = extendHash(this.#hash, agreed);
    const setup = (security: Buffer) =>
      this.#send(
        'sessionSetup',
        sessionSetupRequest.make({
          ...{ flags: 0, securityMode: 1, capabilities: 0, channel: 0, previousSessionId: 0n, security },
        }),
        0,
      );
    const first = await setup(ntlmNegotiate);
    const head = header.read(first);
    if (head.channelSequence !== moreProcessing) throw new Error('the server does not go on with NTLM');
    this.#hash = extendHash(this.#hash, first);
    this.#sessionId = head.sessionId;
    const challenge = first.subarray(first.readUInt16LE(headerSize + 4));
    const { token, key } = ntlmAuthenticate(challenge, password, user);
    const last = await setup(token);
    if (header.read(last).channelSequence !== 0) throw new Error('the server refuses the user');
    this.#signer = signer('AES-GMAC', sessionKeys(dialect, key, this.#hash, undefined).signing);
  }

  async create(name: string, disposition: 'open' | 'overwriteIf', deletes = false): Promise<Buffer> {
    const request = wire.createRequest.make({
      ...{ securityFlags: 0, oplockLevel: 0, impersonationLevel: 2, smbCreateFlags: 0n },
      ...{ desiredAccess: 0x0013019f, fileAttributes: 0x80, shareAccess: 7 },
      ...{ disposition: disposition === 'open' ? 1 : 5, options: 0x40 | (deletes ? 0x1000 : 0) },
      ...{ name: utf16(name), contexts: Buffer.alloc(0) },
    });
    const answer = await this.#ask('create', request);
    return Buffer.from(wire.createResponse.read(answer).fileId);
  }

  async close(fileId: Buffer): Promise<void> {
    await this.#ask('close', wire.closeRequest.make({ flags: 0, fileId }));
  }

  async flush(fileId: Buffer): Promise<void> {
    await this.#ask('flush', wire.flushRequest.make({ fileId }));
  }

  async read(fileId: Buffer, offset: number, length: number): Promise<Buffer> {
    const request = wire.readRequest.make({
      ...{ padding: 80, flags: 0, length, offset: BigInt(offset), fileId, minimumCount: 0 },
      ...{ channel: 0, remainingBytes: 0, channelOffset: 0, channelLength: 0 },
    });
    const answer = await this.#ask('read', Buffer.concat([request, Buffer.alloc(1)]), length);
    return answer.subarray(80);
  }

  async write(fileId: Buffer, offset: number, data: Buffer): Promise<void> {
    const request = wire.writeRequest.make({
      ...{ offset: BigInt(offset), fileId, flags: 0, data },
      ...{ channel: 0, remainingBytes: 0, channelOffset: 0, channelLength: 0 },
    });
    await this.#ask('write', request, data.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
  }
}

/** Offers 3.1.1 alone, with AES-GMAC. */
function negotiation(): Buffer {
  const numbers = (...values: readonly number[]) => Buffer.from(Uint16Array.from(values).buffer);
  const contexts = makeContexts([
    { type: contextTypes.preauth, data: Buffer.concat([numbers(1, 32, sha512), randomBytes(32)]) },
    { type: contextTypes.signing, data: numbers(1, aesGmac) },
  ]);
  const contextOffset = align8(headerSize + negotiateRequest.size + 2);
  const fixed = negotiateRequest.make({
    ...{ dialectCount: 1, securityMode: 1, capabilities: 0x4, clientGuid: randomBytes(16) },
    ...{ contextOffset, contextCount: 2 },
  });
  const padding = Buffer.alloc(contextOffset - headerSize - fixed.length - 2);
  return Buffer.concat([fixed, numbers(dialect), padding, contexts]);
}
