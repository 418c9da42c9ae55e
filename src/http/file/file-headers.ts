// What answers tell of files and directories.

import { formatHttpDate, formatIsoTime } from '../../base/times.js';
import { type Lease, leaseProperties } from '../../services/common/lease.js';
import { msOf, type Ticks, ticksPerMs } from '../../services/file/file-system.js';
import type { CopyState, Entry, FileEntry, HttpProperties } from '../../services/file/model.js';
import type { Identity } from '../auth/types.js';
import type { Version } from '../call.js';
import { addMetadata, stampHeaders } from '../headers.js';
import { attributesText } from './smb-headers.js';

export const encryptedRequest = ['x-ms-request-server-encrypted', 'true'] as const;

/** `2021-07-05T01:36:57.0788027Z`. */
export function timeText(ticks: Ticks): string {
  if (ticks === lastTicks) return lastText;
  lastTicks = ticks;
  lastText = formatIsoTime({ ms: msOf(ticks), ticks: Number(ticks % ticksPerMs) });
  return lastText;
}

/** The times of a file are often the same. */
let lastTicks: Ticks = -1n;
let lastText = '';

export function smbHeaders(entry: Entry, version: Version): string[] {
  if (version < '2019-02-02') return [];
  return [
    ...['x-ms-file-attributes', attributesText(entry.attributes)],
    ...['x-ms-file-creation-time', timeText(entry.created)],
    ...['x-ms-file-last-write-time', timeText(entry.written)],
    ...['x-ms-file-change-time', timeText(entry.changed)],
    ...['x-ms-file-permission-key', entry.permission],
    ...['x-ms-file-id', String(entry.id)],
    ...['x-ms-file-parent-id', String(entry.parent)],
  ];
}

/** The answer to a write: what was written is told to be encrypted, as Azure says of everything. */
export function writtenHeaders(entry: Entry, version: Version): string[] {
  return [...stampHeaders(entry.stamp), ...encryptedRequest, ...smbHeaders(entry, version)];
}

// biome-ignore format: a table
const httpHeaders: readonly (readonly [header: string, property: keyof HttpProperties])[] = [
  ['Content-Type',        'contentType'],
  ['Content-Encoding',    'contentEncoding'],
  ['Content-Language',    'contentLanguage'],
  ['Content-Disposition', 'contentDisposition'],
  ['Cache-Control',       'cacheControl'],
];

/** A SAS may say what some of them are. */
function contentHeaders(http: HttpProperties, identity: Identity): string[] {
  const overrides = identity.kind === 'sas' ? identity.overrides : [];
  const replaced = new Map<string, string>();
  for (let at = 0; at < overrides.length; at += 2) {
    replaced.set((overrides[at] ?? '').toLowerCase(), overrides[at + 1] ?? '');
  }
  return httpHeaders.flatMap(([header, property]) => {
    const usual = property === 'contentType' ? 'application/octet-stream' : undefined;
    const value = replaced.get(header.toLowerCase()) ?? http[property] ?? usual;
    return value === undefined ? [] : [header, value];
  });
}

export function leaseHeaders(lease: Lease, now: number): string[] {
  const { state, status, duration } = leaseProperties(lease, now);
  const headers = ['x-ms-lease-status', status, 'x-ms-lease-state', state];
  return duration === undefined ? headers : [...headers, 'x-ms-lease-duration', duration];
}

function copyHeaders(copy: CopyState | undefined): string[] {
  if (copy === undefined) return [];
  const { id, status, source, copied, total, completed, description } = copy;
  return [
    ...['x-ms-copy-id', id, 'x-ms-copy-status', status, 'x-ms-copy-source', source],
    ...['x-ms-copy-progress', `${copied}/${total}`],
    ...(completed === undefined ? [] : ['x-ms-copy-completion-time', formatHttpDate(completed)]),
    ...(description === undefined ? [] : ['x-ms-copy-status-description', description]),
  ];
}

/** All that is told of a file beside its length and its MD5. */
export function fileHeaders(entry: FileEntry, now: number, version: Version, identity: Identity): string[] {
  const { http, lease, copy } = entry.file;
  const headers = [
    ...stampHeaders(entry.stamp),
    ...contentHeaders(http, identity),
    ...['x-ms-type', 'File', 'x-ms-server-encrypted', 'true'],
    ...smbHeaders(entry, version),
    ...(version >= '2019-07-07' ? leaseHeaders(lease, now) : []),
    ...copyHeaders(copy),
  ];
  addMetadata(headers, entry.metadata);
  return headers;
}
