// A small SMB client for tests: logs on with raw NTLM, sends any bytes and waits for answers. It signs
// nothing, so the server it talks to must not require it.

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Frames, framePrefix } from '#src/smb/framing.js';
import { type Command, commands, header, smb2Id } from '#src/smb/wire/header.js';
import { negotiateRequest, sessionSetupRequest, treeConnectRequest } from '#src/smb/wire/session.js';
import { utf16 } from '#src/smb/wire/struct.js';
import { ntlmAuthenticate, ntlmNegotiate } from './ntlm-client.js';
import { account, accountKey } from './smb-server.js';

export interface Answer {
  readonly status: number;
  readonly credits: number;
  readonly flags: number;
  readonly messageId: bigint;
  readonly treeId: number;
  readonly sessionId: bigint;
  readonly command: number;
  readonly message: Buffer;
}

export interface Sent {
  readonly treeId?: number;
  readonly flags?: number;
  readonly messageId?: bigint;
  readonly sessionId?: bigint;
  readonly charge?: number;
  readonly credits?: number;
  readonly next?: number;
}

export class SmbClient {
  readonly #socket: Socket;
  readonly #frames = new Frames(2 ** 24);
  readonly #answers: Answer[] = [];
  #wake: () => void = () => {};
  closed = false;
  nextId = 0n;
  sessionId = 0n;
  treeId = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      for (const message of this.#frames.push(chunk)) this.#receive(message);
      this.#wake();
    });
    for (const event of ['close', 'error', 'end']) {
      socket.on(event, () => {
        this.closed = true;
        this.#wake();
      });
    }
  }

  static connect(port: number): Promise<SmbClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new SmbClient(socket)));
      socket.once('error', reject);
    });
  }

  /** Answers of one chain are taken apart. */
  #receive(message: Buffer): void {
    for (let at = 0; ; ) {
      const rest = message.subarray(at);
      const head = header.read(rest);
      const next = head.nextCommand;
      const { credits, flags, messageId, treeId, sessionId, command } = head;
      const own = next === 0 ? rest : rest.subarray(0, next);
      this.#answers.push({
        status: head.channelSequence,
        credits,
        flags,
        messageId,
        treeId,
        sessionId,
        command,
        message: own,
      });
      if (next === 0) return;
      at += next;
    }
  }

  /** A whole message: a header of ours in front of a body. */
  message(command: Command, body: Buffer, options: Sent = {}): Buffer {
    const charge = options.charge ?? 1;
    const messageId = options.messageId ?? this.nextId;
    if (options.messageId === undefined) this.nextId += BigInt(charge);
    const head = header.make({
      ...{ protocolId: smb2Id, creditCharge: charge, channelSequence: 0, command: commands.indexOf(command) },
      ...{
        credits: options.credits ?? 64,
        flags: options.flags ?? 0,
        nextCommand: options.next ?? 0,
        messageId,
      },
      ...{ processId: 0, treeId: options.treeId ?? this.treeId, signature: Buffer.alloc(16) },
      sessionId: options.sessionId ?? this.sessionId,
    });
    return Buffer.concat([head, body]);
  }

  send(message: Buffer): void {
    this.raw(Buffer.concat([framePrefix(message.length), message]));
  }

  raw(bytes: Buffer): void {
    if (!this.closed) this.#socket.write(bytes);
  }

  /** The next answer, or nothing once the connection is closed. */
  async answer(): Promise<Answer | undefined> {
    while (this.#answers.length === 0) {
      if (this.closed) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#answers.shift();
  }

  async request(command: Command, body: Buffer, options: Sent = {}): Promise<Answer | undefined> {
    this.send(this.message(command, body, options));
    return this.answer();
  }

  async negotiate(dialects: readonly number[] = [0x0210]): Promise<Answer | undefined> {
    const list = Buffer.alloc(dialects.length * 2);
    for (const [index, dialect] of dialects.entries()) list.writeUInt16LE(dialect, index * 2);
    const fixed = negotiateRequest.make({
      ...{ dialectCount: dialects.length, securityMode: 1, capabilities: 0, clientGuid: randomBytes(16) },
      ...{ contextOffset: 0, contextCount: 0 },
    });
    return this.request('negotiate', Buffer.concat([fixed, list]), { charge: 1, credits: 1 });
  }

  async logOn(password = accountKey, user = account): Promise<Answer | undefined> {
    const setup = (security: Buffer) =>
      this.request(
        'sessionSetup',
        sessionSetupRequest.make({
          flags: 0,
          securityMode: 1,
          capabilities: 0,
          channel: 0,
          previousSessionId: 0n,
          security,
        }),
      );
    this.sessionId = 0n;
    const first = await setup(ntlmNegotiate);
    if (!first) return undefined;
    this.sessionId = first.sessionId;
    const at = first.message.readUInt16LE(68);
    return setup(ntlmAuthenticate(first.message.subarray(at), password, user).token);
  }

  async connectTree(share = 'files'): Promise<Answer | undefined> {
    const path = utf16(`\\\\server\\${share}`);
    const answer = await this.request('treeConnect', treeConnectRequest.make({ flags: 0, path }));
    this.treeId = answer?.treeId ?? 0;
    return answer;
  }

  close(): void {
    this.#socket.destroy();
  }
}
