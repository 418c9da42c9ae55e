// Put Range, Clear Range, List Ranges.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { crc64, crc64Bytes } from '#src/base/crc64.js';
import { given, header, leaseA } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const md5 = (bytes: string | Buffer) => createHash('md5').update(bytes).digest('base64');

test('a range that is put', async (t) => {
  const { server, file } = await given(t, { file: 'a.txt' });
  const before = await gives(file.head(), 200);
  server.pass(3);
  const put = await gives(file.write('HELLO', 0, { 'Content-MD5': md5('HELLO') }), 201);
  assert.equal(header(put, 'content-md5'), md5('HELLO'));
  assert.equal(header(put, 'x-ms-request-server-encrypted'), 'true');
  assert.notEqual(header(put, 'x-ms-file-last-write-time'), header(before, 'x-ms-file-last-write-time'));
  assert.notEqual(header(put, 'etag'), header(before, 'etag'));
  assert.equal(await file.text(), 'HELLO world');
  const kept = await gives(file.write('x', 0, { 'x-ms-file-last-write-time': 'preserve' }), 201);
  assert.equal(header(kept, 'x-ms-file-last-write-time'), header(put, 'x-ms-file-last-write-time'));
});

test('before 2021-06-08 a write leaves the last write time, and tells none', async (t) => {
  const { server, file } = await given(t, { file: 'a.txt' });
  const before = await gives(file.head(), 200);
  server.pass(3);
  const put = await gives(file.write('x', 0, { 'x-ms-version': '2020-10-02' }), 201);
  assert.equal(put.headers.get('x-ms-file-last-write-time'), undefined);
  const after = await gives(file.head(), 200);
  assert.equal(header(after, 'x-ms-file-last-write-time'), header(before, 'x-ms-file-last-write-time'));
});

const writes = `
  range             write    body    status  refusal
  bytes=0-4         update   12345   201     -
  bytes=6-10        update   12345   201     -
  bytes=7-11        update   12345   416     InvalidRange
  bytes=0-4         update   1234    400     InvalidHeaderValue
  bytes=0-4         update   123456  400     InvalidHeaderValue
  bytes=0-          update   12345   400     InvalidHeaderValue
  bytes=4-0         update   12345   400     InvalidHeaderValue
  bytes=a-b         update   12345   400     InvalidHeaderValue
  bytes=0-4194304   update   12345   413     RequestBodyTooLarge
  bytes=0-4         append   12345   400     InvalidHeaderValue
  bytes=0-4         clear    12345   400     InvalidHeaderValue
  bytes=0-11        clear    -       416     InvalidRange
  bytes=0-10        clear    -       201     -
`;

for (const { range = '', write = '', body = '', status, refusal = '' } of rows(writes)) {
  test(`${write} ${range} with ${body} of a file of 11 bytes: ${status} ${refusal}`, async (t) => {
    const { file } = await given(t, { file: 'a.txt' });
    const headers = { 'x-ms-range': range, 'x-ms-write': write };
    const answer = file.put('comp=range', headers, body === '-' ? undefined : body);
    if (refusal === '-') await gives(answer, Number(status));
    else {
      await refuses(answer, Number(status), refusal);
      assert.equal(await file.text(), 'hello world');
    }
  });
}

test('what must be there, and sums that must fit', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  await refuses(file.put('comp=range', { 'x-ms-write': 'update' }, 'x'), 400, 'MissingRequiredHeader');
  await refuses(file.put('comp=range', { 'x-ms-range': 'bytes=0-0' }, 'x'), 400, 'MissingRequiredHeader');
  await refuses(file.write('x', 0, { 'Content-MD5': 'nonsense' }), 400, 'InvalidMd5');
  await refuses(file.write('x', 0, { 'Content-MD5': md5('y') }), 400, 'Md5Mismatch');
  await refuses(file.clear(0, 0, { 'Content-MD5': md5('') }), 400, 'InvalidHeaderValue');
  assert.equal(await file.text(), 'hello world');
});

test('a put in pieces of every size gives what was put', async (t) => {
  const { share } = await given(t);
  const file = share.file('f');
  const expected = Buffer.alloc(300_000);
  await gives(file.create(expected.length), 201);
  for (const [at, length] of [
    [0, 1],
    [511, 3],
    [4000, 4096],
    [5000, 4097],
    [6000, 100_000],
    [50_000, 10],
    [299_999, 1],
  ] as const) {
    const bytes = Buffer.alloc(length, (at % 250) + 1);
    bytes.copy(expected, at);
    await gives(file.write(bytes, at), 201);
  }
  assert.ok((await gives(file.get(), 200)).body.equals(expected));
});

test('4 MiB at once', async (t) => {
  const { share } = await given(t);
  const file = share.file('f');
  await gives(file.create(5 * 2 ** 20), 201);
  const bytes = Buffer.alloc(4 * 2 ** 20, 'abc');
  await gives(file.write(bytes, 100), 201);
  const got = await gives(file.get('', { Range: `bytes=100-${100 + bytes.length - 1}` }), 206);
  assert.ok(got.body.equals(bytes));
});

test('pages: what is written is allocated, what is cleared whole is a hole', async (t) => {
  const { share } = await given(t);
  const small = share.file('small');
  await gives(small.create(10), 201);
  await gives(small.write('Hello', 0), 201);
  await gives(small.write('World', 5), 201);
  await gives(small.clear(5, 9), 201);
  assert.deepEqual(await small.ranges(), ['0-9']);
  assert.equal((await small.get()).text, 'Hello\0\0\0\0\0');

  const odd = share.file('odd');
  await gives(odd.create(2049), 201);
  await gives(odd.write('12345', 1023), 201);
  assert.deepEqual(await odd.ranges(), ['512-1535']);

  const file = share.file('f');
  await gives(file.create(4096), 201);
  assert.deepEqual(await file.ranges(), []);
  await gives(file.write(Buffer.alloc(4096, 1)), 201);
  await gives(file.clear(1000, 3000), 201);
  assert.deepEqual(await file.ranges(), ['0-1023', '2560-4095']);
  assert.deepEqual(await file.ranges('', { 'x-ms-range': 'bytes=1023-2559' }), ['512-1023']);
  assert.deepEqual(await file.ranges('', { Range: 'bytes=1024-2559' }), []);
  const { body } = await file.get();
  assert.deepEqual([body[999], body[1000], body[3000], body[3001]], [1, 0, 0, 1]);
});

test('a listing of ranges tells the length, and refuses what lies beyond', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  const got = await gives(file.get('comp=rangelist'), 200);
  assert.equal(header(got, 'x-ms-content-length'), '11');
  await refuses(file.get('comp=rangelist', { Range: 'bytes=11-20' }), 416, 'InvalidRange');
  await refuses(file.get('comp=rangelist', { Range: 'nonsense' }), 400, 'InvalidHeaderValue');
});

test('what changed since a snapshot', async (t) => {
  const { share } = await given(t);
  const file = share.file('f');
  await gives(file.create(8192), 201);
  await gives(file.write(Buffer.alloc(2048, 1), 0), 201);
  await gives(file.write(Buffer.alloc(512, 1), 4096), 201);
  const first = await share.snapshot();
  await gives(file.write('x', 1024), 201);
  await gives(file.clear(0, 511), 201);
  const second = await share.snapshot();
  await gives(file.write('y', 8000), 201);
  await gives(file.clear(4096, 4607), 201);
  const since = (snapshot: string) => file.ranges(`prevsharesnapshot=${snapshot}`);
  assert.deepEqual(await since(first), ['cleared 0-511', '1024-1535', 'cleared 4096-4607', '7680-8191']);
  assert.deepEqual(await since(second), ['cleared 4096-4607', '7680-8191']);
  assert.deepEqual(await file.ranges(`sharesnapshot=${second}&prevsharesnapshot=${first}`), [
    'cleared 0-511',
    '1024-1535',
  ]);
  assert.deepEqual(await file.ranges(`sharesnapshot=${first}`), ['0-2047', '4096-4607']);
  await refuses(
    file.get(`comp=rangelist&sharesnapshot=${first}&prevsharesnapshot=${second}`),
    400,
    'InvalidQueryParameterValue',
  );
  await refuses(
    file.get('comp=rangelist&prevsharesnapshot=2020-01-01T00:00:00.0000000Z'),
    404,
    'ShareSnapshotNotFound',
  );
});

test('differences of a file that was made again, moved, or was not there', async (t) => {
  const { share } = await given(t, { file: 'a', content: 'one' });
  await gives(share.file('b').create(3), 201);
  const snapshot = await share.snapshot();
  const query = `prevsharesnapshot=${snapshot}`;
  await gives(share.file('b').delete(), 202);
  await gives(share.file('b').create(3), 201);
  await refuses(share.file('b').get(`comp=rangelist&${query}`), 409, 'FileGenerationMismatch');
  await gives(share.file('c').renameFrom(share.file('a')), 200);
  await refuses(share.file('c').get(`comp=rangelist&${query}`), 409, 'PreviousSnapshotNotFound');
  assert.deepEqual(await share.file('c').ranges(query, { 'x-ms-file-support-rename': 'true' }), []);
  await gives(share.file('new').create(3), 201);
  await refuses(share.file('new').get(`comp=rangelist&${query}`), 404, 'ResourceNotFound');
  await gives(share.file('c').create(1000), 201);
  await gives(share.file('c').write('x', 600), 201);
  const renamed = { 'x-ms-file-support-rename': 'true' };
  assert.deepEqual(await share.file('c').ranges(query, renamed), ['cleared 0-511', '512-999']);
});

test('a structured body is checked piece by piece', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  const data = Buffer.from('HELLO');
  const sum = crc64Bytes(crc64(data));
  const message = (checksum: Buffer) => {
    const head = Buffer.alloc(13);
    head.writeUInt8(1, 0);
    head.writeBigUInt64LE(BigInt(13 + 10 + data.length + 16), 1);
    head.writeUInt16LE(1, 9);
    head.writeUInt16LE(1, 11);
    const segment = Buffer.alloc(10);
    segment.writeUInt16LE(1, 0);
    segment.writeBigUInt64LE(BigInt(data.length), 2);
    return Buffer.concat([head, segment, data, checksum, sum]);
  };
  const headers = {
    'x-ms-range': 'bytes=0-4',
    'x-ms-write': 'update',
    'x-ms-structured-body': 'XSM/1.0; properties=crc64',
    'x-ms-structured-content-length': '5',
  };
  const put = await gives(file.put('comp=range', headers, message(sum)), 201);
  assert.equal(header(put, 'x-ms-structured-body'), 'XSM/1.0; properties=crc64');
  assert.equal(await file.text(), 'HELLO world');
  await refuses(file.put('comp=range', headers, message(Buffer.alloc(8))), 400, 'Crc64Mismatch');
  await refuses(file.put('comp=range', headers, message(sum).subarray(0, 20)), 400, 'InvalidInput');
});

test('a leased file is written only with its id', async (t) => {
  const { file } = await given(t, { file: 'a.txt', leased: true });
  await refuses(file.write('x'), 412, 'LeaseIdMissing');
  await refuses(file.clear(0, 0), 412, 'LeaseIdMissing');
  await gives(file.write('x', 0, { 'x-ms-lease-id': leaseA }), 201);
});

test('writes of many at once: each is whole', async (t) => {
  const { share } = await given(t);
  const file = share.file('f');
  await gives(file.create(10_000), 201);
  const writers = Array.from({ length: 12 }, (_, index) => file.write(Buffer.alloc(10_000, index + 1)));
  for (const answer of await Promise.all(writers)) assert.equal(answer.status, 201);
  const { body } = await gives(file.get(), 200);
  assert.ok(body.equals(Buffer.alloc(10_000, body[0])), 'all bytes are of one writer');
});
