// CLOSE and FLUSH.

import { access } from '../../services/file/access.js';
import type { FileNode } from '../../services/file/file-system.js';
import { type Call, needAccess, openOf, type Reply, sessionOf } from '../call.js';
import { allOnesFileId } from '../open.js';
import { Refused } from '../status.js';
import { closeOpen } from '../teardown.js';
import { closeRequest, closeResponse, flushRequest } from '../wire/files.js';
import { emptyBody } from '../wire/header.js';
import { createFields } from './create-reply.js';

const postQuery = 1;
const nothing = {
  created: 0n,
  accessed: 0n,
  written: 0n,
  changed: 0n,
  allocated: 0,
  length: 0,
  attributes: 0,
};

export async function close(call: Call): Promise<Reply> {
  const request = closeRequest.read(call.message);
  const open = openOf(call, request.fileId);
  const asked = (request.flags & postQuery) !== 0 && open.kind === 'file';
  let node: FileNode | undefined;
  try {
    if (asked) node = await open.volume.node(open.file);
    // A client that has closed a file believes that it is safe. If it is not, the handle is gone all the same.
    if (open.kind === 'file') await open.volume.flush(open.file, open.handle);
  } finally {
    await closeOpen(call.connection.server, sessionOf(call), open);
  }
  return {
    body: closeResponse.make({ flags: node ? postQuery : 0, ...(node ? createFields(node) : nothing) }),
  };
}

export async function flush(call: Call): Promise<Reply> {
  const { fileId } = flushRequest.read(call.message);
  if (fileId.equals(allOnesFileId) && !call.chain.fileId && !call.chain.createFailure)
    throw new Refused('FILE_CLOSED');
  const open = openOf(call, fileId);
  if (open.kind === 'file') {
    needAccess(open, access.writeData | access.appendData);
    await open.volume.flush(open.file, open.handle);
  }
  return { body: emptyBody.make({}) };
}
