// Transfers that take long, while what they are about is overwritten, deleted and swept, or the process is killed: a
// download stays whole, an upload that goes on is not swept, and of one that was cut off nothing is left.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dataFolder } from '#src/server/data-folder.js';
import { answerTo, Bulk, textOf } from '../support/bulk.js';
import { type Blob, Container } from '../support/given.js';
import { assertNothingLeft } from '../support/leftovers.js';
import { Program } from '../support/restartable.js';
import { gives, startServer, type TestServer } from '../support/server.js';

const mebibyte = 1024 * 1024;
/** More than the system takes off the server's hands while its client reads nothing, some 10 MiB. */
const size = (process.env['LAZULI_FULL'] === '1' ? 64 : 16) * mebibyte;
const old = Buffer.alloc(size, 'of the old content, ');
const fresh = Buffer.alloc(size, 'newer and different');
/** Four MiB over and over. */
const whole = Buffer.alloc(size, old.subarray(0, 4 * mebibyte));

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-transfers-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function givenServer(t: TestContext): Promise<{ server: TestServer; container: Container }> {
  const location = folderOf(t);
  const server = await startServer(t, 'blob', { location });
  const container = new Container(server, 'box');
  await gives(container.create(), 201);
  return { server, container };
}

const quarter = (content: Buffer) => content.subarray(0, 4 * mebibyte);
const parts = Array.from({ length: size / (4 * mebibyte) }, (_, part) => part);

/** As many pages as one request may bring. */
async function writePages(blob: Blob, part: number, content: Buffer): Promise<void> {
  const start = part * content.length;
  const headers = { 'x-ms-page-write': 'update', Range: `bytes=${start}-${start + content.length - 1}` };
  await gives(blob.put('comp=page', headers, content), 201);
}

type Replacement = readonly [name: string, make: (blob: Blob) => Promise<unknown>];

/** What a blob is made of: each time the same bytes. */
const made: readonly Replacement[] = [
  ['a block blob', (blob) => gives(blob.upload(whole), 201)],
  [
    'a block blob of blocks',
    async (blob) => {
      for (const part of parts) await gives(blob.putBlock(`${10 + part}`, quarter(old)), 201);
      await gives(blob.commit(parts.map((part) => `Latest ${10 + part}`)), 201);
    },
  ],
  [
    'an append blob',
    async (blob) => {
      await gives(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
      for (const _ of parts) await gives(blob.append(quarter(old)), 201);
    },
  ],
  [
    'a page blob',
    async (blob) => {
      const headers = { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': String(size) };
      await gives(blob.put('', headers), 201);
      for (const part of parts) await writePages(blob, part, quarter(old));
    },
  ],
];

/** What becomes of it meanwhile. */
const endings: readonly (readonly [
  name: string,
  end: (blob: Blob, container: Container) => Promise<unknown>,
])[] = [
  ['overwritten', (blob) => gives(blob.upload(fresh), 201)],
  ['deleted', (blob) => gives(blob.delete(), 202)],
  ['gone with its container', (_, container) => gives(container.delete(), 202)],
];

for (const [kind, make] of made) {
  for (const [ending, end] of endings) {
    test(`a download of ${kind} that is ${ending} and swept meanwhile stays whole`, async (t) => {
      const { server, container } = await givenServer(t);
      const blob = container.blob('thing');
      await make(blob);
      const wire = await server.begin({ path: blob.path });
      t.after(() => wire.close());
      await wire.begun();
      await end(blob, container);
      for (let sweep = 0; sweep < 3; sweep++) {
        server.pass(3600);
        await server.running.sweep();
      }
      const { status, body } = await wire.resume().answer();
      assert.equal(status, 200);
      assert.ok(body.equals(whole), 'all of what was there when the download began');
    });
  }
}

test('a download of pages that are written over meanwhile has each page old or new', async (t) => {
  const { server, container } = await givenServer(t);
  const blob = container.blob('disk');
  await made[3]?.[1](blob);
  const wire = await server.begin({ path: blob.path });
  t.after(() => wire.close());
  await wire.begun();
  for (const part of parts) await writePages(blob, part, quarter(fresh));
  await server.running.sweep();
  const { body } = await wire.resume().answer();
  assert.equal(body.length, size);
  for (let at = 0; at < body.length; at += 512) {
    const page = body.subarray(at, at + 512);
    const from = at % quarter(old).length;
    const isKnown = [old, fresh].some((one) => page.equals(one.subarray(from, from + 512)));
    assert.ok(isKnown, `the page at ${at} is whole`);
  }
});

const uploads: readonly (readonly [name: string, query: string, headers: Record<string, string>])[] = [
  ['Put Blob', '', { 'x-ms-blob-type': 'BlockBlob' }],
  ['Put Block', 'comp=block&blockid=MDAwMQ%3D%3D', {}],
  ['Append Block', 'comp=appendblock', {}],
];

for (const [name, query, headers] of uploads) {
  test(`${name} that takes longer than sweeps do is not swept`, async (t) => {
    const { server, container } = await givenServer(t);
    const blob = container.blob('slow');
    const body = quarter(old);
    if (name === 'Append Block') await gives(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
    const path = query === '' ? blob.path : `${blob.path}?${query}`;
    const wire = await server.begin({
      method: 'PUT',
      path,
      headers: { ...headers, 'Content-Length': String(body.length) },
    });
    t.after(() => wire.close());
    const step = body.length / 4;
    for (let part = 0; part < 4; part++) {
      wire.send(body.subarray(part * step, (part + 1) * step));
      while (wire.unsentBytes > 0) await delay(1);
      // Beside it others come and go, so that there is something to sweep and to move.
      const other = container.blob('other');
      await gives(other.upload(quarter(fresh)), 201);
      await gives(other.delete(), 202);
      server.pass(3 * 24 * 3600);
      await server.running.sweep();
    }
    assert.equal((await wire.answer()).status, 201);
    if (name === 'Put Block') await gives(blob.commit(['Latest 0001']), 201);
    await server.running.sweep();
    const read = await gives(blob.get(), 200);
    assert.ok(read.body.equals(body), 'every byte that was sent');
    await gives(container.delete(), 202);
    await assertNothingLeft(server);
  });
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

test('killed while bodies come in: nothing half is seen, and their space comes back', async (t) => {
  const location = folderOf(t);
  const program = await Program.start(location);
  t.after(() => program.kill());
  const extents = dataFolder(location).extents;
  using bulk = new Bulk(program);
  await bulk.put('/box?restype=container');
  await bulk.put('/box/whole', { 'x-ms-blob-type': 'BlockBlob' }, quarter(old));
  await bulk.put('/box/log', { 'x-ms-blob-type': 'AppendBlob' });
  const before = bytesIn(extents);
  const begun = [
    ['/box/new', { 'x-ms-blob-type': 'BlockBlob' }],
    ['/box/whole', { 'x-ms-blob-type': 'BlockBlob' }],
    ['/box/blocks?comp=block&blockid=MDAwMQ%3D%3D', {}],
    ['/box/log?comp=appendblock', {}],
  ] as const;
  const requests = begun.map(([path, headers]) => {
    const request = bulk.begin('PUT', path, { ...headers, 'Content-Length': size });
    request.write(fresh.subarray(0, size - 1));
    return request;
  });
  const gone = requests.map((request) => answerTo(request).then(textOf, () => 'gone'));
  while (bytesIn(extents) < before + 2 * size) await delay(5);
  await program.kill();
  assert.deepEqual(await Promise.all(gone), ['gone', 'gone', 'gone', 'gone']);

  await program.start();
  using again = new Bulk(program);
  const listed = await again.text('/box?restype=container&comp=list&include=uncommittedblobs');
  const names = [...listed.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name]) => name);
  assert.deepEqual(names, ['log', 'whole']);
  assert.equal(await again.text('/box/log'), '');
  assert.ok(Buffer.from(await again.text('/box/whole')).equals(quarter(old)));
  // It gives space back in rounds of a few seconds.
  while (bytesIn(extents) > before + mebibyte) await delay(50);
  assert.ok(Buffer.from(await again.text('/box/whole')).equals(quarter(old)));
  assert.equal(program.complaints, '');
  assert.equal(await program.stop(), 0);
  assert.equal(await program.verify(), '', 'what lazuli verify found');
});
