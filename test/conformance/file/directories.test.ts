// Create Directory, Get Directory Properties, Get and Set Directory Metadata, Set Directory Properties, Delete Directory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/;

test('a directory that is created', async (t) => {
  const { share } = await given(t);
  const made = await gives(share.directory('Docs').put('', { 'x-ms-meta-a': 'b' }), 201);
  assert.equal(header(made, 'x-ms-file-attributes'), 'Directory');
  assert.equal(header(made, 'x-ms-file-parent-id'), '0');
  assert.equal(header(made, 'x-ms-request-server-encrypted'), 'true');
  assert.match(header(made, 'x-ms-file-permission-key'), /^\d+\*\d+$/);
  for (const name of ['creation', 'last-write', 'change']) {
    assert.match(header(made, `x-ms-file-${name}-time`), time);
  }
  const got = await gives(share.directory('dOCS').get(), 200);
  assert.equal(header(got, 'etag'), header(made, 'etag'));
  assert.equal(header(got, 'x-ms-file-id'), header(made, 'x-ms-file-id'));
  assert.equal(header(got, 'x-ms-meta-a'), 'b');
  assert.equal(header(got, 'x-ms-server-encrypted'), 'true');
  assert.deepEqual(await share.root.names(), ['Docs']);
});

test('attributes, times and permission as they are given', async (t) => {
  const { share } = await given(t);
  const when = '2001-02-03T04:05:06.1234567Z';
  const sddl = 'O:SYG:SYD:(A;;FA;;;SY)';
  const made = await gives(
    share.directory('d').put('', {
      'x-ms-file-attributes': 'hidden|ReadOnly',
      'x-ms-file-creation-time': when,
      'x-ms-file-last-write-time': when,
      'x-ms-file-change-time': when,
      'x-ms-file-permission': sddl,
    }),
    201,
  );
  assert.equal(header(made, 'x-ms-file-attributes'), 'ReadOnly | Hidden | Directory');
  for (const name of ['creation', 'last-write', 'change']) {
    assert.equal(header(made, `x-ms-file-${name}-time`), when);
  }
  const key = header(made, 'x-ms-file-permission-key');
  const got = await gives(share.get('comp=filepermission', { 'x-ms-file-permission-key': key }), 200);
  assert.deepEqual(JSON.parse(got.text), { permission: sddl });
});

test('refusals of creating', async (t) => {
  const { share } = await given(t, { file: 'file' });
  await gives(share.directory('d').put(), 201);
  await refuses(share.directory('D').put(), 409, 'ResourceAlreadyExists');
  await refuses(share.directory('FILE').put(), 409, 'ResourceAlreadyExists');
  await refuses(share.directory('no/d').put(), 404, 'ParentNotFound');
  await refuses(share.directory('file/d').put(), 404, 'ParentNotFound');
  await refuses(share.directory('x').put('', { 'x-ms-file-attributes': 'Shiny' }), 400, 'InvalidHeaderValue');
  await refuses(
    share.directory('x').put('', { 'x-ms-file-creation-time': 'soon' }),
    400,
    'InvalidHeaderValue',
  );
  await refuses(
    share.directory('x').put('', { 'x-ms-file-permission': 'O:XX' }),
    400,
    'FileInvalidPermission',
  );
  await refuses(
    share.directory('x').put('', { 'x-ms-file-permission-key': '1*2' }),
    400,
    'FileInvalidPermissionKey',
  );
  const both = { 'x-ms-file-permission': 'inherit', 'x-ms-file-permission-key': '1*2' };
  await refuses(share.directory('x').put('', both), 400, 'InvalidHeaderValue');
  await refuses(share.directory('x').put('', { 'x-ms-mode': '0777' }), 400, 'UnsupportedHeader');
  await refuses(
    share.directory('x').put('sharesnapshot=2020-01-01T00:00:00.0000000Z'),
    400,
    'InvalidQueryParameterValue',
  );
  assert.deepEqual(await share.root.names(), ['d', 'file']);
});

test('versions that require all SMB headers', async (t) => {
  const { share } = await given(t);
  const version = { 'x-ms-version': '2020-02-10' };
  await refuses(share.directory('d').put('', version), 400, 'MissingRequiredHeader');
  const headers = {
    'x-ms-file-attributes': 'None',
    'x-ms-file-creation-time': 'now',
    'x-ms-file-last-write-time': 'now',
    'x-ms-file-permission': 'inherit',
  };
  await gives(share.directory('d').put('', { ...version, ...headers }), 201);
  const old = await gives(share.directory('e').put('', { 'x-ms-version': '2018-11-09' }), 201);
  assert.equal(old.headers.get('x-ms-file-id'), undefined);
});

test('what is missing, and what is a file', async (t) => {
  const { share } = await given(t, { file: 'd/file' });
  await refuses(share.directory('no').get(), 404, 'ResourceNotFound');
  await refuses(share.directory('no/no').get(), 404, 'ParentNotFound');
  // As az relies on, whatever the reference says.
  await refuses(share.directory('d/file').get(), 404, 'ResourceNotFound');
  await refuses(share.directory('d/file').list(), 404, 'ResourceNotFound');
  await refuses(share.directory('d/file').delete(), 409, 'ResourceTypeMismatch');
  await refuses(share.directory('d/file').put('comp=metadata'), 409, 'ResourceTypeMismatch');
});

test('metadata and properties are set, each with a new ETag', async (t) => {
  const { share } = await given(t, { directory: 'd' });
  const directory = share.directory('d');
  const before = await gives(directory.head(), 200);
  await gives(directory.put('comp=metadata', { 'x-ms-meta-K': 'v' }), 200);
  const after = await gives(directory.get('comp=metadata'), 200);
  assert.equal(header(after, 'x-ms-meta-k'), 'v');
  assert.notEqual(header(after, 'etag'), header(before, 'etag'));
  const set = await gives(directory.put('comp=properties', { 'x-ms-file-attributes': 'Hidden' }), 200);
  assert.equal(header(set, 'x-ms-file-attributes'), 'Hidden | Directory');
  assert.equal(header(set, 'x-ms-file-creation-time'), header(before, 'x-ms-file-creation-time'));
  const kept = await gives(directory.put('comp=properties', { 'x-ms-file-attributes': 'preserve' }), 200);
  assert.equal(header(kept, 'x-ms-file-attributes'), 'Hidden | Directory');
  const none = await gives(directory.put('comp=properties', { 'x-ms-file-attributes': 'None' }), 200);
  assert.equal(header(none, 'x-ms-file-attributes'), 'Directory');
});

test('only an empty directory is deleted, and never the root', async (t) => {
  const { share } = await given(t, { file: 'd/file' });
  await refuses(share.directory('d').delete(), 409, 'DirectoryNotEmpty');
  await gives(share.file('d/file').delete(), 202);
  await gives(share.directory('d').delete(), 202);
  await refuses(share.directory('d').delete(), 404, 'ResourceNotFound');
  await refuses(share.root.delete(), 405, 'UnsupportedHttpVerb');
  await gives(share.directory('r').put('', { 'x-ms-file-attributes': 'ReadOnly' }), 201);
  await refuses(share.directory('r').delete(), 409, 'CannotDeleteFileOrDirectory');
});

test('a directory that is deleted while something is put into it: one of the two fails', async (t) => {
  const { share } = await given(t);
  for (let round = 0; round < 20; round++) {
    const directory = share.directory(`d${round}`);
    await gives(directory.put(), 201);
    const [removed, added] = await Promise.all([directory.delete(), share.file(`d${round}/f`).create(0)]);
    const outcome = `${removed.status} ${added.status}`;
    assert.ok(['202 404', '409 201'].includes(outcome), outcome);
  }
});
