// List Handles, Force Close Handles.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { access } from '#src/services/file/access.js';
import { given, header } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('a handle and all that is told of it', async (t) => {
  const { file, clients } = await given(t, { file: 'docs/a b.txt' });
  const id = await file.id();
  const client = await clients.open(id, { access: access.readData | access.delete });
  const { text } = await gives(file.get('comp=listhandles'), 200);
  const parentId = header(await file.head(), 'x-ms-file-parent-id');
  const handle = `<Handle><HandleId>${client.id}</HandleId><Path>docs/a b.txt</Path><FileId>${id}</FileId><ParentId>${parentId}</ParentId><SessionId>77</SessionId><ClientIp>10.0.0.1:1234</ClientIp><ClientName>HOST</ClientName><OpenTime>Fri, 02 Jan 2026 00:00:00 GMT</OpenTime><AccessRightList><AccessRight>Read</AccessRight><AccessRight>Delete</AccessRight></AccessRightList></Handle>`;
  assert.ok(
    text.endsWith(`<EnumerationResults><Entries>${handle}</Entries><NextMarker /></EnumerationResults>`),
    text,
  );
  await client.close();
  const none = await gives(file.get('comp=listhandles'), 200);
  assert.match(none.text, /<EnumerationResults><Entries \/><NextMarker \/><\/EnumerationResults>/);
});

test('a directory: its own handles, and with all that is below', async (t) => {
  const { share, file, clients, directory } = await given(t, { file: 'docs/sub/a', directory: 'docs' });
  const own = await clients.open(BigInt(header(await directory.head(), 'x-ms-file-id')), {
    access: access.readAttributes,
  });
  const below = await clients.open(await file.id());
  const ids = async (resource: typeof directory, headers = {}) => {
    const { text } = await gives(resource.get('comp=listhandles', headers), 200);
    return [...text.matchAll(/<HandleId>(\d+)</g)].map(([, id]) => BigInt(id ?? 0));
  };
  const all = { 'x-ms-recursive': 'true' };
  assert.deepEqual(await ids(directory), [own.id]);
  assert.deepEqual(await ids(directory, all), [own.id, below.id]);
  assert.deepEqual(await ids(share.root), []);
  assert.deepEqual(await ids(share.root, all), [own.id, below.id]);
  await refuses(file.get('comp=listhandles', all), 400, 'InvalidHeaderValue');
  await own.close();
  await below.close();
});

test('pages of handles', async (t) => {
  const { file, clients } = await given(t, { file: 'a' });
  const id = await file.id();
  const opened = [await clients.open(id), await clients.open(id), await clients.open(id)];
  const first = (await gives(file.get('comp=listhandles&maxresults=2'), 200)).text;
  const marker = /<NextMarker>(\d+)</.exec(first)?.[1];
  assert.equal(marker, String(opened[2]?.id));
  const second = (await gives(file.get(`comp=listhandles&marker=${marker}`), 200)).text;
  assert.equal([...second.matchAll(/<Handle>/g)].length, 1);
  await refuses(file.get('comp=listhandles&maxresults=0'), 400, 'OutOfRangeQueryParameterValue');
  await refuses(file.get('comp=listhandles&marker=x'), 400, 'InvalidQueryParameterValue');
  for (const client of opened) await client.close();
});

test('closing one, all, and none', async (t) => {
  const { file, clients, directory, service } = await given(t, { file: 'docs/a', directory: 'docs' });
  const id = await file.id();
  const opened = [await clients.open(id), await clients.open(id), await clients.open(id)];
  const close = async (resource: typeof file | typeof directory, headers: Record<string, string>) =>
    header(
      await gives(resource.put('comp=forceclosehandles', headers), 200),
      'x-ms-number-of-handles-closed',
    );
  assert.equal(await close(file, { 'x-ms-handle-id': '424242' }), '0');
  assert.equal(await close(file, { 'x-ms-handle-id': String(opened[1]?.id) }), '1');
  assert.equal(await close(directory, { 'x-ms-handle-id': '*' }), '0');
  assert.equal(await close(directory, { 'x-ms-handle-id': '*', 'x-ms-recursive': 'true' }), '2');
  assert.equal(service.opens.counters.handles, 0);
  await refuses(file.put('comp=forceclosehandles'), 400, 'MissingRequiredHeader');
  await refuses(file.put('comp=forceclosehandles', { 'x-ms-handle-id': 'one' }), 400, 'InvalidHeaderValue');
});

test('delete on close is dropped by force, a mark to delete takes effect', async (t) => {
  const { share, file, clients, service } = await given(t, { file: 'a' });
  await clients.open(await file.id(), { deleteOnClose: true });
  const all = { 'x-ms-handle-id': '*' };
  await gives(file.put('comp=forceclosehandles', all), 200);
  await gives(file.head(), 200);
  const client = await clients.open(await file.id());
  await service.opens.setDeletePending(client.id, true);
  await gives(file.put('comp=forceclosehandles', all), 200);
  await refuses(file.head(), 404, 'ResourceNotFound');
  assert.deepEqual(await share.root.names(), []);
});

test('the root by its share alone, as clients address it', async (t) => {
  const { server } = await given(t);
  await gives(server.ask({ path: '/files?comp=listhandles' }), 200);
  const all = { 'x-ms-handle-id': '*', 'x-ms-recursive': 'true' };
  await gives(server.ask({ method: 'PUT', path: '/files?comp=forceclosehandles', headers: all }), 200);
  await refuses(server.ask({ path: '/files/no?comp=listhandles' }), 404, 'ResourceNotFound');
});
