// Queues: create, delete, metadata, ACL, list, service properties.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenQueue, TestQueue } from '../../support/queues.js';
import { gives, refuses, startServer } from '../../support/server.js';

test('Create Queue: new 201, the same metadata 204, other metadata 409', async (t) => {
  const server = await startServer(t, 'queue');
  const queue = new TestQueue(server, 'work');
  await gives(queue.create({ 'x-ms-meta-colour': 'blue' }), 201);
  await gives(queue.create({ 'x-ms-meta-Colour': 'blue' }), 204);
  await refuses(queue.create({ 'x-ms-meta-colour': 'red' }), 409, 'QueueAlreadyExists');
  await refuses(queue.create(), 409, 'QueueAlreadyExists');
});

test('Create Queue under concurrency: one 201, the others 204', async (t) => {
  const server = await startServer(t, 'queue');
  const answers = await Promise.all(Array.from({ length: 50 }, () => new TestQueue(server, 'work').create()));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(49).fill(204)]);
});

for (const [name, status, code] of [
  ['ab', 400, 'OutOfRangeInput'],
  ['a'.repeat(64), 400, 'OutOfRangeInput'],
  ['Work', 400, 'InvalidResourceName'],
  ['a--b', 400, 'InvalidResourceName'],
  ['-ab', 400, 'InvalidResourceName'],
  ['ab-', 400, 'InvalidResourceName'],
  ['a_b', 400, 'InvalidResourceName'],
] as const) {
  test(`Create Queue: the name ${name.slice(0, 8)} gives ${status} ${code}`, async (t) => {
    await refuses(new TestQueue(await startServer(t, 'queue'), name).create(), status, code);
  });
}

test('Delete Queue: 204, then 404; its messages are gone with it, and the name can be used at once', async (t) => {
  const { queue } = await givenQueue(t, ['a']);
  await gives(queue.ask('DELETE'), 204);
  await refuses(queue.ask('DELETE'), 404, 'QueueNotFound');
  for (const [method, path, body] of [
    ['GET', '?comp=metadata'],
    ['PUT', '?comp=metadata'],
    ['GET', '?comp=acl'],
    ['PUT', '?comp=acl'],
    ['GET', '/messages'],
    ['GET', '/messages?peekonly=true'],
    ['DELETE', '/messages'],
    ['POST', '/messages', '<QueueMessage><MessageText>x</MessageText></QueueMessage>'],
  ] as const) {
    await refuses(queue.ask(method, path, {}, body), 404, 'QueueNotFound');
  }
  await gives(queue.create(), 201);
  assert.deepEqual(await queue.take(), []);
  assert.equal(await queue.count(), 0);
});

test('Set Queue Metadata replaces all; the last writer wins', async (t) => {
  const { queue } = await givenQueue(t);
  await gives(queue.ask('PUT', '?comp=metadata', { 'x-ms-meta-a': '1', 'x-ms-meta-b': '2' }), 204);
  await gives(queue.ask('PUT', '?comp=metadata', { 'x-ms-meta-c': '3' }), 204);
  const { headers } = await gives(queue.ask('HEAD', '?comp=metadata'), 200);
  assert.deepEqual(
    [...headers].filter(([name]) => name.startsWith('x-ms-meta-')),
    [['x-ms-meta-c', '3']],
  );
  await refuses(queue.ask('PUT', '?comp=metadata', { 'x-ms-meta-1a': 'x' }), 400, 'InvalidMetadata');
  await refuses(
    queue.ask('PUT', '?comp=metadata', { 'x-ms-meta-a': 'x'.repeat(9000) }),
    400,
    'MetadataTooLarge',
  );
});

test('Queue ACL: stored policies are replaced as a whole, five at most', async (t) => {
  const { queue } = await givenQueue(t);
  const policy = (id: string) =>
    `<SignedIdentifier><Id>${id}</Id><AccessPolicy><Start>2030-01-01T00:00:00.0000000Z</Start><Permission>raup</Permission></AccessPolicy></SignedIdentifier>`;
  const acl = (...ids: string[]) => `<SignedIdentifiers>${ids.map(policy).join('')}</SignedIdentifiers>`;
  await gives(queue.ask('PUT', '?comp=acl', {}, acl('one', 'two')), 204);
  const { text } = await gives(queue.ask('GET', '?comp=acl'), 200);
  assert.match(text, /<Id>one<\/Id>.*<Id>two<\/Id>/s);
  await refuses(
    queue.ask('PUT', '?comp=acl', {}, acl('1', '2', '3', '4', '5', '6')),
    400,
    'InvalidXmlDocument',
  );
  await refuses(queue.ask('PUT', '?comp=acl', {}, '<nonsense'), 400, 'InvalidXmlDocument');
  await gives(queue.ask('PUT', '?comp=acl'), 204);
  assert.match((await queue.ask('GET', '?comp=acl')).text, /<SignedIdentifiers \/>/);
});

test('List Queues: in order, by prefix, in pages, with metadata', async (t) => {
  const server = await startServer(t, 'queue');
  for (const name of ['abc', 'abd', 'b-1', 'b-2', 'zzz']) {
    await gives(new TestQueue(server, name).create({ 'x-ms-meta-of': name.replace('-', '') }), 201);
  }
  const list = async (query = '') => {
    const { text } = await gives(server.ask({ path: `/?comp=list${query}` }), 200);
    const names = [...text.matchAll(/<Name>(.*?)<\/Name>/g)].map((match) => match[1]);
    return { names, next: /<NextMarker>(.*?)<\/NextMarker>/.exec(text)?.[1], text };
  };
  assert.deepEqual((await list()).names, ['abc', 'abd', 'b-1', 'b-2', 'zzz']);
  assert.deepEqual((await list('&prefix=b-')).names, ['b-1', 'b-2']);
  const first = await list('&maxresults=2');
  assert.deepEqual(first.names, ['abc', 'abd']);
  const second = await list(`&maxresults=2&marker=${first.next}`);
  assert.deepEqual(second.names, ['b-1', 'b-2']);
  const third = await list(`&maxresults=2&marker=${second.next}`);
  assert.deepEqual(third.names, ['zzz']);
  assert.match(third.text, /<NextMarker \/>/);
  assert.match((await list('&include=metadata&prefix=zzz')).text, /<Metadata><of>zzz<\/of><\/Metadata>/);
  await refuses(server.ask({ path: '/?comp=list&maxresults=0' }), 400, 'OutOfRangeQueryParameterValue');
  await refuses(server.ask({ path: '/?comp=list&include=everything' }), 400, 'InvalidQueryParameterValue');
});

test('Queue Service Properties are kept; stats are on the secondary alone', async (t) => {
  const server = await startServer(t, 'queue');
  const cors =
    '<Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders>*</ExposedHeaders><AllowedHeaders>*</AllowedHeaders></CorsRule></Cors>';
  const path = '/?restype=service&comp=properties';
  const body = `<StorageServiceProperties>${cors}</StorageServiceProperties>`;
  await gives(server.ask({ method: 'PUT', path, body }), 202);
  assert.match((await server.ask({ path })).text, /<AllowedOrigins>\*<\/AllowedOrigins>/);
  const preflight = await server.ask({
    method: 'OPTIONS',
    path: '/work',
    as: 'anybody',
    headers: { Origin: 'http://example.com', 'Access-Control-Request-Method': 'GET' },
  });
  assert.equal(preflight.status, 200);
});

for (const [name, code] of [
  ['ab', 'OutOfRangeInput'],
  ['a_b', 'InvalidResourceName'],
  ['ABC', 'InvalidResourceName'],
] as const) {
  test(`a queue that cannot be called ${name} is 400 ${code} whatever is asked of it`, async (t) => {
    const { server } = await givenQueue(t);
    const ask = (method: string, path: string, body?: string) =>
      server.ask({ method, path: `/${name}${path}`, ...(body && { body }) });
    await refuses(ask('GET', '?comp=metadata'), 400, code);
    await refuses(ask('GET', '/messages'), 400, code);
    await refuses(ask('POST', '/messages', '<QueueMessage><MessageText/></QueueMessage>'), 400, code);
    await refuses(ask('DELETE', ''), 400, code);
  });
}

test('List Queues: a marker that no answer gave is 400 InvalidMarker', async (t) => {
  const { server } = await givenQueue(t);
  await refuses(server.ask({ path: '/?comp=list&marker=%25x' }), 400, 'InvalidMarker');
  await gives(server.ask({ path: '/?comp=list&marker=' }), 200);
});
