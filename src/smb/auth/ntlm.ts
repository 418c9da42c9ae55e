// NTLMv2, the server's side: a challenge out, the client's proof that it knows the password in.
//
//   NT hash            MD4 of the password
//   NTLMv2 hash        HMAC-MD5 with it over the upper-cased user name and the domain as sent
//   proof              HMAC-MD5 with that over our challenge and what the client added
//   session base key   HMAC-MD5 with it over the proof
//   exported key       what the client wrapped with that by RC4, or the base key itself
//
// No NTLMv1, no LM, no anonymous. Every buffer of the token is checked against the token's bounds.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { md4 } from '../crypto/md4.js';
import { rc4 } from '../crypto/rc4.js';
import { bytes, constant, struct, u16, u32, u64, utf16 } from '../wire/struct.js';

// biome-ignore format: a table
export const ntlmFlags = {
  unicode: 0x1, requestTarget: 0x4, sign: 0x10, seal: 0x20, ntlm: 0x200, alwaysSign: 0x8000,
  targetTypeServer: 0x20000, extendedSecurity: 0x80000, targetInfo: 0x800000, version: 0x2000000,
  bits128: 0x20000000, keyExchange: 0x40000000, bits56: 0x80000000,
} as const;

/** Answered only where the client asked for it. */
const echoed =
  ntlmFlags.unicode |
  ntlmFlags.requestTarget |
  ntlmFlags.sign |
  ntlmFlags.seal |
  ntlmFlags.ntlm |
  (ntlmFlags.alwaysSign | ntlmFlags.extendedSecurity | ntlmFlags.version | ntlmFlags.bits128) |
  (ntlmFlags.keyExchange | ntlmFlags.bits56);

const signature = Buffer.from('NTLMSSP\0');
const span = { length: u16, room: u16, offset: u32 };
const spanStruct = struct(span);

const negotiateMessage = struct({ signature: bytes(8), _type: constant(u32, 1), flags: u32 });
const challengeMessage = struct({
  signature: bytes(8),
  _type: constant(u32, 2),
  targetName: bytes(8),
  flags: u32,
  challenge: bytes(8),
  _reserved: u64,
  targetInfo: bytes(8),
  version: bytes(8),
});
const authenticateMessage = struct({
  signature: bytes(8),
  _type: constant(u32, 3),
  lmResponse: bytes(8),
  ntResponse: bytes(8),
  domain: bytes(8),
  user: bytes(8),
  workstation: bytes(8),
  sessionKey: bytes(8),
  flags: u32,
});
const micAt = 72;
/** In an NTLMv2 response: the proof and the fixed part come first. */
const attributesAt = 44;

/** The flags of a client's first message, or nothing if it is none. */
export function readNegotiate(token: Buffer): number | undefined {
  try {
    const message = negotiateMessage.read(token);
    return message.signature.equals(signature) ? message.flags : undefined;
  } catch {
    return undefined;
  }
}

export interface Challenge {
  readonly serverName: string;
  readonly challenge: Buffer;
  /** 100 ns since 1601. */
  readonly time: bigint;
  readonly clientFlags: number;
}

export function makeChallenge({ serverName, challenge, time, clientFlags }: Challenge): Buffer {
  const name = utf16(serverName.toUpperCase());
  const info = targetInfo(serverName, time);
  const flags = ((clientFlags & echoed) | ntlmFlags.targetInfo | ntlmFlags.targetTypeServer) >>> 0;
  const at = challengeMessage.size;
  const head = challengeMessage.make({
    signature,
    targetName: spanStruct.make({ length: name.length, room: name.length, offset: at }),
    flags,
    challenge,
    targetInfo: spanStruct.make({ length: info.length, room: info.length, offset: at + name.length }),
    version: Buffer.from([10, 0, 0, 0, 0, 0, 0, 15]),
  });
  return Buffer.concat([head, name, info]);
}

// biome-ignore format: a table
const avIds = { end: 0, computerName: 1, domainName: 2, dnsComputerName: 3, dnsDomainName: 4, flags: 6, timestamp: 7 } as const;

function targetInfo(serverName: string, time: bigint): Buffer {
  const timestamp = Buffer.alloc(8);
  timestamp.writeBigUInt64LE(time);
  const upper = utf16(serverName.toUpperCase());
  const lower = utf16(serverName.toLowerCase());
  const pair = (id: number, value: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(id, 0);
    head.writeUInt16LE(value.length, 2);
    return Buffer.concat([head, value]);
  };
  return Buffer.concat([
    pair(avIds.domainName, upper),
    pair(avIds.computerName, upper),
    pair(avIds.dnsDomainName, lower),
    pair(avIds.dnsComputerName, lower),
    pair(avIds.timestamp, timestamp),
    pair(avIds.end, Buffer.alloc(0)),
  ]);
}

export interface Authenticate {
  readonly token: Buffer;
  readonly ntResponse: Buffer;
  readonly domain: string;
  readonly user: string;
  readonly workstation: string;
  readonly sessionKey: Buffer;
  readonly flags: number;
}

/** The client's second message, or nothing if it is malformed. */
export function readAuthenticate(token: Buffer): Authenticate | undefined {
  try {
    const message = authenticateMessage.read(token);
    if (!message.signature.equals(signature)) return undefined;
    const part = (at: Buffer) => {
      const { offset, length } = spanStruct.read(at);
      if (length === 0) return Buffer.alloc(0);
      if (offset < authenticateMessage.size || offset + length > token.length) throw new RangeError();
      return token.subarray(offset, offset + length);
    };
    const encoding = message.flags & ntlmFlags.unicode ? 'utf16le' : 'latin1';
    const ntResponse = part(message.ntResponse);
    if (clientAvFlags(ntResponse.subarray(attributesAt)) === undefined) return undefined;
    return {
      token,
      ntResponse,
      domain: part(message.domain).toString(encoding),
      user: part(message.user).toString(encoding),
      workstation: part(message.workstation).toString(encoding),
      sessionKey: part(message.sessionKey),
      flags: message.flags,
    };
  } catch {
    return undefined;
  }
}

export function ntHash(password: string): Buffer {
  return md4(utf16(password));
}

function hmacMd5(key: Buffer, ...pieces: readonly Buffer[]): Buffer {
  const hmac = createHmac('md5', key);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}

export interface Exchange {
  readonly negotiate: Buffer;
  readonly challengeToken: Buffer;
  readonly challenge: Buffer;
}

/** The exported session key if the client knows the password with this hash, else nothing. */
export function checkProof(exchange: Exchange, client: Authenticate, hash: Buffer): Buffer | undefined {
  // Shorter than a proof and the fixed part of what follows it: NTLMv1.
  if (client.ntResponse.length < attributesAt) return undefined;
  const v2Hash = hmacMd5(hash, utf16(client.user.toUpperCase()), utf16(client.domain));
  const claimed = client.ntResponse.subarray(0, 16);
  const proof = hmacMd5(v2Hash, exchange.challenge, client.ntResponse.subarray(16));
  if (!timingSafeEqual(claimed, proof)) return undefined;

  const baseKey = hmacMd5(v2Hash, proof);
  const exported = exportedKey(baseKey, client);
  return exported && micHolds(exchange, client, exported) ? exported : undefined;
}

function exportedKey(baseKey: Buffer, client: Authenticate): Buffer | undefined {
  if (!(client.flags & ntlmFlags.keyExchange)) return baseKey;
  return client.sessionKey.length === 16 ? rc4(baseKey, client.sessionKey) : undefined;
}

/** The check over all three messages, where the client says that it made one. */
function micHolds(exchange: Exchange, client: Authenticate, exported: Buffer): boolean {
  if (!((clientAvFlags(client.ntResponse.subarray(attributesAt)) ?? 0) & 2)) return true;
  if (client.token.length < micAt + 16) return false;
  const zeroed = Buffer.from(client.token);
  zeroed.fill(0, micAt, micAt + 16);
  const mic = hmacMd5(exported, exchange.negotiate, exchange.challengeToken, zeroed);
  return timingSafeEqual(client.token.subarray(micAt, micAt + 16), mic);
}

/** The flags among a client's attributes; nothing if one of these leaves the response. */
function clientAvFlags(pairs: Buffer): number | undefined {
  let flags = 0;
  for (let at = 0; at + 4 <= pairs.length; ) {
    const id = pairs.readUInt16LE(at);
    const length = pairs.readUInt16LE(at + 2);
    if (id === avIds.end) return flags;
    if (at + 4 + length > pairs.length) return undefined;
    if (id === avIds.flags && length >= 4) flags = pairs.readUInt32LE(at + 4);
    at += 4 + length;
  }
  return flags;
}

/** The signature of NTLM over a message, the first in its direction: only for SPNEGO's mechanism list. */
export function ntlmSign(
  exported: Buffer,
  direction: 'client-to-server' | 'server-to-client',
  keyExchange: boolean,
  message: Buffer,
): Buffer {
  const derive = (use: string) =>
    createHash('md5')
      .update(exported)
      .update(`session key to ${direction} ${use} key magic constant\0`)
      .digest();
  const sequenceNumber = Buffer.alloc(4);
  const checksum = hmacMd5(derive('signing'), sequenceNumber, message).subarray(0, 8);
  const sealed = keyExchange ? rc4(derive('sealing'), checksum) : checksum;
  return Buffer.concat([Buffer.from([1, 0, 0, 0]), sealed, sequenceNumber]);
}
