import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { crc64, crc64Bytes } from '#src/base/crc64.js';
import { type File, given, type Headers, header, leaseA } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

function putFrom(target: File, source: File, headers: Headers = {}) {
  return target.put('comp=range', {
    'x-ms-copy-source': source.url,
    'x-ms-source-range': 'bytes=6-10',
    'x-ms-range': 'bytes=0-4',
    'x-ms-write': 'update',
    ...headers,
  });
}

const sum = crc64Bytes(crc64(Buffer.from('world'))).toString('base64');
const otherSum = crc64Bytes(crc64(Buffer.from('other'))).toString('base64');

test('bytes of another file', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const target = share.file('target');
  await gives(target.create(5), 201);
  const put = await gives(putFrom(target, file), 201);
  assert.equal(header(put, 'x-ms-content-crc64'), sum);
  assert.equal(await target.text(), 'world');
  await gives(putFrom(file, file), 201);
  assert.equal(await file.text(), 'world world');
});

test('bytes of a snapshot', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const snapshot = await share.snapshot();
  await gives(file.write('xxxxxxxxxxx'), 201);
  const target = share.file('target');
  await gives(target.create(5), 201);
  await gives(putFrom(target, file, { 'x-ms-copy-source': `${file.url}?sharesnapshot=${snapshot}` }), 201);
  assert.equal(await target.text(), 'world');
});

const wrong = `
  header                            value            status  refusal
  x-ms-source-range                 bytes=0-3        400     InvalidHeaderValue
  x-ms-source-range                 bytes=0-         400     InvalidHeaderValue
  x-ms-source-range                 nonsense         400     InvalidHeaderValue
  x-ms-source-range                 bytes=7-11       416     CannotVerifyCopySource
  x-ms-write                        clear            400     InvalidHeaderValue
  x-ms-range                        bytes=1-5        416     InvalidRange
  x-ms-copy-source                  nonsense         400     InvalidHeaderValue
  x-ms-source-content-crc64         AAAAAAAAAAA=     400     Crc64Mismatch
  x-ms-source-if-match-crc64        AAAAAAAAAAA=     412     ConditionNotMet
`;

for (const { header: name = '', value = '', status, refusal = '' } of rows(wrong)) {
  test(`${name}: ${value} gives ${status} ${refusal}`, async (t) => {
    const { share, file } = await given(t, { file: 'a.txt' });
    const target = share.file('target');
    await gives(target.create(5), 201);
    await refuses(putFrom(target, file, { [name]: value }), Number(status), refusal);
    assert.deepEqual([...(await target.get()).body], [0, 0, 0, 0, 0]);
  });
}

test('sums that must fit, and those that must not', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const target = share.file('target');
  await gives(target.create(5), 201);
  await gives(putFrom(target, file, { 'x-ms-source-content-crc64': sum }), 201);
  await gives(putFrom(target, file, { 'x-ms-source-if-match-crc64': sum }), 201);
  await refuses(putFrom(target, file, { 'x-ms-source-if-none-match-crc64': sum }), 412, 'ConditionNotMet');
  await gives(putFrom(target, file, { 'x-ms-source-if-none-match-crc64': otherSum }), 201);
});

test('a source that is not there, or more than 4 MiB of it', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const missing = await refuses(putFrom(file, share.file('no')), 404, 'CannotVerifyCopySource');
  assert.match(
    missing.text,
    /<CopySourceStatusCode>404<\/CopySourceStatusCode><CopySourceErrorCode>ResourceNotFound</,
  );
  const range = 'bytes=0-4194304';
  const large = { 'x-ms-source-range': range, 'x-ms-range': range };
  await refuses(putFrom(file, file, large), 413, 'RequestBodyTooLarge');
});

test('a leased target needs its id', async (t) => {
  const { file } = await given(t, { file: 'a.txt', leased: true });
  await refuses(putFrom(file, file), 412, 'LeaseIdMissing');
  await gives(putFrom(file, file, { 'x-ms-lease-id': leaseA }), 201);
});
