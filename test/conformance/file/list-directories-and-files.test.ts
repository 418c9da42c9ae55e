import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('one level, files and directories together, in the order of their names in upper case', async (t) => {
  const { share } = await given(t);
  for (const name of ['b', 'C', '_x', 'Z']) await gives(share.file(name).create(1), 201);
  for (const name of ['a', 'D']) await gives(share.directory(name).put(), 201);
  await gives(share.file('a/below').create(1), 201);
  assert.deepEqual(await share.root.names(), ['a', 'b', 'C', 'D', 'Z', '_x']);
  assert.deepEqual(await share.directory('A').names(), ['below']);
  assert.deepEqual(await share.root.names('prefix=d'), ['D']);
});

test('pages go on where the last one ended', async (t) => {
  const { share } = await given(t);
  for (let at = 0; at < 7; at++) await gives(share.file(`f${at}`).create(at), 201);
  const seen: string[] = [];
  let marker = '';
  let pages = 0;
  do {
    const { text } = await gives(share.root.list(`maxresults=3${marker && `&marker=${marker}`}`), 200);
    seen.push(...[...text.matchAll(/<Name>([^<]*)</g)].map(([, name = '']) => name));
    marker = /<NextMarker>([^<]*)</.exec(text)?.[1] ?? '';
    pages++;
  } while (marker !== '');
  assert.deepEqual(seen, ['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6']);
  assert.equal(pages, 3);
});

test('what a listing includes', async (t) => {
  const { share } = await given(t, { file: 'docs/a.txt', content: 'hello' });
  const plain = (await gives(share.directory('docs').list(), 200)).text;
  assert.match(plain, /ShareName="files" DirectoryPath="docs"><DirectoryId>\d+<\/DirectoryId><Entries>/);
  assert.match(
    plain,
    /<File><Name>a.txt<\/Name><FileId>\d+<\/FileId><Properties><Content-Length>5<\/Content-Length><\/Properties><\/File>/,
  );
  const all = (
    await gives(share.directory('docs').list('include=Timestamps,Etag,Attributes,PermissionKey'), 200)
  ).text;
  assert.match(
    all,
    /<Content-Length>5<\/Content-Length><CreationTime>[^<]*<\/CreationTime><LastAccessTime>[^<]*<\/LastAccessTime><LastWriteTime>[^<]*<\/LastWriteTime><ChangeTime>[^<]*<\/ChangeTime><Last-Modified>[^<]*<\/Last-Modified><Etag>"0x[^"]*"<\/Etag><\/Properties><Attributes>Archive<\/Attributes><PermissionKey>\d+\*\d+<\/PermissionKey>/,
  );
  const old = (await gives(share.directory('docs').list('', { 'x-ms-version': '2019-02-02' }), 200)).text;
  assert.doesNotMatch(old, /FileId|DirectoryId/);
  const extended = { 'x-ms-version': '2020-04-08', 'x-ms-file-extended-info': 'true' };
  assert.match((await gives(share.directory('docs').list('', extended), 200)).text, /<FileId>/);
});

test('names that XML cannot carry are encoded and say so', async (t) => {
  const { share } = await given(t);
  await gives(share.file('file\ufffe').create(0), 201);
  const { text } = await gives(share.root.list(`prefix=${encodeURIComponent('file\ufffe')}`), 200);
  assert.match(text, /<Name Encoded="true">file%EF%BF%BE<\/Name>/);
  assert.match(text, /<Prefix Encoded="true">file%EF%BF%BE<\/Prefix>/);
});

test('a snapshot is listed as it was', async (t) => {
  const { share } = await given(t, { file: 'docs/a', directory: 'docs' });
  await gives(share.file('docs/b').create(0), 201);
  const snapshot = await share.snapshot();
  await gives(share.file('docs/a').delete(), 202);
  await gives(share.file('docs/c').create(0), 201);
  await gives(share.file('docs/moved').renameFrom(share.file('docs/b')), 200);
  assert.deepEqual(await share.directory('docs').names(), ['c', 'moved']);
  assert.deepEqual(await share.directory('docs').names(`sharesnapshot=${snapshot}`), ['a', 'b']);
  assert.deepEqual(await share.directory('docs').names(`sharesnapshot=${snapshot}&prefix=B`), ['b']);
});

test('what is no listing is refused', async (t) => {
  const { share } = await given(t);
  await refuses(share.root.list('maxresults=0'), 400, 'OutOfRangeQueryParameterValue');
  await refuses(share.root.list('include=Everything'), 400, 'InvalidQueryParameterValue');
  await refuses(share.root.list('marker=%21%21'), 400, 'InvalidQueryParameterValue');
  await refuses(share.directory('no').list(), 404, 'ResourceNotFound');
  await refuses(share.root.list('sharesnapshot=2020-01-01T00:00:00.0000000Z'), 404, 'ShareSnapshotNotFound');
});

test('the path of a directory that XML cannot carry', async (t) => {
  const { share } = await given(t, { directory: 'a/x\ufffe y' });
  const { text } = await gives(share.directory('a/x\ufffe y').list(), 200);
  assert.match(text, / DirectoryPath="a\/x%EF%BF%BE%20y" Encoded="true">/);
  const plain = await gives(share.directory('a').list(), 200);
  assert.match(plain.text, / DirectoryPath="a">/);
});
