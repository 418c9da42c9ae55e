// Rename File, Rename Directory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, leaseA, leaseB, Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const replace = { 'x-ms-file-rename-replace-if-exists': 'true' };

test('a renamed file is the same file under another name', async (t) => {
  const { server, share, file } = await given(t, {
    file: 'a.txt',
    headers: { 'x-ms-content-type': 'text/plain' },
  });
  await gives(file.setMetadata({ 'x-ms-meta-k': 'v' }), 200);
  await gives(share.directory('d').put(), 201);
  const before = await gives(file.head(), 200);
  server.pass(5);
  const target = share.file('d/b.txt');
  const moved = await gives(target.renameFrom(file), 200);
  await refuses(file.head(), 404, 'ResourceNotFound');
  const after = await gives(target.get(), 200);
  assert.equal(after.text, 'hello world');
  for (const name of [
    'x-ms-file-id',
    'x-ms-file-creation-time',
    'x-ms-file-last-write-time',
    'content-type',
    'x-ms-meta-k',
  ]) {
    assert.equal(header(after, name), header(before, name), name);
  }
  for (const name of ['etag', 'x-ms-file-change-time', 'x-ms-file-parent-id']) {
    assert.notEqual(header(after, name), header(before, name), name);
  }
  assert.equal(header(moved, 'etag'), header(after, 'etag'));
  assert.equal(await share.usage(), 11);
});

test('what the request says replaces what the file had', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const target = share.file('b.txt');
  await gives(
    target.renameFrom(file, {
      'x-ms-meta-new': '1',
      'x-ms-content-type': 'text/html',
      'x-ms-file-attributes': 'Hidden',
      'x-ms-file-last-write-time': '2000-01-01T00:00:00.0000000Z',
    }),
    200,
  );
  const after = await gives(target.head(), 200);
  assert.equal(header(after, 'x-ms-meta-new'), '1');
  assert.equal(header(after, 'content-type'), 'text/html');
  assert.equal(header(after, 'x-ms-file-attributes'), 'Hidden');
  assert.equal(header(after, 'x-ms-file-last-write-time'), '2000-01-01T00:00:00.0000000Z');
});

test('another case of the same name', async (t) => {
  const { share, file } = await given(t, { file: 'Name.TXT' });
  await gives(share.file('nAME.txt').renameFrom(file), 200);
  assert.deepEqual(await share.root.names(), ['nAME.txt']);
  await gives(share.directory('Dir').put(), 201);
  await gives(share.directory('dIR').renameFrom(share.directory('Dir')), 200);
  assert.deepEqual(await share.root.names(), ['dIR', 'nAME.txt']);
});

test('a name that is taken', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt', content: 'new' });
  const target = share.file('b.txt');
  await gives(target.create(100), 201);
  await refuses(target.renameFrom(file), 409, 'ResourceAlreadyExists');
  await gives(target.renameFrom(file, replace), 200);
  assert.equal(await target.text(), 'new');
  assert.equal(await share.usage(), 3);
  await gives(share.directory('d').put(), 201);
  await refuses(share.file('d').renameFrom(target, replace), 409, 'ResourceAlreadyExists');
});

test('a read-only file is replaced only on request', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const target = share.file('b.txt');
  await gives(target.create(1, { 'x-ms-file-attributes': 'ReadOnly' }), 201);
  const ignore = { 'x-ms-file-rename-ignore-readonly': 'true' };
  await refuses(target.renameFrom(file, replace), 409, 'ReadOnlyAttribute');
  await refuses(target.renameFrom(file, ignore), 400, 'InvalidHeaderValue');
  await gives(target.renameFrom(file, { ...replace, ...ignore }), 200);
});

test('leases of the source and of what is replaced', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt', leased: true });
  const target = share.file('b.txt');
  await gives(target.create(1), 201);
  await gives(target.acquire(-1, leaseB), 201);
  await refuses(target.renameFrom(file, replace), 412, 'LeaseIdMissing');
  const source = { 'x-ms-source-lease-id': leaseA };
  await refuses(target.renameFrom(file, { ...replace, ...source }), 412, 'LeaseIdMissing');
  await refuses(
    target.renameFrom(file, { ...replace, 'x-ms-source-lease-id': leaseB }),
    412,
    'LeaseIdMismatchWithFileOperation',
  );
  await gives(target.renameFrom(file, { ...replace, ...source, 'x-ms-destination-lease-id': leaseB }), 200);
  const moved = await gives(target.head(), 200);
  assert.equal(header(moved, 'x-ms-lease-state'), 'leased');
  await gives(target.write('x', 0, { 'x-ms-lease-id': leaseA }), 201);
});

test('sources and targets that are not there', async (t) => {
  const { share, file } = await given(t, { file: 'd/a.txt', directory: 'd' });
  await refuses(share.file('b').renameFrom(share.file('no')), 404, 'ResourceNotFound');
  await refuses(share.file('b').renameFrom(share.file('no/no')), 404, 'ResourceNotFound');
  await refuses(share.file('no/b').renameFrom(file), 404, 'ParentNotFound');
  await refuses(share.file('b').renameFrom(share.directory('d')), 409, 'ResourceTypeMismatch');
  await refuses(share.directory('b').renameFrom(file), 409, 'ResourceTypeMismatch');
  await refuses(share.file('b').put('comp=rename'), 400, 'MissingRequiredHeader');
});

test('a source elsewhere', async (t) => {
  const { server, share, file } = await given(t, { file: 'a.txt' });
  await gives(new Share(server, 'other').put(), 201);
  await refuses(new Share(server, 'other').file('a.txt').renameFrom(file), 400, 'InvalidHeaderValue');
  const elsewhere = { 'x-ms-file-rename-source': 'https://example.org/files/a.txt' };
  await refuses(share.file('b').put('comp=rename', elsewhere), 400, 'InvalidHeaderValue');
  await refuses(
    share.file('b').put('comp=rename', { 'x-ms-file-rename-source': 'a.txt' }),
    400,
    'InvalidHeaderValue',
  );
});

test('a directory moves with all that is below', async (t) => {
  const { share } = await given(t, { file: 'one/two/three/a.txt', directory: 'other' });
  const moved = share.directory('other/new');
  await gives(moved.renameFrom(share.directory('one')), 200);
  assert.equal(await share.file('other/new/two/three/a.txt').text(), 'hello world');
  await refuses(share.file('one/two/three/a.txt').head(), 404, 'ParentNotFound');
  assert.deepEqual(await share.root.names(), ['other']);
});

test('a directory takes the place of a file, but never of a directory', async (t) => {
  const { share } = await given(t, { file: 'one/a', directory: 'two' });
  await gives(share.file('taken').create(9), 201);
  await refuses(
    share.directory('two').renameFrom(share.directory('one'), replace),
    409,
    'ResourceAlreadyExists',
  );
  await refuses(share.directory('taken').renameFrom(share.directory('one')), 409, 'ResourceAlreadyExists');
  await gives(share.directory('taken').renameFrom(share.directory('one'), replace), 200);
  assert.deepEqual(await share.directory('taken').names(), ['a']);
  assert.equal(await share.usage(), 11);
});

test('a directory never comes to lie in itself', async (t) => {
  const { share } = await given(t, { directory: 'a/b/c' });
  await refuses(share.directory('a/b/c/a').renameFrom(share.directory('a')), 400, 'InvalidInput');
  await refuses(share.directory('a/x').renameFrom(share.directory('a')), 400, 'InvalidInput');
  await refuses(share.directory('x').renameFrom(share.root), 400, 'InvalidHeaderValue');
});

test('two directories moved into each other at once: one of the two fails', async (t) => {
  const { share } = await given(t);
  for (let round = 0; round < 20; round++) {
    const [a, b] = [`a${round}`, `b${round}`];
    await gives(share.directory(a).put(), 201);
    await gives(share.directory(b).put(), 201);
    const answers = await Promise.all([
      share.directory(`${b}/x`).renameFrom(share.directory(a)),
      share.directory(`${a}/x`).renameFrom(share.directory(b)),
    ]);
    const moved = answers.filter(({ status }) => status === 200).length;
    assert.equal(moved, 1, answers.map(({ status, text }) => `${status} ${text}`).join());
    const names = await share.root.names();
    assert.equal(names.length, round + 1);
  }
});

test('snapshots keep the old names', async (t) => {
  const { share, file } = await given(t, { file: 'd/a.txt' });
  const snapshot = await share.snapshot();
  await gives(share.directory('e').renameFrom(share.directory('d')), 200);
  assert.equal(await file.text(`sharesnapshot=${snapshot}`), 'hello world');
  await refuses(share.file('e/a.txt').get(`sharesnapshot=${snapshot}`), 404, 'ParentNotFound');
});
