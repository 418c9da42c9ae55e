// Calls on two files of one directory.

import { type FileCall, slotCount } from './file-model.js';
import type { Result } from './models.js';
import type { Request } from './sender.js';
import { bodyOf, leaseIdOf, type Place, pick, recorded, type Thread, valueIn } from './thread.js';

const slotBytes = 6000;
export const fileNames = ['a', 'b'];

export function actOnFiles(thread: Thread, place: Place, object: string): Promise<void> {
  const kind = thread.random();
  const name = pick(thread, fileNames);
  const lease = mayLease(thread, object, name);
  if (kind < 0.35) return file(thread, place, object, { op: 'read', name });
  if (kind < 0.42) return file(thread, place, object, { op: 'create', name, ...lease });
  if (kind < 0.7) {
    const from = Math.floor(thread.random() * slotCount);
    const to = from + 1 + Math.floor(thread.random() * (slotCount - from));
    const value = `${thread.client}-${++thread.count}-${slotBytes}`;
    return file(thread, place, object, { op: 'put', name, from, to, value, ...lease });
  }
  if (kind < 0.82) {
    const onto = fileNames.find((other) => other !== name) ?? name;
    const ontoLeaseId = mayLease(thread, object, onto).leaseId;
    const other = ontoLeaseId === undefined ? {} : { ontoLeaseId };
    const replaces = thread.random() < 0.7;
    return file(thread, place, object, { op: 'rename', name, onto, replaces, ...lease, ...other });
  }
  if (kind < 0.86) return file(thread, place, object, { op: 'delete', name, ...lease });
  if (kind < 0.96) {
    const isHolder = thread.leased.has(`${object} ${name}`) && thread.random() < 0.8;
    return file(thread, place, object, {
      op: isHolder ? 'release' : 'acquire',
      name,
      leaseId: leaseIdOf(thread),
    });
  }
  return file(thread, place, object, { op: 'break', name });
}

/** Mostly an id where it holds the lease, and mostly none where it does not. */
function mayLease(thread: Thread, object: string, name: string): { leaseId?: string } {
  const share = thread.leased.has(`${object} ${name}`) ? 0.9 : 0.05;
  return thread.random() < share ? { leaseId: leaseIdOf(thread) } : {};
}

export async function file(thread: Thread, place: Place, object: string, call: FileCall): Promise<void> {
  const result = await recorded<FileCall, Result>(
    thread,
    object,
    call,
    requestOf(place, call),
    ({ text, headers }) =>
      call.op === 'read'
        ? { ok: true, value: slotsIn(text), lease: String(headers['x-ms-lease-state']) }
        : { ok: true },
  );
  const isDone = result !== undefined && 'ok' in result;
  const held = `${object} ${call.name}`;
  if (call.op === 'acquire' && isDone) thread.leased.add(held);
  else if (call.op === 'release' || call.op === 'break') thread.leased.delete(held);
  else if (call.op === 'rename' && isDone && thread.leased.delete(held))
    thread.leased.add(`${object} ${call.onto}`);
}

function requestOf(place: Place, call: FileCall): Request {
  const path = (name: string) => `/${place.share}/${name}`;
  const headers: Record<string, string> = {};
  if ('leaseId' in call && call.leaseId !== undefined && call.op !== 'acquire')
    headers[call.op === 'rename' ? 'x-ms-source-lease-id' : 'x-ms-lease-id'] = call.leaseId;
  const request = { service: 'file', path: path(call.name), headers } as const;
  switch (call.op) {
    case 'read':
      return { ...request, method: 'GET' };
    case 'delete':
      return { ...request, method: 'DELETE' };
    case 'create':
      headers['x-ms-type'] = 'file';
      headers['x-ms-content-length'] = String(slotCount * slotBytes);
      return { ...request, method: 'PUT' };
    case 'put':
      headers['x-ms-write'] = 'update';
      headers['x-ms-range'] = `bytes=${call.from * slotBytes}-${call.to * slotBytes - 1}`;
      return {
        ...request,
        method: 'PUT',
        path: `${request.path}?comp=range`,
        body: bodyOf(call.value).repeat(call.to - call.from),
      };
    case 'rename':
      headers['x-ms-file-rename-source'] = `/devstoreaccount1${path(call.name)}`;
      headers['x-ms-file-rename-replace-if-exists'] = String(call.replaces);
      if (call.ontoLeaseId !== undefined) headers['x-ms-destination-lease-id'] = call.ontoLeaseId;
      return { ...request, method: 'PUT', path: `${path(call.onto)}?comp=rename` };
    default:
      headers['x-ms-lease-action'] = call.op;
      if (call.op === 'acquire') {
        headers['x-ms-lease-duration'] = '-1';
        headers['x-ms-proposed-lease-id'] = call.leaseId;
      }
      return { ...request, method: 'PUT', path: `${request.path}?comp=lease` };
  }
}

/** The value of each slot; nothing for one that is all zeros. */
function slotsIn(body: string): string {
  const slots = Array.from({ length: slotCount }, (_, index) =>
    body.slice(index * slotBytes, (index + 1) * slotBytes),
  );
  const rest = body.slice(slotCount * slotBytes);
  const values = slots.map((slot) => (/^\0+$/.test(slot) ? '' : valueIn(slot)));
  return `${values.join('|')}${rest === '' ? '' : ` and ${rest.length} bytes more`}`;
}
