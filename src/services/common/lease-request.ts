// A lease action out of what a client sent: checked here once, so that the machine in lease.ts never meets
// a bad number or id. Each refusal names the header it is about.
//
//             duration            id         proposed id   break period
//   acquire   -1 or 15 to 60      -          optional      -
//   renew     -                   required   -             -            (not for files)
//   change    -                   required   required      -
//   release   -                   required   -             -
//   break     -                   -          -             optional, 0 to 60
//
// A file takes no duration but -1. What an action has no use for is not looked at.

import { invalidHeader, type LeasedResource, missingHeader } from './errors.js';
import type { LeaseAction } from './lease.js';

/** The headers as they came. */
export type LeaseRequest = Readonly<{
  action: string | undefined;
  leaseId: string | undefined;
  proposedLeaseId: string | undefined;
  duration: string | undefined;
  breakPeriod: string | undefined;
}>;

export function parseLeaseAction(
  request: LeaseRequest,
  newId: () => string,
  resource: LeasedResource = 'blob',
): LeaseAction {
  const action = request.action?.toLowerCase();
  switch (action) {
    case undefined:
      throw missingHeader('x-ms-lease-action');
    case 'acquire':
      return {
        action,
        id: parseLeaseId('x-ms-proposed-lease-id', request.proposedLeaseId) ?? newId(),
        seconds: parseDuration(request.duration, resource),
      };
    case 'change':
      return {
        action,
        id: requiredId('x-ms-lease-id', request.leaseId),
        proposedId: requiredId('x-ms-proposed-lease-id', request.proposedLeaseId),
      };
    case 'release':
      return { action, id: requiredId('x-ms-lease-id', request.leaseId) };
    case 'break':
      return { action, seconds: resource === 'file' ? 0 : parseBreakPeriod(request.breakPeriod) };
    case 'renew':
      if (resource === 'file') throw invalidHeader('x-ms-lease-action', action);
      return { action, id: requiredId('x-ms-lease-id', request.leaseId) };
    default:
      throw invalidHeader('x-ms-lease-action', request.action);
  }
}

function requiredId(header: string, text: string | undefined): string {
  const id = parseLeaseId(header, text);
  if (id === undefined) throw missingHeader(header);
  return id;
}

const guidForms = [
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, // D
  /^[0-9a-f]{32}$/, // N
  /^\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/, // B
  /^\([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\)$/, // P
];

/** A lease id is a GUID in any of .NET's spellings: `header` names where it came from. Ids are compared as this gives them back. */
export function parseLeaseId(header: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const lower = text.trim().toLowerCase();
  if (!guidForms.some((form) => form.test(lower))) throw invalidHeader(header, text);
  const digits = lower.replace(/[^0-9a-f]/g, '');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function parseDuration(text: string | undefined, resource: LeasedResource): number {
  if (text === undefined || text === '') throw missingHeader('x-ms-lease-duration');
  const seconds = wholeNumber(text);
  if (seconds === -1) return Number.POSITIVE_INFINITY;
  if (resource !== 'file' && seconds !== undefined && seconds >= 15 && seconds <= 60) return seconds;
  throw invalidHeader('x-ms-lease-duration', text);
}

function parseBreakPeriod(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = wholeNumber(text);
  if (seconds === undefined || seconds < 0 || seconds > 60) {
    throw invalidHeader('x-ms-lease-break-period', text);
  }
  return seconds;
}

function wholeNumber(text: string): number | undefined {
  return /^-?\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}
