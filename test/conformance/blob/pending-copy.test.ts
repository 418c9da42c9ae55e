// Copy Blob from another server: pending while it goes on, then success, failed or aborted; Abort Copy Blob.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  breakingOff,
  content,
  ended,
  endedInTime,
  foreignServer,
  serving,
  slow,
  until,
} from '../../support/foreign.js';
import { type Blob, Container, given, header } from '../../support/given.js';
import { gives, refuses, startServer } from '../../support/server.js';

const abort = (blob: Blob, id: string) => blob.put(`comp=copy&copyid=${id}`, { 'x-ms-copy-action': 'abort' });

test('a copy from another server goes on by itself and ends', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  const foreign = await foreignServer(t, serving(content, { 'x-ms-meta-a': '1' }));
  const target = container.blob('target');
  const begun = await gives(target.copyFrom(foreign.url), 202);
  assert.equal(header(begun, 'x-ms-copy-status'), 'pending');
  assert.equal(await ended(target), 'success');
  const got = await gives(target.get(), 200);
  assert.ok(got.body.equals(content));
  assert.equal(header(got, 'content-type'), 'text/plain');
  assert.equal(header(got, 'x-ms-meta-a'), '1');
  assert.equal(header(got, 'x-ms-copy-progress'), '300000/300000');
  assert.notEqual(header(got, 'etag'), header(begun, 'etag'));
  assert.equal(foreign.requests.length, 2, 'its head, then its bytes');
});

test('while it is pending the target is empty, and nobody else writes to it', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = container.blob('target');
  const id = header(await gives(target.copyFrom(foreign.url, { 'x-ms-meta-b': '2' }), 202), 'x-ms-copy-id');
  assert.equal(await target.text(), '');
  const head = await gives(target.head(), 200);
  assert.equal(header(head, 'x-ms-copy-status'), 'pending');
  assert.equal(head.headers.has('x-ms-copy-completion-time'), false);
  for (const write of [
    target.upload('x'),
    target.put('comp=metadata'),
    target.put('comp=snapshot'),
    target.acquire(15),
    target.copyFrom(foreign.url),
    target.putBlock('a', 'x'),
  ]) {
    await refuses(write, 409, 'PendingCopyOperation');
  }
  await refuses(abort(target, 'another'), 409, 'CopyIdMismatch');
  source.letGo();
  assert.equal(await ended(target), 'success');
  assert.equal((await target.text()).length, content.length);
  assert.equal(header(await target.head(), 'x-ms-meta-b'), '2');
  await refuses(abort(target, id), 409, 'NoPendingCopyOperation');
});

test('a copy that is aborted leaves an empty blob', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = container.blob('target');
  const id = header(await gives(target.copyFrom(foreign.url), 202), 'x-ms-copy-id');
  const answer = await gives(abort(target, id), 204);
  assert.equal(answer.headers.has('etag'), false);
  const got = await gives(target.get(), 200);
  assert.equal(header(got, 'x-ms-copy-status'), 'aborted');
  assert.equal(got.text, '');
  await gives(target.upload('v2'), 201);
});

const described = async (blob: Blob) =>
  (await gives(blob.head(), 200)).headers.get('x-ms-copy-status-description') ?? '';

test('a copy whose source breaks off is tried ten times, then fails, and says so', async (t) => {
  const { container, server } = await given(t, { copySources: 'any' });
  const foreign = await foreignServer(t, breakingOff());
  const target = container.blob('target');
  await gives(target.copyFrom(foreign.url), 202);
  await until(async () => (await described(target)) !== '');
  assert.match(await described(target), /^500 InternalError "the source broke off/);
  assert.equal(header(await target.head(), 'x-ms-copy-status'), 'pending');
  assert.equal(await endedInTime(target, server), 'failed');
  assert.equal(foreign.requests.length, 1 + 10, 'its head, then its bytes');
  const head = await gives(target.head(), 200);
  assert.match(header(head, 'x-ms-copy-status-description'), /^500 /);
  assert.equal(header(head, 'content-length'), '0');
});

test('a source that is busy for a while is asked again, and the copy succeeds', async (t) => {
  const { container, server } = await given(t, { copySources: 'any' });
  let asked = 0;
  const foreign = await foreignServer(t, (request, response) => {
    asked++;
    if (asked === 2 || asked === 3) return void response.writeHead(503).end();
    serving(content)(request, response);
  });
  const target = container.blob('target');
  await gives(target.copyFrom(foreign.url), 202);
  await until(async () => (await described(target)) !== '');
  assert.equal(await described(target), '500 InternalError "the source answered 503"');
  assert.equal(await endedInTime(target, server), 'success');
  assert.equal(asked, 4);
  assert.equal(await described(target), '');
  assert.equal((await target.text()).length, content.length);
});

test('a source that refuses by the time its bytes are asked for fails the copy at once', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  let asked = 0;
  const foreign = await foreignServer(t, (request, response) =>
    asked++ === 0 ? serving(content)(request, response) : void response.writeHead(404).end(),
  );
  const target = container.blob('target');
  await gives(target.copyFrom(foreign.url), 202);
  assert.equal(await ended(target), 'failed');
  assert.equal(await described(target), '500 InternalError "the source answered 404"');
});

test('a copy is aborted while it waits to be tried again', async (t) => {
  const { container, server } = await given(t, { copySources: 'any' });
  const foreign = await foreignServer(t, breakingOff());
  const target = container.blob('target');
  const id = header(await gives(target.copyFrom(foreign.url), 202), 'x-ms-copy-id');
  await until(async () => (await described(target)) !== '');
  await gives(abort(target, id), 204);
  assert.equal(header(await target.head(), 'x-ms-copy-status'), 'aborted');
  assert.equal(await described(target), '');
  const { length } = foreign.requests;
  server.pass(600);
  await server.running.sweep();
  await gives(target.upload('mine'), 201);
  assert.equal(foreign.requests.length, length);
});

test('a source that cannot be read refuses the copy', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  const foreign = await foreignServer(t, (_, response) => void response.writeHead(403).end());
  const target = container.blob('target');
  await refuses(target.copyFrom(foreign.url), 403, 'CannotVerifyCopySource');
  await refuses(target.head(), 404, 'BlobNotFound');
});

test('a target that is deleted ends its copy', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = container.blob('target');
  await gives(target.copyFrom(foreign.url), 202);
  await gives(target.delete(), 202);
  await gives(target.upload('mine'), 201);
  source.letGo();
  const other = container.blob('other');
  await gives(other.copyFrom(foreign.url), 202);
  source.letGo();
  source.letGo();
  assert.equal(await target.text(), 'mine');
});

test('a copy that was pending goes on after a restart', async (t) => {
  const location = await mkdtemp(join(tmpdir(), 'lazuli-copy-'));
  t.after(() => rm(location, { recursive: true, force: true }));
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const first: (() => Promise<void>)[] = [];
  const server = await startServer({ after: (stop) => first.push(stop as never) }, 'blob', {
    location,
    copySources: 'any',
  });
  const container = new Container(server, 'photos');
  await gives(container.create(), 201);
  await gives(container.blob('target').copyFrom(foreign.url), 202);
  await until(() => foreign.requests.length === 2); // its head, then its bytes
  for (const stop of first) await stop();

  const again = new Container(await startServer(t, 'blob', { location, copySources: 'any' }), 'photos');
  const target = again.blob('target');
  assert.equal(header(await gives(target.head(), 200), 'x-ms-copy-status'), 'pending');
  await until(() => foreign.requests.length === 3);
  source.letGo();
  assert.equal(await ended(target), 'success');
  assert.equal((await target.text()).length, content.length);
});

test('a source that is down while this server starts is waited for', async (t) => {
  const location = await mkdtemp(join(tmpdir(), 'lazuli-copy-'));
  t.after(() => rm(location, { recursive: true, force: true }));
  const downs: (() => void)[] = [];
  const down = { after: (stop: unknown) => void downs.push(stop as () => void) };
  const foreign = await foreignServer(down, slow().answer);
  const stops: (() => Promise<void>)[] = [];
  const first = { after: (stop: unknown) => void stops.push(stop as () => Promise<void>) };
  const server = await startServer(first as never, 'blob', { location, copySources: 'any' });
  const container = new Container(server, 'photos');
  await gives(container.create(), 201);
  await gives(container.blob('target').copyFrom(foreign.url), 202);
  await until(() => foreign.requests.length === 2); // its head, then its bytes
  for (const stop of stops) await stop();
  for (const stop of downs) stop();

  const later = await startServer(t, 'blob', { location, copySources: 'any' });
  const target = new Container(later, 'photos').blob('target');
  await until(async () => (await described(target)) !== '');
  assert.match(
    await described(target),
    /^500 InternalError "The source cannot be read: connect ECONNREFUSED/,
  );
  await foreignServer(t, serving(content), Number(new URL(foreign.url).port));
  assert.equal(await endedInTime(target, later), 'success');
  assert.equal((await target.text()).length, content.length);
});

test('blobs of another service keep their type', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  const pages = await foreignServer(t, serving(Buffer.alloc(1024, 'p'), { 'x-ms-blob-type': 'PageBlob' }));
  const target = container.blob('pages');
  await gives(target.copyFrom(pages.url), 202);
  assert.equal(await ended(target), 'success');
  assert.equal(header(await target.head(), 'x-ms-blob-type'), 'PageBlob');
  await gives(target.put('comp=page', { 'x-ms-page-write': 'clear', Range: 'bytes=0-511' }), 201);
  assert.equal(await target.text(), '\0'.repeat(512) + 'p'.repeat(512));
});

test('a source that is another one by the time its bytes are asked for fails the copy', async (t) => {
  const { container } = await given(t, { copySources: 'any' });
  let version = 0;
  const foreign = await foreignServer(t, (_, response) => {
    response.writeHead(200, { ETag: `"v${++version}"`, 'Content-Length': 2 }).end('ab');
  });
  const target = container.blob('target');
  await gives(target.copyFrom(foreign.url), 202);
  assert.equal(await ended(target), 'failed');
  const head = await gives(target.head(), 200);
  assert.equal(header(head, 'x-ms-copy-status-description'), '412 ConditionNotMet');
});
