// List Directories and Files on the wire.

import { formatHttpDate } from '../../base/times.js';
import { invalidParameter } from '../../services/common/errors.js';
import { etag, lastModifiedMs } from '../../services/common/etag.js';
import { type Listing, listDirectory as list } from '../../services/file/listing.js';
import type { Entry } from '../../services/file/model.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { flagHeader } from '../headers.js';
import { listParameter, pageSize, parameter } from '../parameters.js';
import { element, escapeAttribute, nameAttribute, nameElement, optional, parent, xmlAnswer } from '../xml.js';
import { timeText } from './file-headers.js';
import { readTarget, snapshotText } from './requests.js';
import { attributesText } from './smb-headers.js';

const words = ['Timestamps', 'Etag', 'Attributes', 'PermissionKey'] as const;
type Included = ReadonlySet<(typeof words)[number]>;

export async function listDirectory(call: Call, service: FileService): Promise<Answer> {
  const target = readTarget(call);
  const prefix = parameter(call, 'prefix');
  const marker = parameter(call, 'marker');
  const include = listParameter(call, 'include', words);
  const extended = include.size > 0 || flagHeader(call, 'x-ms-file-extended-info');
  const listing = await list(service, target, {
    prefix: prefix ?? '',
    marker: marker === undefined ? undefined : readMarker(marker),
    max: pageSize(call),
    exact: extended,
  });
  const ids = call.version >= '2020-10-02' || (call.version >= '2020-04-08' && extended);
  const { snapshot } = target;
  const attributes = [
    ['ServiceEndpoint', `${call.endpoint}/`],
    ['ShareName', call.container],
    ...(snapshot === undefined ? [] : [['ShareSnapshot', snapshotText(snapshot)]]),
  ].map(([name, value]) => ` ${name}="${escapeAttribute(value ?? '')}"`);
  attributes.push(nameAttribute('DirectoryPath', target.path.join('/')));
  const asked =
    (prefix === undefined ? '' : nameElement('Prefix', prefix)) +
    optional('Marker', marker) +
    optional('MaxResults', parameter(call, 'maxresults')) +
    (ids ? element('DirectoryId', String(listing.directory.id)) : '');
  const body = asked + writeEntries(call, listing, include, ids);
  return xmlAnswer(200, `<EnumerationResults${attributes.join('')}>${body}</EnumerationResults>`);
}

function writeEntries(call: Call, { entries, next }: Listing, include: Included, ids: boolean): string {
  const rows = entries.map((entry) => writeEntry(call, entry, include, ids));
  const marker = element('NextMarker', next === undefined ? '' : Buffer.from(next).toString('base64url'));
  return parent('Entries', rows.join('')) + marker;
}

/** The folded name that the next page begins with. */
function readMarker(text: string): string {
  const bytes = Buffer.from(text, 'base64url');
  const name = bytes.toString();
  if (bytes.toString('base64url') !== text || name === '' || !Buffer.from(name).equals(bytes)) {
    throw invalidParameter('marker', text);
  }
  return name;
}

function writeEntry(call: Call, entry: Entry, include: Included, ids: boolean): string {
  const { file } = entry;
  let properties = file === undefined ? '' : element('Content-Length', String(file.length));
  if (include.has('Timestamps')) properties += writeTimes(call, entry);
  if (include.has('Etag')) properties += element('Etag', etag(entry.stamp));
  let body = nameElement('Name', entry.name);
  if (ids) body += element('FileId', String(entry.id));
  body += parent('Properties', properties);
  if (include.has('Attributes')) body += element('Attributes', attributesText(entry.attributes));
  if (include.has('PermissionKey')) body += element('PermissionKey', entry.permission);
  return parent(file === undefined ? 'Directory' : 'File', body);
}

function writeTimes({ version }: Call, { created, accessed, written, changed, stamp }: Entry): string {
  const times =
    element('CreationTime', timeText(created)) +
    element('LastAccessTime', timeText(accessed)) +
    element('LastWriteTime', timeText(written));
  if (version < '2020-06-12') return times;
  return (
    times +
    element('ChangeTime', timeText(changed)) +
    element('Last-Modified', formatHttpDate(lastModifiedMs(stamp)))
  );
}
