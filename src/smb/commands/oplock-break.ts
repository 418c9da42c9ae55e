// Breaks of oplocks and leases: told to the client on the server's own account, acknowledged by it.

import type { BreakNotice } from '../../services/file/caches.js';
import { oplockStates } from '../../services/file/caching-rules.js';
import { FileRefused } from '../../services/file/refusals.js';
import { type Call, fileOf, type Reply } from '../call.js';
import type { Connection } from '../connection.js';
import { fileIdBytes } from '../open.js';
import type { Session } from '../session.js';
import { Refused } from '../status.js';
import { leaseBreakAck, leaseBreakNotice, oplockBreak as oplockBreakBody } from '../wire/files.js';
import { allOnes64, commands, type Header, smb2Id } from '../wire/header.js';
import { headerSize } from '../wire/struct.js';
import { leaseKeyOf, leaseName, levelOf, oplockLevel } from './caching.js';

const ackRequired = 1;

/** Never signed; encrypted where the session is. */
export function sendBreak(connection: Connection, session: Session, notice: BreakNotice): void {
  const body =
    notice.kind === 'oplock'
      ? oplockBreakBody.make({ level: levelOf(notice.to), fileId: fileIdBytes(notice.open) })
      : leaseBreakNotice.make({
          epoch: notice.epoch ?? 0,
          flags: notice.needsAck ? ackRequired : 0,
          leaseKey: leaseKeyOf(notice.key),
          currentState: notice.from,
          newState: notice.to,
        });
  const request: Header = {
    ...{ protocolId: smb2Id, creditCharge: 0, channelSequence: 0, credits: 0, flags: 0, nextCommand: 0 },
    ...{ command: commands.indexOf('oplockBreak'), messageId: allOnes64 },
    ...{ processId: 0, treeId: 0, sessionId: 0n, signature: Buffer.alloc(16) },
  };
  const sealedBy = session.secured?.encryptionRequired ? session : undefined;
  const plain = { request, status: 'SUCCESS', reply: { body }, credits: 0 } as const;
  const target = notice.kind === 'lease' && !sealedBy ? oldest(connection) : connection;
  target.send([{ ...plain, asyncId: undefined, signedBy: undefined }], sealedBy);
}

/** A lease is the client's, not the connection's. */
function oldest(connection: Connection): Connection {
  const guid = connection.negotiated?.clientGuid;
  return (guid && connection.server.connectionOf(guid)) ?? connection;
}

const oplockSize = 24;

export async function oplockBreak(call: Call): Promise<Reply> {
  const oplock =
    call.message.length >= headerSize + 2 && call.message.readUInt16LE(headerSize) === oplockSize;
  return oplock ? acknowledgeOplock(call) : acknowledgeLease(call);
}

async function acknowledgeOplock(call: Call): Promise<Reply> {
  const { level, fileId } = oplockBreakBody.read(call.message);
  const open = fileOf(call, fileId);
  const state =
    level === oplockLevel.none ? 0 : level === oplockLevel.levelII ? oplockStates.levelII : undefined;
  if (state === undefined) throw new Refused('INVALID_PARAMETER');
  const result = await call.connection.server.opens.acknowledge({ open: open.id }, state);
  if (!result.ok) {
    throw new Refused(
      result.code === 'LeaseStateTooStrong' ? 'INVALID_PARAMETER' : 'INVALID_OPLOCK_PROTOCOL',
    );
  }
  return { body: oplockBreakBody.make({ level: levelOf(result.state), fileId: fileIdBytes(open.id) }) };
}

async function acknowledgeLease(call: Call): Promise<Reply> {
  const { leaseKey, state } = leaseBreakAck.read(call.message);
  const key = leaseName(call, leaseKey);
  const result = await call.connection.server.opens.acknowledge({ key }, state);
  if (!result.ok) throw new FileRefused(result.code);
  return { body: leaseBreakAck.make({ flags: 0, leaseKey, state: result.state }) };
}
