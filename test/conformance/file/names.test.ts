// Names of files and directories: what they may be, dots at their end, case, and what an address may look like.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, Resource } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const bad = [
  'a:b',
  'a|b',
  'a<b',
  'a>b',
  'a*b',
  'a?b',
  'a"b',
  'a\u0001b',
  'a\u007fb',
  'con',
  'LPT1',
  'NUL',
  'clock$',
  'x'.repeat(256),
];

for (const name of bad) {
  test(`a file cannot be called ${JSON.stringify(name.slice(0, 20))}`, async (t) => {
    const { share } = await given(t);
    await refuses(share.file(name).create(0), 400, 'InvalidResourceName');
    await refuses(share.directory(name).put(), 400, 'InvalidResourceName');
  });
}

const good = ['con.txt', 'x'.repeat(255), 'a b', 'ä ö', '日本語', '%41', '#+&', '$x', '~', "o'clock", '😀'];

for (const name of good) {
  test(`a file can be called ${name.slice(0, 20)}`, async (t) => {
    const { share } = await given(t);
    await gives(share.file(name).create(0), 201);
    await gives(share.file(name).head(), 200);
    const { text } = await share.root.list();
    assert.match(text, /<File><Name>/);
  });
}

test('addresses that name nothing', async (t) => {
  const { server } = await given(t);
  const headers = { 'x-ms-type': 'file', 'x-ms-content-length': '0' };
  await refuses(new Resource(server, '/files/a%2Fb').put('', headers), 404, 'ParentNotFound');
  await refuses(new Resource(server, '/files/a%5Cb').put('', headers), 400, 'InvalidResourceName');
  await refuses(new Resource(server, '/files/a/').put('', headers), 400, 'InvalidUri');
  await refuses(new Resource(server, '/files/../a').put('', headers), 400, 'InvalidUri');
  await refuses(new Resource(server, '/files/%2E/a').put('', headers), 400, 'InvalidUri');
  await refuses(new Resource(server, '/files/a%ff').put('', headers), 400, 'InvalidUri');
  await gives(new Resource(server, '/files//a').put('', headers), 201);
  await gives(new Resource(server, '/files/a').head(), 200);
});

test('a path has 2048 characters and 250 directories at most', async (t) => {
  const { share } = await given(t);
  const long = Array.from({ length: 9 }, () => 'x'.repeat(255)).join('/');
  const tooLong = await refuses(share.file(long).create(0), 400, 'InvalidFileOrDirectoryPathName');
  assert.match(tooLong.text, /too long/);
  const deep = Array.from({ length: 252 }, () => 'x').join('/');
  const tooDeep = await refuses(share.file(deep).create(0), 400, 'InvalidFileOrDirectoryPathName');
  assert.match(tooDeep.text, /too many subdirectories/);
});

test('dots at the end of names count only where the request says so', async (t) => {
  const { share } = await given(t);
  const dots = { 'x-ms-allow-trailing-dot': 'true' };
  await gives(share.directory('dir..').put(), 201);
  await gives(share.file('dir/a.').create(1), 201);
  assert.deepEqual(await share.root.names(), ['dir']);
  assert.deepEqual(await share.directory('dir').names(), ['a']);
  await gives(share.file('dir/a.').create(2, dots), 201);
  assert.deepEqual(await share.directory('dir').names(), ['a', 'a.']);
  assert.equal(header(await gives(share.file('dir./a...').head(), 200), 'content-length'), '1');
  assert.equal(header(await gives(share.file('dir/a.').head('', dots), 200), 'content-length'), '2');
  await refuses(share.file('dir./a.').head('', dots), 404, 'ParentNotFound');
  await refuses(share.file('...').create(0), 400, 'InvalidResourceName');
  await gives(share.file('...').create(0, dots), 201);
  const renamed = { 'x-ms-source-allow-trailing-dot': 'true' };
  await gives(share.file('dir/b').renameFrom(share.file('dir/a.'), renamed), 200);
  assert.deepEqual(await share.directory('dir').names(), ['a', 'b']);
});

test('very many dots take no time', async (t) => {
  const { share } = await given(t);
  const began = performance.now();
  await refuses(share.file(`${'.'.repeat(60_000)}a.`).head(), 400, 'InvalidFileOrDirectoryPathName');
  assert.ok(performance.now() - began < 5000, 'it took 14 seconds once');
});

test('case is kept and does not matter', async (t) => {
  const { share } = await given(t, { file: 'Docs/ReadMe.TXT', content: 'x' });
  assert.equal(await share.file('docs/readme.txt').text(), 'x');
  await gives(share.file('DOCS/README.TXT').create(0), 201);
  assert.deepEqual(await share.directory('docs').names(), ['ReadMe.TXT']);
});

test('operations that are not there', async (t) => {
  const { share, file } = await given(t, { file: 'a' });
  await refuses(share.get('comp=nonsense'), 400, 'InvalidQueryParameterValue');
  await refuses(file.get('comp=nonsense'), 400, 'InvalidQueryParameterValue');
  await refuses(file.ask('POST'), 405, 'UnsupportedHttpVerb');
  await refuses(file.put('restype=symboliclink'), 400, 'InvalidQueryParameterValue');
  await refuses(file.put('restype=hardlink'), 400, 'InvalidQueryParameterValue');
  await refuses(file.get('restype=symboliclink'), 400, 'InvalidQueryParameterValue');
});
