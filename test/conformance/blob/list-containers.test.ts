import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container } from '../../support/given.js';
import { gives, refuses, startServer, type TestServer } from '../../support/server.js';

async function containers(t: Parameters<typeof startServer>[0], ...names: string[]): Promise<TestServer> {
  const server = await startServer(t, 'blob');
  for (const name of names)
    await gives(new Container(server, name).create({ 'x-ms-meta-n': name.length.toString() }), 201);
  return server;
}

const namesIn = (text: string) => [...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name]) => name);

test('containers are listed by name, those with a prefix alone if one is given', async (t) => {
  const server = await containers(t, 'beta', 'alpha-2', 'alpha-1', '$root');
  const list = (query: string) => gives(server.ask({ path: `/?comp=list${query}` }), 200);
  assert.deepEqual(namesIn((await list('')).text), ['$root', 'alpha-1', 'alpha-2', 'beta']);
  const some = await list('&prefix=alpha&include=metadata');
  assert.deepEqual(namesIn(some.text), ['alpha-1', 'alpha-2']);
  assert.match(some.text, /<Prefix>alpha<\/Prefix>/);
  assert.match(some.text, /<Metadata><n>7<\/n><\/Metadata>/);
  assert.match(some.text, /<Etag>"0x[0-9A-F]+"<\/Etag><LeaseStatus>unlocked<\/LeaseStatus>/);
  assert.match(some.text, /<NextMarker \/>/);
});

test('a page ends with a marker that the next one begins at', async (t) => {
  const server = await containers(t, 'aaa', 'bbb', 'ccc');
  const first = await gives(server.ask({ path: '/?comp=list&maxresults=2' }), 200);
  assert.deepEqual(namesIn(first.text), ['aaa', 'bbb']);
  const [, marker = ''] = /<NextMarker>(.*)<\/NextMarker>/.exec(first.text) ?? [];
  assert.equal(marker, `/${server.account.name}/ccc`);
  const second = await gives(server.ask({ path: `/?comp=list&marker=${encodeURIComponent(marker)}` }), 200);
  assert.deepEqual(namesIn(second.text), ['ccc']);
});

test('a page has an entry at least', async (t) => {
  const server = await containers(t);
  await refuses(server.ask({ path: '/?comp=list&maxresults=0' }), 400, 'OutOfRangeQueryParameterValue');
  await refuses(server.ask({ path: '/?comp=list&maxresults=x' }), 400, 'InvalidQueryParameterValue');
  await refuses(server.ask({ path: '/?comp=list&include=dreams' }), 400, 'InvalidQueryParameterValue');
});
