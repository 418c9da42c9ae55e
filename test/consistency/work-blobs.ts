// Calls on blobs, on append blobs, and on a container with one blob in it.

import type { AppendCall, BlobCall, ContainerCall, Result } from './models.js';
import {
  type Answer,
  bodyOf,
  leaseIdOf,
  newValue,
  type Place,
  recorded,
  remember,
  type Thread,
  valueIn,
  written,
} from './thread.js';

export function actOnBlob(thread: Thread, place: Place, object: string): Promise<unknown> {
  const kind = thread.random();
  const value = newValue(thread);
  const known = thread.seen.get(object)?.value;
  const leaseId = leaseIdOf(thread);
  const lease = thread.random() < (thread.leased.has(object) ? 0.9 : 0.1) ? { leaseId } : {};
  if (kind < 0.4) return blob(thread, place, object, { op: 'read' });
  if (kind < 0.5) return blob(thread, place, object, { op: 'put', value, ...lease });
  if (kind < 0.56) return blob(thread, place, object, { op: 'create', value });
  if (kind < 0.8 && known !== undefined)
    return blob(thread, place, object, { op: 'update', value, expects: known, ...lease });
  if (kind < 0.84) return blob(thread, place, object, { op: 'delete', ...lease });
  if (kind < 0.95) {
    const isHolder = thread.leased.has(object) && thread.random() < 0.9;
    const held = thread.random() < 0.4 ? 'renew' : 'release';
    return blob(thread, place, object, { op: isHolder ? held : 'acquire', leaseId });
  }
  return blob(thread, place, object, { op: 'break' });
}

export async function blob(thread: Thread, place: Place, object: string, call: BlobCall): Promise<void> {
  const path = `/${place.container}/${object.replace(' ', '-')}`;
  const headers: Record<string, string> = {};
  if ('leaseId' in call && call.leaseId !== undefined) headers['x-ms-lease-id'] = call.leaseId;
  if ('expects' in call) headers['If-Match'] = thread.seen.get(object)?.etag ?? '';
  const request = { service: 'blob', path, headers } as const;
  switch (call.op) {
    case 'read': {
      const result = await recorded(
        thread,
        object,
        call,
        { ...request, method: 'GET' },
        ({ text, headers }) => ({
          ok: true,
          value: valueIn(text),
          etag: String(headers.etag),
          lease: String(headers['x-ms-lease-state']),
        }),
      );
      if (result && 'ok' in result) remember(thread, object, result.value, result.etag);
      return;
    }
    case 'delete':
      await recorded(thread, object, call, { ...request, method: 'DELETE' }, written);
      return;
    case 'acquire':
    case 'renew':
    case 'release':
    case 'break': {
      delete headers['x-ms-lease-id'];
      headers['x-ms-lease-action'] = call.op;
      if (call.op === 'acquire') {
        headers['x-ms-lease-duration'] = object.startsWith('timed') ? '60' : '-1';
        headers['x-ms-proposed-lease-id'] = call.leaseId;
      } else if (call.op !== 'break') headers['x-ms-lease-id'] = call.leaseId;
      else headers['x-ms-lease-break-period'] = '0';
      const lease = { ...request, path: `${path}?comp=lease`, method: 'PUT' };
      const result = await recorded<BlobCall, Result>(thread, object, call, lease, () => ({ ok: true }));
      const holds = call.op === 'acquire' || call.op === 'renew';
      if (holds && result && 'ok' in result) thread.leased.add(object);
      else thread.leased.delete(object);
      return;
    }
    default: {
      headers['x-ms-blob-type'] = 'BlockBlob';
      if (call.op === 'create') headers['If-None-Match'] = '*';
      const result = await recorded(
        thread,
        object,
        call,
        { ...request, method: 'PUT', body: bodyOf(call.value) },
        written,
      );
      if (result && 'ok' in result) remember(thread, object, call.value, result.etag);
    }
  }
}

// Append blobs

export function actOnAppend(thread: Thread, place: Place, object: string): Promise<unknown> {
  const chunk = `${thread.client}-${++thread.count};`;
  const kind = thread.random();
  const known = thread.seen.get(object)?.value;
  if (known === undefined || kind < 0.02) return append(thread, place, object, { op: 'make' });
  if (kind < 0.5) return append(thread, place, object, { op: 'read' });
  if (kind < 0.7) return append(thread, place, object, { op: 'append', chunk, at: known.length });
  return append(thread, place, object, { op: 'append', chunk });
}

export async function append(thread: Thread, place: Place, object: string, call: AppendCall): Promise<void> {
  const request = { service: 'blob', path: `/${place.container}/${object.replace(' ', '-')}` } as const;
  if (call.op === 'read') {
    const read = (answer: Answer) => ({
      ok: true as const,
      value: answer.text,
      etag: String(answer.headers.etag),
    });
    const result = await recorded<AppendCall, Result>(
      thread,
      object,
      call,
      { ...request, method: 'GET' },
      read,
    );
    if (result && 'ok' in result) remember(thread, object, result.value, result.etag);
    return;
  }
  if (call.op === 'make') {
    await recorded(
      thread,
      object,
      call,
      { ...request, method: 'PUT', headers: { 'x-ms-blob-type': 'AppendBlob' } },
      () => ({ ok: true as const }),
    );
    thread.seen.set(object, { value: '', etag: '' });
    return;
  }
  const headers = call.at === undefined ? {} : { 'x-ms-blob-condition-appendpos': String(call.at) };
  const at = (answer: Answer) => ({
    ok: true as const,
    offset: Number(answer.headers['x-ms-blob-append-offset']),
  });
  await recorded(
    thread,
    object,
    call,
    { ...request, path: `${request.path}?comp=appendblock`, method: 'PUT', headers, body: call.chunk },
    at,
  );
}

// Containers

export function actOnContainer(thread: Thread, place: Place, object: string): Promise<unknown> {
  const kind = thread.random();
  if (kind < 0.2) return container(thread, place, object, { op: 'create' });
  if (kind < 0.35) return container(thread, place, object, { op: 'delete' });
  if (kind < 0.65) return container(thread, place, object, { op: 'put', value: newValue(thread) });
  return container(thread, place, object, { op: 'read' });
}

export async function container(
  thread: Thread,
  place: Place,
  object: string,
  call: ContainerCall,
): Promise<void> {
  const path = `/${place.container}${object.replace(' ', '-')}`;
  const request = { service: 'blob' as const, path: `${path}?restype=container` };
  const done = () => ({ ok: true as const });
  if (call.op === 'create') await recorded(thread, object, call, { ...request, method: 'PUT' }, done);
  else if (call.op === 'delete') await recorded(thread, object, call, { ...request, method: 'DELETE' }, done);
  else if (call.op === 'put') {
    const headers = { 'x-ms-blob-type': 'BlockBlob' };
    await recorded(
      thread,
      object,
      call,
      { service: 'blob', path: `${path}/b`, method: 'PUT', headers, body: bodyOf(call.value) },
      done,
    );
  } else {
    const read = ({ text }: { text: string }) => ({ ok: true as const, value: valueIn(text) });
    await recorded(thread, object, call, { service: 'blob', path: `${path}/b`, method: 'GET' }, read);
  }
}
