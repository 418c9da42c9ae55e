// List Handles and Force Close Handles on the wire.

import { formatHttpDate } from '../../base/times.js';
import { invalidHeader, invalidParameter } from '../../services/common/errors.js';
import { access } from '../../services/file/access.js';
import { closeHandles, listHandles as list, type ShownHandle } from '../../services/file/handles.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { flagHeader, requireHeader } from '../headers.js';
import { pageSize, parameter } from '../parameters.js';
import { element, nameElement, optional, parent, xmlAnswer } from '../xml.js';
import { readTarget } from './requests.js';

export async function listHandles(call: Call, service: FileService): Promise<Answer> {
  const { handles, next } = await list(service, readTarget(call), {
    recursive: flagHeader(call, 'x-ms-recursive'),
    from: markerOf(call),
    max: pageSize(call),
  });
  const rows = handles.map((handle) => writeHandle(call, handle));
  const body =
    parent('Entries', rows.join('')) + element('NextMarker', next === undefined ? '' : String(next));
  return xmlAnswer(200, parent('EnumerationResults', body));
}

function markerOf(call: Call): bigint | undefined {
  const text = parameter(call, 'marker');
  if (text === undefined) return undefined;
  if (!/^\d{1,20}$/.test(text)) throw invalidParameter('marker', text);
  return BigInt(text);
}

function writeHandle(call: Call, { handle, path, parent: parentId }: ShownHandle): string {
  const { id, file, owner } = handle;
  const rights = call.version >= '2023-01-03' ? parent('AccessRightList', writeRights(handle.access)) : '';
  return parent(
    'Handle',
    element('HandleId', String(id)) +
      nameElement('Path', path) +
      element('FileId', String(file)) +
      element('ParentId', String(parentId)) +
      element('SessionId', String(owner.sessionId)) +
      element('ClientIp', owner.client) +
      (call.version >= '2023-01-03' ? element('ClientName', owner.clientName) : '') +
      element('OpenTime', formatHttpDate(owner.openedAt)) +
      optional('LastReconnectTime', dateText(owner.reconnectedAt)) +
      rights,
  );
}

function dateText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatHttpDate(ms);
}

// biome-ignore format: a table
const rightNames = [
  ['Read',   access.readData | access.execute],
  ['Write',  access.writeData | access.appendData],
  ['Delete', access.delete],
] as const;

function writeRights(mask: number): string {
  return rightNames
    .filter(([, bits]) => mask & bits)
    .map(([name]) => element('AccessRight', name))
    .join('');
}

export async function forceCloseHandles(call: Call, service: FileService): Promise<Answer> {
  const text = requireHeader(call, 'x-ms-handle-id');
  if (text !== '*' && !/^\d{1,20}$/.test(text)) throw invalidHeader('x-ms-handle-id', text);
  const only = text === '*' ? undefined : BigInt(text);
  markerOf(call);
  const recursive = flagHeader(call, 'x-ms-recursive');
  const closed = await closeHandles(service, readTarget(call), recursive, only);
  const headers = ['x-ms-number-of-handles-closed', String(closed), 'x-ms-number-of-handles-failed', '0'];
  return { status: 200, headers };
}
