// What the requests of the file service have in common, decoded: which share, which path, which snapshot.

import { formatIsoTime, parseIsoTime } from '../../base/times.js';
import { invalidParameter, StorageError } from '../../services/common/errors.js';
import { parseLeaseId } from '../../services/common/lease-request.js';
import { checkName } from '../../services/common/names.js';
import type { ShareKey } from '../../services/file/model.js';
import type { Target } from '../../services/file/targets.js';
import type { Call } from '../call.js';
import { flagHeader } from '../headers.js';
import { parameter } from '../parameters.js';

export function shareKey(call: Call): ShareKey {
  checkName('share', call.container);
  return [call.account, call.container];
}

/** `2024-04-07T02:41:07.0000000Z`: the second a snapshot is called after. */
export function snapshotText(second: number): string {
  return formatIsoTime({ ms: second * 1000, ticks: 0 });
}

/** Nothing where none is named; 400 for what is no name of a snapshot. */
export function snapshotOf(call: Call, name = 'sharesnapshot'): number | undefined {
  const text = parameter(call, name);
  if (text === undefined) return undefined;
  const time = parseIsoTime(text);
  if (time === undefined || time.ticks !== 0 || time.ms % 1000 !== 0) throw invalidParameter(name, text);
  return time.ms / 1000;
}

/** For who changes something: a snapshot cannot be changed. */
export function refuseSnapshot(call: Call): void {
  const text = parameter(call, 'sharesnapshot');
  if (text !== undefined) throw invalidParameter('sharesnapshot', text);
}

/** The names of a path. Dots at the end of a name count only if the request says so. */
export function namesOf(path: string, keepsDots: boolean): string[] {
  if (path === '') return [];
  const names = path.split('/').map((name) => (keepsDots ? name : withoutDots(name)));
  // Of a name that is all dots nothing is left.
  if (names.includes('')) throw new StorageError('InvalidResourceName');
  checkName('path', names.join('/'));
  return names;
}

function withoutDots(name: string): string {
  // Not by an expression: one that looks for a run at the end begins again at each of many runs before it.
  let { length } = name;
  while (name[length - 1] === '.') length--;
  return name.slice(0, length);
}

function targetOf(call: Call, snapshot: number | undefined): Target {
  return {
    share: shareKey(call),
    path: namesOf(call.name, flagHeader(call, 'x-ms-allow-trailing-dot')),
    snapshot,
    timeoutMs: call.timeoutMs,
  };
}

/** A directory, or whatever has this name. */
export function readTarget(call: Call): Target {
  return targetOf(call, snapshotOf(call));
}

export function writeTarget(call: Call): Target {
  refuseSnapshot(call);
  return targetOf(call, undefined);
}

/** A file's address has no slash at its end. */
export function readFileTarget(call: Call): Target {
  checkFileAddress(call);
  return readTarget(call);
}

export function writeFileTarget(call: Call): Target {
  checkFileAddress(call);
  return writeTarget(call);
}

function checkFileAddress(call: Call): void {
  if (call.rawPath.endsWith('/') || call.name === '') throw new StorageError('InvalidUri');
}

export function leaseIdOf(call: Call, header = 'x-ms-lease-id'): string | undefined {
  return parseLeaseId(header, call.header(header));
}

/** Headers that only NFS has a meaning for. */
const nfsHeaders = [
  'x-ms-mode',
  'x-ms-owner',
  'x-ms-group',
  'x-ms-file-file-type',
  'x-ms-link-count',
  'x-ms-file-mode-copy-mode',
  'x-ms-file-owner-copy-mode',
];

export function refuseNfs(call: Call): void {
  const sent = nfsHeaders.find((name) => call.headers[name] !== undefined);
  if (sent !== undefined) throw new StorageError('UnsupportedHeader', { details: { HeaderName: sent } });
}
