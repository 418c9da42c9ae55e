import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { given, header, leaseA, leaseB } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('a new file is zeros that take no space', async (t) => {
  const { share, file } = await given(t);
  const made = await gives(file.create(1000, { 'x-ms-content-type': 'text/plain', 'x-ms-meta-a': 'b' }), 201);
  assert.equal(header(made, 'x-ms-file-attributes'), 'Archive');
  assert.equal(header(made, 'x-ms-request-server-encrypted'), 'true');
  const got = await gives(file.get(), 200);
  assert.ok(got.body.equals(Buffer.alloc(1000)));
  assert.equal(header(got, 'content-type'), 'text/plain');
  assert.equal(header(got, 'x-ms-meta-a'), 'b');
  assert.equal(header(got, 'x-ms-type'), 'File');
  assert.deepEqual(await file.ranges(), []);
  assert.equal(await share.usage(), 1000);
});

test('overwriting: zeros, new properties and metadata, the same id and lease', async (t) => {
  const { file } = await given(t, { file: 'a.txt', leased: true });
  const lease = { 'x-ms-lease-id': leaseA };
  await gives(file.setMetadata({ 'x-ms-meta-old': '1', ...lease }), 200);
  const before = await gives(file.head(), 200);
  const made = await gives(file.create(3, { 'x-ms-meta-new': '2', ...lease }), 201);
  assert.equal(header(made, 'x-ms-file-id'), header(before, 'x-ms-file-id'));
  const after = await gives(file.get(), 200);
  assert.deepEqual([...after.body], [0, 0, 0]);
  assert.equal(after.headers.get('x-ms-meta-old'), undefined);
  assert.equal(header(after, 'x-ms-meta-new'), '2');
  assert.equal(header(after, 'x-ms-lease-state'), 'leased');
  assert.notEqual(header(after, 'etag'), header(before, 'etag'));
  await refuses(file.create(3), 412, 'LeaseIdMissing');
  await refuses(file.create(3, { 'x-ms-lease-id': leaseB }), 412, 'LeaseIdMismatchWithFileOperation');
});

test('a lease id for a file that is not there', async (t) => {
  const { file } = await given(t);
  await refuses(file.create(0, { 'x-ms-lease-id': leaseA }), 412, 'LeaseNotPresentWithFileOperation');
  await refuses(file.head(), 404, 'ResourceNotFound');
});

test('the first bytes may come along, in versions that know it', async (t) => {
  const { file } = await given(t);
  const headers = { 'x-ms-type': 'file', 'x-ms-content-length': '10' };
  const made = await gives(file.put('', { ...headers, 'x-ms-version': '2026-02-06' }, 'hello'), 201);
  assert.equal(header(made, 'content-md5'), 'XUFAKrxLKna5cZ2REBfFkg==');
  assert.equal((await file.get()).text, 'hello\0\0\0\0\0');
  await refuses(
    file.put('', { ...headers, 'x-ms-version': '2025-01-05' }, 'hello'),
    400,
    'InvalidHeaderValue',
  );
  const short = { 'x-ms-type': 'file', 'x-ms-content-length': '3' };
  await refuses(file.put('', short, 'hello'), 416, 'InvalidRange');
  await refuses(
    file.put('', { ...headers, 'Content-MD5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, 'hello'),
    400,
    'Md5Mismatch',
  );
});

const wrong = `
  header                     value                  refusal
  x-ms-type                  directory              InvalidHeaderValue
  x-ms-content-length        -1                     InvalidHeaderValue
  x-ms-content-length        ten                    InvalidHeaderValue
  x-ms-content-length        4398046511105          OutOfRangeInput
  x-ms-content-md5           short                  InvalidMd5
  x-ms-file-attributes       Directory              InvalidHeaderValue
  x-ms-file-attributes       None|Archive           InvalidHeaderValue
  x-ms-file-attributes       preserve               InvalidHeaderValue
  x-ms-file-creation-time    2020-02-30T00:00:00Z   InvalidHeaderValue
  x-ms-file-creation-time    1600-12-31T00:00:00Z   InvalidHeaderValue
  x-ms-file-last-write-time  source                 InvalidHeaderValue
  x-ms-file-permission       preserve               FileInvalidPermission
  x-ms-meta-a-b              1                      InvalidMetadata
  x-ms-lease-id              nonsense               InvalidHeaderValue
  x-ms-allow-trailing-dot    maybe                  InvalidHeaderValue
  x-ms-owner                 1                      UnsupportedHeader
`;

for (const { header: name = '', value = '', refusal = '' } of rows(wrong)) {
  test(`${name}: ${value} is refused as ${refusal}`, async (t) => {
    const { file, share } = await given(t);
    await refuses(file.create(10, { [name]: value }), 400, refusal);
    assert.deepEqual(await share.root.names(), []);
  });
}

test('what must be there', async (t) => {
  const { file } = await given(t);
  await refuses(file.put('', { 'x-ms-content-length': '1' }), 400, 'MissingRequiredHeader');
  await refuses(file.put('', { 'x-ms-type': 'file' }), 400, 'MissingRequiredHeader');
});

test('where it cannot be', async (t) => {
  const { share, directory } = await given(t, { directory: 'd' });
  await refuses(share.file('no/a').create(0), 404, 'ParentNotFound');
  await refuses(share.file('d').create(0), 409, 'ResourceTypeMismatch');
  assert.ok(directory);
  await refuses(
    share
      .file('a')
      .put('sharesnapshot=2020-01-01T00:00:00.0000000Z', { 'x-ms-type': 'file', 'x-ms-content-length': '0' }),
    400,
    'InvalidQueryParameterValue',
  );
});

test('attributes: archive is added, unless the request restores', async (t) => {
  const { share } = await given(t);
  const made = await gives(share.file('a').create(0, { 'x-ms-file-attributes': 'ReadOnly' }), 201);
  assert.equal(header(made, 'x-ms-file-attributes'), 'ReadOnly | Archive');
  const restored = await gives(
    share
      .file('b')
      .create(0, { 'x-ms-file-attributes': 'ReadOnly', 'x-ms-file-property-semantics': 'Restore' }),
    201,
  );
  assert.equal(header(restored, 'x-ms-file-attributes'), 'ReadOnly');
  const none = await gives(
    share.file('c').create(0, { 'x-ms-file-attributes': 'None', 'x-ms-file-property-semantics': 'Restore' }),
    201,
  );
  assert.equal(header(none, 'x-ms-file-attributes'), 'None');
});

test('what a file inherits from its directory', async (t) => {
  const { share } = await given(t);
  const sddl = 'O:SYG:SYD:(A;OICI;FA;;;BA)(A;OI;GR;;;BU)(A;CI;FA;;;SY)(A;;FA;;;WD)';
  await gives(share.directory('d').put('', { 'x-ms-file-permission': sddl }), 201);
  const told = async (key: string) =>
    JSON.parse((await share.get('comp=filepermission', { 'x-ms-file-permission-key': key })).text).permission;
  const file = await gives(share.file('d/f').create(0), 201);
  assert.equal(
    await told(header(file, 'x-ms-file-permission-key')),
    'O:SYG:SYD:AI(A;ID;FA;;;BA)(A;ID;FR;;;BU)',
  );
  const sub = await gives(share.directory('d/s').put(), 201);
  assert.equal(
    await told(header(sub, 'x-ms-file-permission-key')),
    'O:SYG:SYD:AI(A;OICIID;FA;;;BA)(A;OIIOID;GR;;;BU)(A;CIID;FA;;;SY)',
  );
});
