// NEGOTIATE: dialect, signing and encryption. Once for each connection.

import { ticksOf } from '../../services/file/file-system.js';
import { offerToken } from '../auth/spnego.js';
import type { Call, Reply } from '../call.js';
import type { Connection, Negotiated } from '../connection.js';
import { type CipherName, type Dialect, emptyHash, extendHash } from '../crypto/keys.js';
import type { SigningName } from '../crypto/signing.js';
import { Hangup, Refused } from '../status.js';
import { header } from '../wire/header.js';
import {
  contextTypes,
  makeContexts,
  type NegotiateContext,
  negotiateRequest,
  negotiateResponse,
  readContexts,
  readNumbers,
} from '../wire/session.js';
import { align8, headerSize } from '../wire/struct.js';

// biome-ignore format: a table
const capability = { leasing: 0x2, largeMtu: 0x4, encryption: 0x40 } as const;
const signingEnabled = 1;
export const signingRequiredBit = 2;
const smallTransfer = 65_536;

const cipherIds: Record<CipherName, number> = {
  'AES-128-CCM': 1,
  'AES-128-GCM': 2,
  'AES-256-CCM': 3,
  'AES-256-GCM': 4,
};
/** In the order of preference. */
const signingIds: readonly [SigningName, number][] = [
  ['AES-GMAC', 2],
  ['AES-CMAC', 1],
  ['HMAC-SHA256', 0],
];
const sha512 = 1;
const saltSize = 32;

export function negotiate(call: Call): Reply {
  const { connection, message } = call;
  if (connection.negotiated) throw new Hangup('negotiated twice');
  const request = negotiateRequest.read(message);
  const dialect = chooseDialect(connection, readDialects(message, request.dialectCount));
  const chosen =
    dialect === 0x0311 ? choose311(connection, message, request) : chooseOlder(dialect, connection, request);

  const agreed: Negotiated = {
    dialect,
    clientGuid: Buffer.from(request.clientGuid),
    clientCapabilities: request.capabilities,
    clientSecurityMode: request.securityMode,
    capabilities: capabilitiesOf(dialect, chosen.cipher),
    securityMode: securityModeOf(connection),
    signing: chosen.signing,
    cipher: chosen.cipher,
    maxSize: dialect === 0x0202 ? smallTransfer : connection.server.settings.maxTransferBytes,
  };
  connection.agree(agreed);
  connection.preauthHash = extendHash(emptyHash, message);
  return {
    body: makeBody(connection, agreed, chosen.contexts),
    sent: (pieces) => {
      connection.preauthHash = extendHash(connection.preauthHash ?? emptyHash, ...pieces);
    },
  };
}

function readDialects(message: Buffer, count: number): number[] {
  if (count === 0) throw new Refused('INVALID_PARAMETER');
  const at = headerSize + negotiateRequest.size;
  if (at + count * 2 > message.length) throw new Refused('INVALID_PARAMETER');
  return Array.from({ length: count }, (_, index) => message.readUInt16LE(at + index * 2));
}

/** The highest that both sides know. */
export function chooseDialect(connection: Connection, offered: readonly number[]): Dialect {
  const common = connection.server.settings.dialects.filter((dialect) => offered.includes(dialect));
  const [highest] = common.sort((a, b) => b - a);
  if (!highest) throw new Refused('NOT_SUPPORTED');
  return highest;
}

interface Choice {
  readonly signing: SigningName;
  readonly cipher: CipherName | undefined;
  readonly contexts: readonly NegotiateContext[];
}

function chooseOlder(dialect: Dialect, connection: Connection, request: { capabilities: number }): Choice {
  const encrypts =
    dialect >= 0x0300 &&
    (request.capabilities & capability.encryption) !== 0 &&
    connection.server.settings.ciphers.includes('AES-128-CCM');
  return {
    signing: dialect >= 0x0300 ? 'AES-CMAC' : 'HMAC-SHA256',
    cipher: encrypts ? 'AES-128-CCM' : undefined,
    contexts: [],
  };
}

function choose311(
  connection: Connection,
  message: Buffer,
  request: { contextOffset: number; contextCount: number },
): Choice {
  const offered = readContexts(message, request.contextOffset, request.contextCount);
  if (!offered) throw new Refused('INVALID_PARAMETER');
  const only = (type: number) => {
    const found = offered.filter((context) => context.type === type);
    if (found.length > 1) throw new Refused('INVALID_PARAMETER');
    return found[0]?.data;
  };
  const contexts: NegotiateContext[] = [choosePreauth(connection, only(contextTypes.preauth))];

  const ciphersOffered = only(contextTypes.encryption);
  const cipher = ciphersOffered && chooseCipher(connection, ciphersOffered);
  if (ciphersOffered)
    contexts.push({ type: contextTypes.encryption, data: numbers(cipher ? cipherIds[cipher] : 0) });

  const signingOffered = only(contextTypes.signing);
  const signing = signingOffered && chooseSigning(signingOffered);
  if (signing) contexts.push({ type: contextTypes.signing, data: numbers(signing[1]) });
  return { signing: signing?.[0] ?? 'AES-CMAC', cipher, contexts };
}

function choosePreauth(connection: Connection, data: Buffer | undefined): NegotiateContext {
  const hashes = data && readNumbers(data, 4);
  if (!hashes) throw new Refused('INVALID_PARAMETER');
  if (!hashes.includes(sha512)) throw new Refused('SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP');
  const head = Buffer.alloc(6);
  head.writeUInt16LE(1, 0);
  head.writeUInt16LE(saltSize, 2);
  head.writeUInt16LE(sha512, 4);
  return { type: contextTypes.preauth, data: Buffer.concat([head, connection.server.random(saltSize)]) };
}

function chooseCipher(connection: Connection, data: Buffer): CipherName | undefined {
  const offered = readNumbers(data, 2);
  if (!offered) throw new Refused('INVALID_PARAMETER');
  return connection.server.settings.ciphers.find((name) => offered.includes(cipherIds[name]));
}

function chooseSigning(data: Buffer): readonly [SigningName, number] | undefined {
  const offered = readNumbers(data, 2);
  if (!offered) throw new Refused('INVALID_PARAMETER');
  return signingIds.find(([, id]) => offered.includes(id));
}

function numbers(value: number): Buffer {
  return Buffer.from([1, 0, value & 0xff, value >> 8]);
}

function capabilitiesOf(dialect: number, cipher: CipherName | undefined): number {
  if (dialect === 0x0202) return 0;
  const encrypts = cipher && dialect !== 0x0311 ? capability.encryption : 0;
  return capability.leasing | capability.largeMtu | encrypts;
}

function securityModeOf(connection: Connection): number {
  return signingEnabled | (connection.server.settings.signingRequired ? signingRequiredBit : 0);
}

function makeBody(
  connection: Connection,
  agreed: Pick<Negotiated, 'capabilities' | 'securityMode' | 'maxSize'> & { dialect: number },
  contexts: readonly NegotiateContext[],
): Buffer {
  const security = offerToken();
  const contextAt = align8(negotiateResponse.size + security.length);
  const body = negotiateResponse.make({
    securityMode: agreed.securityMode,
    dialect: agreed.dialect,
    contextCount: contexts.length,
    serverGuid: connection.server.guid,
    capabilities: agreed.capabilities,
    maxTransactSize: agreed.maxSize,
    maxReadSize: agreed.maxSize,
    maxWriteSize: agreed.maxSize,
    systemTime: ticksOf(connection.server.now()),
    security,
    contextOffset: contexts.length > 0 ? headerSize + contextAt : 0,
  });
  if (contexts.length === 0) return body;
  return Buffer.concat([body, Buffer.alloc(contextAt - body.length), makeContexts(contexts)]);
}

const smb1Negotiate = 0x72;
const anySmb2 = 'SMB 2.???';
const firstSmb2 = 'SMB 2.002';
const anyDialect = 0x02ff;

/** The old negotiation, by which some clients ask whether SMB 2 is spoken at all. */
export function answerSmb1(connection: Connection, message: Buffer): void {
  const names = smb1Dialects(message);
  const { settings } = connection.server;
  const agreed = { securityMode: securityModeOf(connection) };
  if (names.includes(anySmb2)) {
    const sizes = { capabilities: capabilitiesOf(anyDialect, undefined), maxSize: settings.maxTransferBytes };
    sendSmb1Answer(connection, { ...agreed, ...sizes, dialect: anyDialect });
    return;
  }
  if (!names.includes(firstSmb2) || !settings.dialects.includes(0x0202)) throw new Hangup('SMB1 only');
  connection.agree({
    ...agreed,
    ...{
      dialect: 0x0202,
      capabilities: 0,
      maxSize: smallTransfer,
      signing: 'HMAC-SHA256',
      cipher: undefined,
    },
    ...{ clientGuid: Buffer.alloc(16), clientCapabilities: 0, clientSecurityMode: signingEnabled },
  });
  sendSmb1Answer(connection, { ...agreed, capabilities: 0, maxSize: smallTransfer, dialect: 0x0202 });
}

function sendSmb1Answer(connection: Connection, agreed: Parameters<typeof makeBody>[1]): void {
  connection.window.take(0, 1);
  const request = header.read(smb2Blank());
  const reply = { body: makeBody(connection, agreed, []) };
  const credits = connection.window.grant(1, 1);
  connection.send(
    [{ request, status: 'SUCCESS', reply, credits, asyncId: undefined, signedBy: undefined }],
    undefined,
  );
}

/** A header of zeros: the answer has message id 0. */
function smb2Blank(): Buffer {
  const blank = Buffer.alloc(headerSize);
  blank.writeUInt16LE(headerSize, 4);
  return blank;
}

function smb1Dialects(message: Buffer): string[] {
  const bytesAt = 35;
  if (message.length < bytesAt || message[4] !== smb1Negotiate || message[32] !== 0) return [];
  const list = message.subarray(bytesAt, bytesAt + message.readUInt16LE(33)).toString('latin1');
  return list.split('\0').map((name) => name.slice(1));
}
