// Copy File from another server: pending while it goes on, then success, failed or aborted; Abort Copy File.

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
import { type File, given, header, leaseA, Share } from '../../support/given-file.js';
import { gives, refuses, startServer } from '../../support/server.js';

const abort = (file: File, id: string, headers = {}) =>
  file.put(`comp=copy&copyid=${id}`, { 'x-ms-copy-action': 'abort', ...headers });

const any = { copySources: 'any' } as const;

test('a copy from another server goes on by itself and ends', async (t) => {
  const { share } = await given(t, any);
  const md5 = 'XUFAKrxLKna5cZ2REBfFkg==';
  const told = { 'x-ms-meta-a': '1', 'Content-MD5': md5, 'Content-Language': 'de' };
  const foreign = await foreignServer(t, serving(content, told));
  const target = share.file('target');
  const begun = await gives(target.copyFrom(foreign.url), 202);
  assert.equal(header(begun, 'x-ms-copy-status'), 'pending');
  assert.equal(await ended(target), 'success');
  const got = await gives(target.get(), 200);
  assert.ok(got.body.equals(content));
  assert.equal(header(got, 'content-type'), 'text/plain');
  assert.equal(header(got, 'content-language'), 'de');
  assert.equal(header(got, 'content-md5'), md5);
  assert.equal(header(got, 'x-ms-meta-a'), '1');
  assert.equal(header(got, 'x-ms-copy-id'), header(begun, 'x-ms-copy-id'));
  assert.equal(header(got, 'x-ms-copy-source'), foreign.url);
  assert.equal(header(got, 'x-ms-copy-progress'), '300000/300000');
  assert.ok(header(got, 'x-ms-copy-completion-time'));
  assert.notEqual(header(got, 'etag'), header(begun, 'etag'));
  assert.equal(await share.usage(), content.length);
});

test('what the request gives, and what a source that is a file tells', async (t) => {
  const { share } = await given(t, any);
  const created = '2020-02-03T04:05:06.7890123Z';
  const foreign = await foreignServer(
    t,
    serving(content, {
      'x-ms-meta-a': '1',
      'x-ms-file-attributes': 'Hidden | Archive',
      'x-ms-file-creation-time': created,
      'x-ms-file-last-write-time': created,
    }),
  );
  const target = share.file('target');
  const headers = {
    'x-ms-file-attributes': 'source',
    'x-ms-file-creation-time': 'source',
    'x-ms-meta-b': '2',
  };
  await gives(target.copyFrom(foreign.url, headers), 202);
  assert.equal(await ended(target), 'success');
  const got = await gives(target.head(), 200);
  assert.equal(header(got, 'x-ms-file-attributes'), 'Hidden | Archive');
  assert.equal(header(got, 'x-ms-file-creation-time'), created);
  assert.equal(header(got, 'x-ms-file-last-write-time'), created);
  assert.equal(header(got, 'x-ms-meta-b'), '2');
  assert.equal(got.headers.has('x-ms-meta-a'), false);
  const mode = { 'x-ms-file-permission-copy-mode': 'source' };
  await refuses(share.file('b').copyFrom(foreign.url, mode), 400, 'InvalidHeaderValue');
});

test('while it is pending the target has its length and zeros, and nobody else writes to it', async (t) => {
  const { share, file } = await given(t, { ...any, file: 'a.txt' });
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = share.file('target');
  const id = header(await gives(target.copyFrom(foreign.url, { 'x-ms-meta-b': '2' }), 202), 'x-ms-copy-id');
  const head = await gives(target.head(), 200);
  assert.equal(header(head, 'x-ms-copy-status'), 'pending');
  assert.equal(header(head, 'content-length'), String(content.length));
  assert.match(header(head, 'x-ms-copy-progress'), /^\d+\/300000$/);
  assert.equal(head.headers.has('x-ms-copy-completion-time'), false);
  assert.ok((await target.get()).body.equals(Buffer.alloc(content.length)));
  for (const write of [
    target.create(1),
    target.write('x'),
    target.clear(0, 511),
    target.setMetadata({}),
    target.setProperties({ 'x-ms-content-length': '1' }),
    target.acquire(),
    target.copyFrom(file),
    target.delete(),
    share.file('moved').renameFrom(target),
  ]) {
    await refuses(write, 409, 'PendingCopyOperation');
  }
  await refuses(abort(target, 'another'), 409, 'CopyIdMismatch');
  source.letGo();
  assert.equal(await ended(target), 'success');
  assert.ok((await target.get()).body.equals(content));
  assert.equal(header(await target.head(), 'x-ms-meta-b'), '2');
  await refuses(abort(target, id), 409, 'NoPendingCopyOperation');
});

test('to an SMB client a target is as a leased file: read by all, written by none', async (t) => {
  const { server, service, share } = await given(t, any);
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = share.file('target');
  await gives(target.copyFrom(foreign.url), 202);
  const volume = await service.volumes.open(server.account.name, 'files');
  const id = await target.id();
  const held = () => volume?.transaction(async (tx) => (await tx.get(id))?.leased);
  assert.equal(await held(), true);
  source.letGo();
  assert.equal(await ended(target), 'success');
  assert.equal(await held(), false);
});

test('how far it is can be seen', async (t) => {
  const { server, share } = await given(t, any);
  let more: (() => void) | undefined;
  const foreign = await foreignServer(t, (_, response) => {
    response.writeHead(200, { ETag: '"v1"', 'Content-Length': 3000 });
    response.write(Buffer.alloc(1000, 'x'));
    more = () => response.write(Buffer.alloc(1000, 'y'));
  });
  const target = share.file('target');
  await gives(target.copyFrom(foreign.url), 202);
  await until(() => foreign.requests.length === 2);
  await until(async () => {
    server.pass(2);
    more?.();
    return header(await target.head(), 'x-ms-copy-progress') !== '0/3000';
  });
});

test('a copy that is aborted leaves an empty file with its metadata, and gives its space back', async (t) => {
  const { share } = await given(t, any);
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = share.file('target');
  const id = header(await gives(target.copyFrom(foreign.url, { 'x-ms-meta-k': 'v' }), 202), 'x-ms-copy-id');
  assert.equal(await share.usage(), content.length);
  await gives(abort(target, id), 204);
  const got = await gives(target.get(), 200);
  assert.equal(header(got, 'x-ms-copy-status'), 'aborted');
  assert.ok(header(got, 'x-ms-copy-completion-time'));
  assert.equal(header(got, 'x-ms-meta-k'), 'v');
  assert.equal(got.text, '');
  assert.equal(await share.usage(), 0);
  source.letGo();
  await gives(target.create(3), 201);
  await gives(target.write('own'), 201);
  assert.equal(await target.text(), 'own');
  assert.equal((await target.head()).headers.has('x-ms-copy-id'), false);
});

test('a leased target: its id starts the copy and aborts it', async (t) => {
  const { share } = await given(t, any);
  const foreign = await foreignServer(t, slow().answer);
  const target = share.file('target');
  await gives(target.create(1), 201);
  await gives(target.acquire(), 201);
  await refuses(target.copyFrom(foreign.url), 412, 'LeaseIdMissing');
  const leased = { 'x-ms-lease-id': leaseA };
  const id = header(await gives(target.copyFrom(foreign.url, leased), 202), 'x-ms-copy-id');
  await refuses(abort(target, id), 412, 'LeaseIdMissing');
  await refuses(target.lease('break'), 409, 'PendingCopyOperation');
  await gives(abort(target, id, leased), 204);
});

test('a copy whose source breaks off fails, and one whose source changed', async (t) => {
  const { share, server } = await given(t, any);
  const breaking = await foreignServer(t, breakingOff());
  const target = share.file('target');
  await gives(target.copyFrom(breaking.url), 202);
  assert.equal(await endedInTime(target, server), 'failed');
  assert.equal(breaking.requests.length, 1 + 10, 'its head, then its bytes');
  const head = await gives(target.head(), 200);
  assert.match(header(head, 'x-ms-copy-status-description'), /^500 /);
  assert.equal(header(head, 'content-length'), '0');
  assert.equal(await share.usage(), 0);

  let version = 0;
  const changing = await foreignServer(t, (_, response) => {
    response.writeHead(200, { ETag: `"v${++version}"`, 'Content-Length': 2 }).end('ab');
  });
  await gives(target.copyFrom(changing.url), 202);
  assert.equal(await ended(target), 'failed');
  const changed = await gives(target.head(), 200);
  assert.equal(header(changed, 'x-ms-copy-status-description'), '412 ConditionNotMet');
});

test('a source that cannot be read, or tells no length, or is too long for the share, is refused', async (t) => {
  const { share } = await given(t, any);
  const target = share.file('target');
  const denying = await foreignServer(t, (_, response) => {
    response.writeHead(403, { 'x-ms-error-code': 'AuthenticationFailed' }).end();
  });
  const denied = await refuses(target.copyFrom(denying.url), 403, 'CannotVerifyCopySource');
  assert.match(denied.text, /<CopySourceStatusCode>403<.*<CopySourceErrorCode>AuthenticationFailed</);
  const missing = await foreignServer(t, (_, response) => void response.writeHead(404).end());
  await refuses(target.copyFrom(missing.url), 404, 'CannotVerifyCopySource');
  const endless = await foreignServer(t, (_, response) => void response.write('x'));
  await refuses(target.copyFrom(endless.url), 400, 'CannotVerifyCopySource');
  const huge = await foreignServer(t, (_, response) => {
    response.writeHead(200, { 'Content-Length': 5 * 2 ** 30 }).write('x');
  });
  await gives(share.put('comp=properties', { 'x-ms-share-quota': '1' }), 200);
  await refuses(target.copyFrom(huge.url), 409, 'ShareSizeLimitReached');
  await refuses(target.head(), 404, 'ResourceNotFound');
  assert.equal(await share.usage(), 0);
});

test('addresses that are not of the public network are not asked, unless they may be', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const foreign = await foreignServer(t, serving(content));
  await refuses(share.file('target').copyFrom(foreign.url), 403, 'CannotVerifyCopySource');
  const range = { 'x-ms-range': 'bytes=0-4', 'x-ms-source-range': 'bytes=0-4', 'x-ms-write': 'update' };
  const put = file.put('comp=range', { 'x-ms-copy-source': foreign.url, ...range });
  await refuses(put, 403, 'CannotVerifyCopySource');
  assert.equal(foreign.requests.length, 0);
});

test('a range of another server', async (t) => {
  const { file } = await given(t, { ...any, file: 'a.txt' });
  const foreign = await foreignServer(t, serving(Buffer.from('HELLO THERE')));
  const range = { 'x-ms-range': 'bytes=0-4', 'x-ms-source-range': 'bytes=6-10', 'x-ms-write': 'update' };
  await gives(file.put('comp=range', { 'x-ms-copy-source': foreign.url, ...range }), 201);
  assert.equal(await file.text(), 'THERE world');
  assert.equal(foreign.requests[0]?.headers.range, 'bytes=6-10');
  const ignoring = await foreignServer(t, (_, response) => {
    response.writeHead(206, { 'Content-Length': 300 }).end(Buffer.alloc(300, 'x'));
  });
  const more = file.put('comp=range', { 'x-ms-copy-source': ignoring.url, ...range });
  await refuses(more, 416, 'CannotVerifyCopySource');
  assert.equal(await file.text(), 'THERE world');
});

test('a target whose share is deleted ends its copy; one that is restored has it go on', async (t) => {
  const { server, share } = await given(t, any);
  const days =
    '<ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></ShareDeleteRetentionPolicy>';
  const body = `<StorageServiceProperties>${days}</StorageServiceProperties>`;
  await gives(server.ask({ method: 'PUT', path: '/?restype=service&comp=properties', body }), 202);
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = share.file('target');
  await gives(target.copyFrom(foreign.url), 202);
  await until(() => foreign.requests.length === 2);
  await gives(share.delete(), 202);
  source.letGo();
  const { text } = await gives(server.ask({ path: '/?comp=list&include=deleted' }), 200);
  const version = /<Version>([^<]+)</.exec(text)?.[1] ?? '';
  const again = new Share(server, 'again');
  await gives(
    again.put('comp=undelete', { 'x-ms-deleted-share-name': 'files', 'x-ms-deleted-share-version': version }),
    201,
  );
  const restored = again.file('target');
  await until(async () => {
    source.letGo();
    return header(await gives(restored.head(), 200), 'x-ms-copy-status') === 'success';
  });
  assert.ok((await restored.get()).body.equals(content));
  assert.equal(await again.usage(), content.length);
});

test('a snapshot taken meanwhile keeps what it saw', async (t) => {
  const { share } = await given(t, any);
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const target = share.file('target');
  await gives(target.copyFrom(foreign.url), 202);
  const snapshot = await share.snapshot();
  source.letGo();
  assert.equal(await ended(target), 'success');
  const kept = await gives(target.get(`sharesnapshot=${snapshot}`), 200);
  assert.ok(kept.body.equals(Buffer.alloc(content.length)));
  assert.ok((await target.get()).body.equals(content));
});

test('a copy that was pending goes on after a restart', async (t) => {
  const location = await mkdtemp(join(tmpdir(), 'lazuli-copy-'));
  t.after(() => rm(location, { recursive: true, force: true }));
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const first: (() => Promise<void>)[] = [];
  const started = await startServer({ after: (stop) => first.push(stop as never) }, 'file', {
    location,
    ...any,
  });
  const share = new Share(started, 'files');
  await gives(share.put(), 201);
  await gives(share.file('target').copyFrom(foreign.url), 202);
  await until(() => foreign.requests.length === 2);
  for (const stop of first) await stop();

  const again = new Share(await startServer(t, 'file', { location, ...any }), 'files');
  const target = again.file('target');
  assert.equal(header(await gives(target.head(), 200), 'x-ms-copy-status'), 'pending');
  await until(() => foreign.requests.length === 3);
  source.letGo();
  assert.equal(await ended(target), 'success');
  assert.ok((await target.get()).body.equals(content));
  assert.equal(await again.usage(), content.length);
});

test('of very many copies 32 go on at a time, and all end; one that waits can be aborted', async (t) => {
  const { share } = await given(t, any);
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const targets = Array.from({ length: 40 }, (_, at) => share.file(`target${at}`));
  const ids: string[] = [];
  for (const target of targets) {
    ids.push(header(await gives(target.copyFrom(foreign.url), 202), 'x-ms-copy-id'));
  }
  await until(() => foreign.requests.length === 40 + 32);
  const [waiting] = targets.slice(35);
  assert.ok(waiting);
  await gives(abort(waiting, ids[35] ?? ''), 204);
  await until(async () => {
    source.letGo();
    const states = await Promise.all(
      targets.map(async (target) => header(await target.head(), 'x-ms-copy-status')),
    );
    return states.every((state) => state !== 'pending');
  });
  assert.equal(header(await waiting.head(), 'x-ms-copy-status'), 'aborted');
  assert.equal(foreign.requests.length, 40 + 39);
  assert.equal(await share.usage(), 39 * content.length);
});
