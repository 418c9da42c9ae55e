import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, type TestServer } from '../../support/server.js';

const tracked = { settings: { lastAccessTime: true } };
const day = 24 * 3600;
const name = 'x-ms-last-access-time';

/** What is written behind the answer of a read is there. */
async function settled({ running }: TestServer): Promise<void> {
  const { lastAccess } = running.services.get('blob') as { lastAccess: { close(): Promise<void> } };
  await lastAccess.close();
}

test('an account that keeps no track tells nothing', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  assert.equal((await blob.get()).headers.has(name), false);
  assert.equal((await blob.head()).headers.has(name), false);
  assert.doesNotMatch((await container.list()).text, /LastAccessTime/);
});

test('a read is noted once a day, and changes no ETag', async (t) => {
  const { blob, container, server } = await given(t, { content: 'v1', ...tracked });
  const etag = await blob.etag();
  const told = async () => Date.parse(header(await gives(blob.head(), 200), name));
  const made = await told();
  server.pass(day - 60);
  await gives(blob.get(), 200);
  await settled(server);
  assert.equal(await told(), made, 'within a day of the last access nothing is written');
  server.pass(120);
  await gives(blob.get(), 200);
  await settled(server);
  const first = await told();
  assert.ok(Math.abs(first - made - (day + 60) * 1000) < 5000, `${first} is a day after ${made}`);
  assert.match(
    (await container.list()).text,
    new RegExp(`<LastAccessTime>${new Date(first).toUTCString()}</LastAccessTime>`),
  );
  server.pass(day / 2);
  await gives(blob.get(), 200);
  await settled(server);
  assert.equal(await told(), first);
  assert.equal(await blob.etag(), etag);
});

test('what tells of a blob without its content is no access', async (t) => {
  const { blob, container, server } = await given(t, { content: 'v1', ...tracked });
  const before = header(await blob.head(), name);
  server.pass(2 * day);
  await gives(blob.head(), 200);
  await gives(blob.get('comp=metadata'), 200);
  await gives(blob.get('comp=tags'), 200);
  await container.list();
  await settled(server);
  assert.equal(header(await blob.head(), name), before);
});

test('a change is an access; snapshots have their own', async (t) => {
  const { blob, server } = await given(t, { content: 'v1', ...tracked });
  const snapshot = await blob.snapshot();
  server.pass(2 * day);
  await gives(blob.upload('v2'), 201);
  const told = async (query = '') => Date.parse(header(await blob.head(query), name));
  assert.ok((await told()) - (await told(`snapshot=${snapshot}`)) >= 2 * day * 1000 - 1000);
  await gives(blob.get(`snapshot=${snapshot}`), 200);
  await settled(server);
  assert.ok((await told(`snapshot=${snapshot}`)) >= (await told()));
});

test('versions before 2020-02-10 know nothing of it', async (t) => {
  const { blob, container } = await given(t, { content: 'v1', ...tracked });
  const old = { 'x-ms-version': '2019-12-12' };
  assert.equal((await blob.get('', old)).headers.has(name), false);
  assert.doesNotMatch((await container.get('comp=list', old)).text, /LastAccessTime/);
});

test('many reads of one blob at once write once', async (t) => {
  const { blob, server } = await given(t, { content: 'v1', ...tracked });
  server.pass(2 * day);
  let commits = 0;
  t.after(server.running.store.engine.changes(() => commits++));
  await Promise.all(Array.from({ length: 50 }, () => gives(blob.get(), 200)));
  await settled(server);
  assert.equal(commits, 1);
});
