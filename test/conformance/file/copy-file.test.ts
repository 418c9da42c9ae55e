// Copy File, Abort Copy File.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { given, header, leaseA, Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('a copy has the bytes, the properties and the metadata of its source', async (t) => {
  const { server, share, file } = await given(t, {
    file: 'a.txt',
    headers: { 'x-ms-content-type': 'text/plain' },
  });
  await gives(file.setMetadata({ 'x-ms-meta-k': 'v' }), 200);
  const source = await gives(file.head(), 200);
  server.pass(5);
  const target = share.file('b.txt');
  const copied = await gives(target.copyFrom(file), 202);
  assert.equal(header(copied, 'x-ms-copy-status'), 'success');
  const got = await gives(target.get(), 200);
  assert.equal(got.text, 'hello world');
  assert.equal(header(got, 'content-type'), 'text/plain');
  assert.equal(header(got, 'x-ms-meta-k'), 'v');
  assert.equal(header(got, 'x-ms-copy-id'), header(copied, 'x-ms-copy-id'));
  assert.equal(header(got, 'x-ms-copy-source'), file.url);
  assert.equal(header(got, 'x-ms-copy-progress'), '11/11');
  assert.ok(header(got, 'x-ms-copy-completion-time'));
  assert.equal(header(got, 'x-ms-file-attributes'), 'Archive');
  assert.equal(header(got, 'x-ms-file-last-write-time'), header(source, 'x-ms-file-last-write-time'));
  assert.notEqual(header(got, 'x-ms-file-creation-time'), header(source, 'x-ms-file-creation-time'));
  await gives(file.write('HELLO'), 201);
  assert.equal(await target.text(), 'hello world');
  await gives(target.setProperties({ 'x-ms-content-type': 'a/b' }), 200);
  assert.equal((await target.head()).headers.get('x-ms-copy-id'), undefined);
});

test('holes stay holes', async (t) => {
  const { share } = await given(t);
  const file = share.file('sparse');
  await gives(file.create(100_000), 201);
  await gives(file.write('x', 50_000), 201);
  await gives(share.file('copy').copyFrom(file), 202);
  assert.deepEqual(await share.file('copy').ranges(), ['49664-50175']);
});

test('what the request asks for', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt', headers: { 'x-ms-file-attributes': 'Hidden' } });
  const source = await gives(file.head(), 200);
  const target = share.file('b');
  await gives(
    target.copyFrom(file, {
      'x-ms-meta-own': '1',
      'x-ms-file-attributes': 'source',
      'x-ms-file-creation-time': 'source',
      'x-ms-file-change-time': 'source',
      'x-ms-file-copy-set-archive': 'true',
      'x-ms-file-permission-copy-mode': 'source',
    }),
    202,
  );
  const got = await gives(target.head(), 200);
  assert.equal(header(got, 'x-ms-file-attributes'), 'Hidden | Archive');
  for (const name of ['creation', 'change', 'last-write']) {
    assert.equal(header(got, `x-ms-file-${name}-time`), header(source, `x-ms-file-${name}-time`), name);
  }
  assert.equal(header(got, 'x-ms-file-permission-key'), header(source, 'x-ms-file-permission-key'));
  assert.equal(header(got, 'x-ms-meta-own'), '1');
});

const wrong = `
  header                          value              status  refusal
  x-ms-file-permission-copy-mode  mixed              400     InvalidHeaderValue
  x-ms-file-permission-copy-mode  override           400     MissingRequiredHeader
  x-ms-file-permission            O:SYG:SYD:         400     InvalidHeaderValue
  x-ms-file-attributes            preserve           400     InvalidHeaderValue
  x-ms-copy-source                nonsense           400     InvalidHeaderValue
  x-ms-lease-id                   nonsense           400     InvalidHeaderValue
`;

for (const { header: name = '', value = '', status, refusal = '' } of rows(wrong)) {
  test(`${name}: ${value} gives ${status} ${refusal}`, async (t) => {
    const { share, file } = await given(t, { file: 'a.txt' });
    await refuses(share.file('b').copyFrom(file, { [name]: value }), Number(status), refusal);
    assert.deepEqual(await share.root.names(), ['a.txt']);
  });
}

test('over a file that is there: its id stays, its lease too', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const target = share.file('b');
  await gives(target.create(100), 201);
  const id = await target.id();
  await gives(target.acquire(), 201);
  await refuses(target.copyFrom(file), 412, 'LeaseIdMissing');
  await gives(target.copyFrom(file, { 'x-ms-lease-id': leaseA }), 202);
  assert.equal(await target.id(), id);
  assert.equal(await share.usage(), 22);
  const readOnly = share.file('r');
  await gives(readOnly.create(1, { 'x-ms-file-attributes': 'ReadOnly' }), 201);
  await refuses(readOnly.copyFrom(file), 409, 'ReadOnlyAttribute');
  await gives(readOnly.copyFrom(file, { 'x-ms-file-copy-ignore-readonly': 'true' }), 202);
});

test('onto itself', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  await gives(file.copyFrom(file, { 'x-ms-meta-a': '1' }), 202);
  assert.equal(await file.text(), 'hello world');
});

test('from a snapshot and from another share', async (t) => {
  const { server, share, file } = await given(t, { file: 'a.txt', content: 'old' });
  const snapshot = await share.snapshot();
  await gives(file.write('new'), 201);
  await gives(file.copyFrom(`${file.url}?sharesnapshot=${snapshot}`), 202);
  assert.equal(await file.text(), 'old');
  const other = new Share(server, 'other');
  await gives(other.put(), 201);
  await gives(other.file('x').copyFrom(file, { 'x-ms-file-permission-copy-mode': 'source' }), 202);
  assert.equal(await other.file('x').text(), 'old');
});

test('sources that are not there', async (t) => {
  const { share, file } = await given(t, { file: 'd/a.txt', directory: 'd' });
  await refuses(share.file('b').copyFrom(share.file('no')), 404, 'CannotVerifyCopySource');
  await refuses(share.file('b').copyFrom(share.file('no/no')), 404, 'CannotVerifyCopySource');
  await refuses(share.file('b').copyFrom(share.directory('d')), 409, 'ResourceTypeMismatch');
  await refuses(share.file('no/b').copyFrom(file), 404, 'ParentNotFound');
  await refuses(share.file('d').copyFrom(file), 409, 'ResourceTypeMismatch');
});

test('a file of very many slices is copied whole, or not at all', async (t) => {
  const { share, service } = await given(t);
  const file = share.file('many');
  const count = 1200;
  await gives(file.create(count * 1024), 201);
  const volume = await service.volumes.open(share.server.account.name, 'files');
  const id = await file.id();
  for (let at = 0; at < count; at++) {
    await volume?.write(id, at * 1024, Buffer.alloc(512, (at % 255) + 1), { keepWritten: false });
  }
  const target = share.file('copy');
  await gives(target.copyFrom(file), 202);
  assert.ok((await target.get()).body.equals((await file.get()).body));
  assert.equal((await target.ranges()).length, count);
  const left = await service.store.run(async (tx) => {
    const maps: number[] = [];
    for await (const map of service.store.staged.keys(tx)) maps.push(map);
    return maps;
  });
  assert.deepEqual(left, []);
});

test('there is nothing to abort', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const abort = { 'x-ms-copy-action': 'abort' };
  await refuses(file.put('comp=copy&copyid=1', abort), 409, 'NoPendingCopyOperation');
  await gives(share.file('b').copyFrom(file), 202);
  await refuses(share.file('b').put('comp=copy&copyid=1', abort), 409, 'NoPendingCopyOperation');
  await refuses(file.put('comp=copy', abort), 400, 'MissingRequiredQueryParameter');
  await refuses(file.put('comp=copy&copyid=1'), 400, 'MissingRequiredHeader');
  await refuses(file.put('comp=copy&copyid=1', { 'x-ms-copy-action': 'pause' }), 400, 'InvalidHeaderValue');
});
