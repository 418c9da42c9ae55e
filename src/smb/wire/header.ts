// The header of every message, the body of an error, and the numbers of commands.

import { body, bytes, constant, struct, u8, u16, u32, u64, type ValueOf } from './struct.js';

export const smb2Id = 0x424d53fe;
export const smb1Id = 0x424d53ff;

// biome-ignore format: a table
export const commands = [
  'negotiate', 'sessionSetup', 'logoff', 'treeConnect', 'treeDisconnect', 'create', 'close', 'flush', 'read',
  'write', 'lock', 'ioctl', 'cancel', 'echo', 'queryDirectory', 'changeNotify', 'queryInfo', 'setInfo',
  'oplockBreak',
] as const;
export type Command = (typeof commands)[number];

// biome-ignore format: a table
export const flags = {
  response: 0x1, async: 0x2, related: 0x4, signed: 0x8, priority: 0x70, dfs: 0x10000000, replay: 0x20000000,
} as const;

const headerShape = {
  protocolId: u32,
  _structureSize: constant(u16, 64),
  creditCharge: u16,
  /** In a response the status. */
  channelSequence: u32,
  command: u16,
  credits: u16,
  flags: u32,
  nextCommand: u32,
  messageId: u64,
  processId: u32,
  treeId: u32,
  sessionId: u64,
  signature: bytes(16),
};
export type Header = ValueOf<typeof headerShape>;
export const header = struct(headerShape);

export const allOnes64 = 2n ** 64n - 1n;
export const allOnes32 = 0xffffffff;

const errorBody = struct({ _structureSize: constant(u16, 9), contexts: u8, _reserved: u8, byteCount: u32 });

/** The body of an error: at least one byte of data, even where there is none. */
export function makeErrorBody(data: Buffer | undefined): Buffer {
  const head = errorBody.make({ contexts: 0, byteCount: data?.length ?? 0 });
  return Buffer.concat([head, data ?? Buffer.alloc(1)]);
}

/** Requests and responses that carry nothing: LOGOFF, ECHO, TREE_DISCONNECT, FLUSH, LOCK responses. */
export const emptyBody = body({ _structureSize: constant(u16, 4), _reserved: u16 }, {});
