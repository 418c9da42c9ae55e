import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { given, header, Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('a share has a quota of 5120 GiB, a tier and an empty root with id 0', async (t) => {
  const { share } = await given(t);
  const got = await gives(share.get(), 200);
  assert.equal(header(got, 'x-ms-share-quota'), '5120');
  assert.equal(header(got, 'x-ms-access-tier'), 'TransactionOptimized');
  assert.equal(header(got, 'x-ms-enabled-protocols'), 'SMB');
  assert.equal(header(got, 'x-ms-lease-state'), 'available');
  const root = await gives(share.root.get(), 200);
  assert.equal(header(root, 'x-ms-file-id'), '0');
  assert.equal(header(root, 'x-ms-file-attributes'), 'Directory');
  assert.deepEqual(await share.root.names(), []);
});

test('what the request says is kept', async (t) => {
  const { server } = await given(t);
  const share = new Share(server, 'second');
  const headers = { 'x-ms-share-quota': '12', 'x-ms-access-tier': 'Cool', 'x-ms-meta-Colour': 'blue' };
  const made = await gives(share.put('', headers), 201);
  assert.equal(header(made, 'x-ms-share-quota'), '12');
  assert.match(header(made, 'etag'), /^"0x[0-9A-F]{15}"$/);
  const got = await gives(share.head(), 200);
  assert.equal(header(got, 'etag'), header(made, 'etag'));
  assert.equal(header(got, 'x-ms-access-tier'), 'Cool');
  assert.equal(header(got, 'x-ms-meta-colour'), 'blue');
});

test('a name is taken once', async (t) => {
  const { share } = await given(t);
  await refuses(share.put(), 409, 'ShareAlreadyExists');
});

test('many that create the same share: one succeeds', async (t) => {
  const { server } = await given(t);
  const answers = await Promise.all(Array.from({ length: 8 }, () => new Share(server, 'race').put()));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409]);
});

const names = `
  name                                                                refusal
  ab                                                                  OutOfRangeInput
  a234567890123456789012345678901234567890123456789012345678901234    OutOfRangeInput
  Files                                                               InvalidResourceName
  -files                                                              InvalidResourceName
  files-                                                              InvalidResourceName
  fi--les                                                             InvalidResourceName
  fi_les                                                              InvalidResourceName
`;

for (const { name = '', refusal = '' } of rows(names)) {
  test(`a share cannot be called ${name.slice(0, 20)}: ${refusal}`, async (t) => {
    const { server } = await given(t);
    await refuses(new Share(server, name).put(), 400, refusal);
  });
}

const badHeaders = `
  header                                         value
  x-ms-share-quota                               0
  x-ms-share-quota                               102401
  x-ms-share-quota                               many
  x-ms-access-tier                               Archive
  x-ms-enabled-protocols                         NFS
  x-ms-enabled-protocols                         FTP
  x-ms-root-squash                               RootSquash
  x-ms-enable-snapshot-virtual-directory-access  perhaps
`;

for (const { header: name = '', value = '' } of rows(badHeaders)) {
  test(`${name}: ${value} is refused`, async (t) => {
    const { server } = await given(t);
    const share = new Share(server, 'second');
    await refuses(share.put('', { [name]: value }), 400, 'InvalidHeaderValue');
    await refuses(share.get(), 404, 'ShareNotFound');
  });
}

test('conditions are not for this service', async (t) => {
  const { share } = await given(t);
  for (const name of ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since']) {
    await refuses(share.get('', { [name]: '*' }), 400, 'ConditionHeadersNotSupported');
  }
});

test('a snapshot cannot be created so', async (t) => {
  const { server } = await given(t);
  const path = '/other?restype=share&sharesnapshot=2020-01-01T00:00:00.0000000Z';
  await refuses(server.ask({ method: 'PUT', path }), 400, 'InvalidQueryParameterValue');
});
