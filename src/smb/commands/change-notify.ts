// CHANGE_NOTIFY: answered when something changes in a directory.

import { access } from '../../services/file/access.js';
import { type Call, fileOf, needAccess, type Reply } from '../call.js';
import { Refused } from '../status.js';
import { anyChange, Watch } from '../watches.js';
import { bufferResponse, changeNotifyRequest } from '../wire/files.js';
import { checkCharge, maxSize } from './sizes.js';

const watchTree = 1;
const mostKept = 64 * 1024;

export async function changeNotify(call: Call): Promise<Reply> {
  const request = changeNotifyRequest.read(call.message);
  const { outputLength, filter } = request;
  if (outputLength > maxSize(call)) throw new Refused('INVALID_PARAMETER');
  checkCharge(call, outputLength);
  const open = fileOf(call, request.fileId);
  // The first request says what is watched; later ones may leave it out.
  if (!open.directory || (!open.watch && !(filter & anyChange))) throw new Refused('INVALID_PARAMETER');
  needAccess(open, access.readData);
  if (!call.last) throw new Refused('INTERNAL_ERROR');

  if (!open.watch) {
    open.watch = new Watch(
      open.file,
      filter,
      (request.flags & watchTree) !== 0,
      Math.min(outputLength, mostKept),
    );
    call.connection.server.watches.add(open.volume.id, open.watch);
  }
  if (call.connection.server.opens.isDeletePending(open.volume.id, open.file))
    throw new Refused('DELETE_PENDING');
  const next = open.watch.next();
  const bytes = 'ready' in next ? next.ready : await call.wait(next);
  if (bytes.length === 0 || bytes.length > outputLength) {
    return { status: 'NOTIFY_ENUM_DIR', body: bufferResponse.make({ buffer: Buffer.alloc(0) }) };
  }
  return { body: bufferResponse.make({ buffer: bytes }) };
}
