// Files as the small SMB client has them open: with the rights, share modes and caches that a test wants.

import assert from 'node:assert/strict';
import { allAccess, share as shareMode } from '#src/services/file/access.js';
import { type Status, statuses } from '#src/smb/status.js';
import { makeCreateContexts } from '#src/smb/wire/create-contexts.js';
import * as wire from '#src/smb/wire/files.js';
import { type Command, flags } from '#src/smb/wire/header.js';
import { headerSize, utf16 } from '#src/smb/wire/struct.js';
import { type Answer, SmbClient } from './smb-client.js';

const dispositions = { supersede: 0, open: 1, create: 2, openIf: 3, overwrite: 4, overwriteIf: 5 } as const;
export const oplocks = { none: 0, levelTwo: 1, exclusive: 8, batch: 9 } as const;
const deleteOnClose = 0x1000;

export interface OpenOptions {
  readonly access?: number;
  readonly share?: number;
  readonly disposition?: keyof typeof dispositions;
  readonly oplock?: keyof typeof oplocks;
  readonly deleteOnClose?: boolean;
  readonly contexts?: readonly (readonly [string, Buffer])[];
  /** It was sent before. */
  readonly replay?: boolean;
  /** It is told to wait first. */
  readonly waits?: boolean;
}

/** A client that is logged on and has the share `files`. */
export async function connectSmb(port: number, dialect = 0x0210): Promise<SmbClient> {
  const client = await SmbClient.connect(port);
  await client.negotiate([dialect]);
  assert.equal(statusOf(await client.logOn()), 'SUCCESS');
  assert.equal(statusOf(await client.connectTree()), 'SUCCESS');
  return client;
}

export function statusOf(answer: Answer | undefined): Status | 'closed' {
  const found = Object.entries(statuses).find(([, value]) => value === answer?.status);
  return answer && found ? (found[0] as Status) : 'closed';
}

export function tryOpen(
  client: SmbClient,
  name: string,
  options: OpenOptions = {},
): Promise<Answer | undefined> {
  const request = wire.createRequest.make({
    ...{ securityFlags: 0, impersonationLevel: 2, smbCreateFlags: 0n, fileAttributes: 0x80 },
    oplockLevel: oplocks[options.oplock ?? 'none'],
    desiredAccess: options.access ?? allAccess,
    shareAccess: options.share ?? shareMode.all,
    disposition: dispositions[options.disposition ?? 'open'],
    options: options.deleteOnClose ? deleteOnClose : 0,
    ...{ name: utf16(name), contexts: makeCreateContexts(options.contexts ?? []) },
  });
  return client.request('create', request, options.replay ? { flags: flags.replay } : {});
}

export async function openSmb(
  client: SmbClient,
  name: string,
  options: OpenOptions = {},
): Promise<SmbHandle> {
  const first = await tryOpen(client, name, options);
  if (options.waits) assert.equal(statusOf(first), 'PENDING');
  const answer = options.waits ? await client.answer() : first;
  assert.ok(answer);
  const handle = openedSmb(client, answer);
  const { oplockLevel } = wire.createResponse.read(answer.message);
  assert.equal(oplockLevel, oplocks[options.oplock ?? 'none']);
  return handle;
}

export function openedSmb(client: SmbClient, answer: Answer | undefined): SmbHandle {
  assert.equal(statusOf(answer), 'SUCCESS');
  assert.ok(answer);
  return new SmbHandle(client, wire.createResponse.read(answer.message).fileId);
}

export class SmbHandle {
  readonly #client: SmbClient;
  readonly fileId: Buffer;

  constructor(client: SmbClient, fileId: Buffer) {
    this.#client = client;
    this.fileId = Buffer.from(fileId);
  }

  async #ask(command: Command, body: Buffer): Promise<Status | 'closed'> {
    return statusOf(await this.#client.request(command, body));
  }

  async read(offset = 0, length = 1000): Promise<string> {
    const answer = await this.#client.request(
      'read',
      wire.readRequest.make({
        ...{ padding: 80, flags: 0, length, offset: BigInt(offset), fileId: this.fileId, minimumCount: 0 },
        ...{ channel: 0, remainingBytes: 0, channelOffset: 0, channelLength: 0 },
      }),
    );
    if (answer?.status !== 0) return statusOf(answer);
    const { dataLength } = wire.readResponse.read(answer.message.subarray(headerSize));
    return answer.message.toString('utf8', 80, 80 + dataLength);
  }

  /** An offset of all ones: at the end. */
  append(text: string): Promise<Status | 'closed'> {
    return this.write(text, 2n ** 64n - 1n);
  }

  write(text: string, offset: number | bigint = 0): Promise<Status | 'closed'> {
    const request = wire.writeRequest.make({
      ...{ offset: BigInt(offset), fileId: this.fileId, flags: 0, data: Buffer.from(text) },
      ...{ channel: 0, remainingBytes: 0, channelOffset: 0, channelLength: 0 },
    });
    return this.#ask('write', request);
  }

  flush(): Promise<Status | 'closed'> {
    return this.#ask('flush', wire.flushRequest.make({ fileId: this.fileId }));
  }

  /** At once or not at all. */
  lock(offset: number, length: number, kind: 'shared' | 'exclusive' | 'unlock'): Promise<Status | 'closed'> {
    const flags = { shared: 0x11, exclusive: 0x12, unlock: 0x4 }[kind];
    const head = wire.lockRequest.make({ lockCount: 1, lockSequence: 0, fileId: this.fileId });
    const range = { offset: BigInt(offset), length: BigInt(length), flags };
    return this.#ask('lock', Buffer.concat([head, wire.lockElement.make(range)]));
  }

  /** Marks the file for deletion, or takes the mark away. */
  setDelete(deletes: boolean): Promise<Status | 'closed'> {
    return this.#setInfo(13, Buffer.from([deletes ? 1 : 0]));
  }

  setLength(length: number): Promise<Status | 'closed'> {
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64LE(BigInt(length));
    return this.#setInfo(20, buffer);
  }

  #setInfo(infoClass: number, buffer: Buffer): Promise<Status | 'closed'> {
    const request = { infoType: 1, infoClass, additional: 0, fileId: this.fileId, buffer };
    return this.#ask('setInfo', wire.setInfoRequest.make(request));
  }

  /** Asks to be told of changes below this directory; the answer comes when there is one. */
  async watch(): Promise<Status | 'closed'> {
    const request = { flags: 1, outputLength: 4096, fileId: this.fileId, filter: 0xfff };
    return this.#ask('changeNotify', wire.changeNotifyRequest.make(request));
  }

  /** What changed, `1 name` for one that was added, as the next answer tells it. */
  async changed(): Promise<string[]> {
    const answer = await this.#client.answer();
    assert.equal(statusOf(answer), 'SUCCESS');
    const buffer = wire.bufferResponse.read(answer?.message ?? Buffer.alloc(0)).buffer;
    const found: string[] = [];
    for (let at = 0, next = -1; next !== 0; at += next) {
      next = buffer.readUInt32LE(at);
      const end = at + 12 + buffer.readUInt32LE(at + 8);
      found.push(`${buffer.readUInt32LE(at + 4)} ${buffer.toString('utf16le', at + 12, end)}`);
    }
    return found;
  }

  /** The level that the server asks to go down to. */
  async broken(): Promise<number> {
    const notice = await this.#client.answer();
    assert.ok(notice);
    const { fileId, level } = wire.oplockBreak.read(notice.message);
    assert.deepEqual(fileId, this.fileId);
    return level;
  }

  acknowledge(level: keyof typeof oplocks): Promise<Status | 'closed'> {
    return this.#ask('oplockBreak', wire.oplockBreak.make({ level: oplocks[level], fileId: this.fileId }));
  }

  close(): Promise<Status | 'closed'> {
    return this.#ask('close', wire.closeRequest.make({ flags: 0, fileId: this.fileId }));
  }
}
