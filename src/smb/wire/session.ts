// NEGOTIATE, SESSION_SETUP and TREE_CONNECT.

import { align8, body, bytes, constant, struct, u8, u16, u32, u64 } from './struct.js';

export const negotiateRequest = body(
  {
    _structureSize: constant(u16, 36),
    dialectCount: u16,
    securityMode: u16,
    _reserved: u16,
    capabilities: u32,
    clientGuid: bytes(16),
    /** In 3.1.1; older dialects have a time here that nobody uses. */
    contextOffset: u32,
    contextCount: u16,
    _reserved2: u16,
  },
  {},
);

export const negotiateResponse = body(
  {
    _structureSize: constant(u16, 65),
    securityMode: u16,
    dialect: u16,
    contextCount: u16,
    serverGuid: bytes(16),
    capabilities: u32,
    maxTransactSize: u32,
    maxReadSize: u32,
    maxWriteSize: u32,
    systemTime: u64,
    _serverStartTime: u64,
    securityOffset: u16,
    securityLength: u16,
    contextOffset: u32,
  },
  { security: { offset: 'securityOffset', length: 'securityLength' } },
);

// biome-ignore format: a table
export const contextTypes = { preauth: 1, encryption: 2, signing: 8 } as const;

const contextHead = struct({ type: u16, length: u16, _reserved: u32 });

export interface NegotiateContext {
  readonly type: number;
  readonly data: Buffer;
}

/** Contexts lie on multiples of 8 from the start of the first. Nothing if one leaves the message. */
export function readContexts(message: Buffer, offset: number, count: number): NegotiateContext[] | undefined {
  const contexts: NegotiateContext[] = [];
  let at = offset;
  for (let index = 0; index < count; index++) {
    if (at + contextHead.size > message.length) return undefined;
    const { type, length } = contextHead.read(message, at);
    const data = message.subarray(at + contextHead.size, at + contextHead.size + length);
    if (data.length !== length) return undefined;
    contexts.push({ type, data });
    at = align8(at + contextHead.size + length);
  }
  return contexts;
}

export function makeContexts(contexts: readonly NegotiateContext[]): Buffer {
  const pieces: Buffer[] = [];
  for (const [index, { type, data }] of contexts.entries()) {
    const piece = Buffer.concat([contextHead.make({ type, length: data.length }), data]);
    const last = index === contexts.length - 1;
    pieces.push(last ? piece : Buffer.concat([piece, Buffer.alloc(align8(piece.length) - piece.length)]));
  }
  return Buffer.concat(pieces);
}

/** A list of 16-bit numbers, its count first: hash algorithms (with a salt), ciphers, signing algorithms. */
export function readNumbers(data: Buffer, at: number): number[] | undefined {
  if (data.length < at + 2) return undefined;
  const count = data.readUInt16LE(0);
  if (data.length < at + count * 2) return undefined;
  return Array.from({ length: count }, (_, index) => data.readUInt16LE(at + index * 2));
}

export const sessionSetupRequest = body(
  {
    _structureSize: constant(u16, 25),
    flags: u8,
    securityMode: u8,
    capabilities: u32,
    channel: u32,
    securityOffset: u16,
    securityLength: u16,
    previousSessionId: u64,
  },
  { security: { offset: 'securityOffset', length: 'securityLength' } },
);

export const sessionSetupResponse = body(
  { _structureSize: constant(u16, 9), sessionFlags: u16, securityOffset: u16, securityLength: u16 },
  { security: { offset: 'securityOffset', length: 'securityLength' } },
);

export const treeConnectRequest = body(
  { _structureSize: constant(u16, 9), flags: u16, pathOffset: u16, pathLength: u16 },
  { path: { offset: 'pathOffset', length: 'pathLength' } },
);

export const treeConnectResponse = body(
  {
    _structureSize: constant(u16, 16),
    shareType: u8,
    _reserved: u8,
    shareFlags: u32,
    capabilities: u32,
    maximalAccess: u32,
  },
  {},
);
