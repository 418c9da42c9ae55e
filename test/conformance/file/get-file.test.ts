import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { crc64, crc64Bytes } from '#src/base/crc64.js';
import { given, header, leaseA } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const md5 = (bytes: string | Buffer) => createHash('md5').update(bytes).digest('base64');

test('a whole file with all that is known of it', async (t) => {
  const { file } = await given(t, {
    file: 'a.txt',
    headers: {
      'x-ms-content-type': 'text/plain',
      'x-ms-content-encoding': 'identity',
      'x-ms-content-language': 'en',
      'x-ms-content-disposition': 'inline',
      'x-ms-cache-control': 'no-cache',
      'x-ms-content-md5': md5('whatever'),
    },
  });
  const got = await gives(file.get(), 200);
  assert.equal(got.text, 'hello world');
  for (const [name, value] of Object.entries({
    'content-length': '11',
    'content-type': 'text/plain',
    'content-encoding': 'identity',
    'content-language': 'en',
    'content-disposition': 'inline',
    'cache-control': 'no-cache',
    'content-md5': md5('whatever'),
    'accept-ranges': 'bytes',
    'x-ms-type': 'File',
    'x-ms-server-encrypted': 'true',
    'x-ms-lease-state': 'available',
    'x-ms-lease-status': 'unlocked',
  })) {
    assert.equal(header(got, name), value, name);
  }
  const head = await gives(file.head(), 200);
  assert.equal(head.body.length, 0);
  for (const [name, value] of got.headers) {
    if (!['date', 'x-ms-request-id'].includes(name)) assert.equal(head.headers.get(name), value, name);
  }
});

const ranges = `
  range          status  content-range     body
  bytes=0-4      206     bytes 0-4/11      hello
  bytes=6-       206     bytes 6-10/11     world
  bytes=6-99     206     bytes 6-10/11     world
  bytes=10-10    206     bytes 10-10/11    d
  bytes=11-      416     -                 InvalidRange
  bytes=-5       400     -                 InvalidHeaderValue
  bytes=5-2      400     -                 InvalidHeaderValue
  bytes=0-1,3-4  400     -                 InvalidHeaderValue
  lines=0-4      400     -                 InvalidHeaderValue
`;

for (const { range = '', status, 'content-range': told, body = '' } of rows(ranges)) {
  for (const name of ['Range', 'x-ms-range']) {
    test(`${name}: ${range} gives ${status} ${body}`, async (t) => {
      const { file } = await given(t, { file: 'a.txt' });
      const answer = file.get('', { [name]: range });
      if (status !== '206') {
        await refuses(answer, Number(status), body);
        return;
      }
      const got = await gives(answer, 206);
      assert.equal(got.text, body);
      assert.equal(header(got, 'content-range'), told);
    });
  }
}

test('x-ms-range wins over Range', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  const got = await gives(file.get('', { Range: 'bytes=0-0', 'x-ms-range': 'bytes=6-10' }), 206);
  assert.equal(got.text, 'world');
});

test('the MD5 of a range, of 4 MiB at most', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt', headers: { 'x-ms-content-md5': md5('whole') } });
  const sum = { 'x-ms-range-get-content-md5': 'true' };
  const got = await gives(file.get('', { Range: 'bytes=0-4', ...sum }), 206);
  assert.equal(header(got, 'content-md5'), md5('hello'));
  assert.equal(header(got, 'x-ms-content-md5'), md5('whole'));
  await refuses(file.get('', sum), 400, 'InvalidHeaderValue');
  const large = share.file('large');
  await gives(large.create(5 * 2 ** 20), 201);
  await refuses(large.get('', { Range: `bytes=0-${4 * 2 ** 20}`, ...sum }), 400, 'InvalidHeaderValue');
  const most = await gives(large.get('', { Range: `bytes=1-${4 * 2 ** 20}`, ...sum }), 206);
  assert.equal(header(most, 'content-md5'), md5(Buffer.alloc(4 * 2 ** 20)));
});

test('an empty file is empty, and has no range', async (t) => {
  const { file } = await given(t, { file: 'a.txt', content: '' });
  assert.equal(await file.text(), '');
  await refuses(file.get('', { Range: 'bytes=0-0' }), 416, 'InvalidRange');
});

test('holes between what was written are zeros', async (t) => {
  const { file } = await given(t);
  await gives(file.create(1_000_000), 201);
  await gives(file.write('one', 100), 201);
  await gives(file.write('two', 999_000), 201);
  const expected = Buffer.alloc(1_000_000);
  expected.write('one', 100);
  expected.write('two', 999_000);
  assert.ok((await gives(file.get(), 200)).body.equals(expected));
});

test('a structured body carries its own sums', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  const structured = { 'x-ms-structured-body': 'XSM/1.0; properties=crc64' };
  const got = await gives(file.get('', structured), 200);
  assert.equal(header(got, 'x-ms-structured-content-length'), '11');
  const { body } = got;
  assert.equal(body.length, 13 + 10 + 11 + 8 + 8);
  assert.equal(body.readBigUInt64LE(1), BigInt(body.length));
  assert.equal(body.subarray(23, 34).toString(), 'hello world');
  assert.ok(body.subarray(34, 42).equals(crc64Bytes(crc64(Buffer.from('hello world')))));
  await refuses(file.get('', { 'x-ms-structured-body': 'XSM/2.0' }), 400, 'InvalidHeaderValue');
});

test('what is not there, and what is a directory', async (t) => {
  const { share } = await given(t, { directory: 'd' });
  await refuses(share.file('no').get(), 404, 'ResourceNotFound');
  await refuses(share.file('no/no').get(), 404, 'ParentNotFound');
  await refuses(share.file('d').get(), 409, 'ResourceTypeMismatch');
});

test('a lease id that is sent must be right', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  await refuses(file.get('', { 'x-ms-lease-id': leaseA }), 412, 'LeaseNotPresentWithFileOperation');
});

test('a file in a snapshot is as it was', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt', content: 'before' });
  const first = await gives(file.head(), 200);
  const snapshot = await share.snapshot();
  await gives(file.write('after!'), 201);
  const old = await gives(file.get(`sharesnapshot=${snapshot}`), 200);
  assert.equal(old.text, 'before');
  for (const name of ['etag', 'last-modified', 'x-ms-file-id', 'x-ms-file-last-write-time']) {
    assert.equal(header(old, name), header(first, name), name);
  }
  assert.equal(await file.text(), 'after!');
});
