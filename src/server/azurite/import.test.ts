// An import that is cut off at any step and run again brings everything, once.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type OpenStore, openStore } from '../open-store.js';
import { opened } from '../services.js';
import { importAzurite } from './import.js';

const fixture = resolve(import.meta.dirname, '../../../test/fixtures/azurite');

class CutOffError extends Error {}

async function emptyStore(t: TestContext): Promise<OpenStore> {
  const store = await openStore({ data: { memory: true, extentLimitBytes: 64 * 1024 * 1024 }, accounts: [] });
  t.after(() => store.close());
  return store;
}

/** How many rows of each kind there are, and how many bytes in extents. */
async function contentsOf(open: OpenStore): Promise<Record<string, number>> {
  const { store: blobs } = await opened(open, 'blob');
  const { store: queues } = await opened(open, 'queue');
  const { store: tables } = await opened(open, 'table');
  const rows = {
    containers: blobs.containers,
    blobs: blobs.blobs,
    snapshots: blobs.snapshots,
    queues: queues.queues,
    messages: queues.messages,
    texts: queues.texts,
    tables: tables.tables,
    entities: tables.entities,
  };
  const counts: Record<string, number> = {};
  await using tx = open.state.begin();
  for (const [name, dictionary] of Object.entries(rows)) {
    counts[name] = 0;
    for await (const _ of dictionary.entries(tx)) counts[name]++;
  }
  return counts;
}

test('cut off after any step and run again, everything is there once', async (t) => {
  const whole = await emptyStore(t);
  let steps = 0;
  const report = await importAzurite(whole, fixture, () => void steps++);
  const wanted = await contentsOf(whole);
  assert.equal(wanted['blobs'], report.counts['blobs']);
  assert.ok(steps > 10);
  for (let cut = 1; cut <= steps; cut++) {
    const store = await emptyStore(t);
    const cutOff = ({ done }: { done: number }) => {
      if (done === cut) throw new CutOffError();
    };
    await assert.rejects(importAzurite(store, fixture, cutOff), CutOffError);
    await importAzurite(store, fixture, () => {});
    assert.deepEqual(await contentsOf(store), wanted, `cut off after ${cut} of ${steps}`);
    const again = await importAzurite(store, fixture, () => {});
    assert.deepEqual(again.counts, {}, 'what is finished is left alone');
  }
});

test('what has lost its bytes is left out and told, the rest is taken over', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-azurite-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(fixture, folder, { recursive: true });
  rmSync(join(folder, '__blobstorage__'), { recursive: true });
  const { counts, notes } = await importAzurite(await emptyStore(t), folder, () => {});
  assert.ok(
    notes.some((note) => /^blob photos\/big\.bin was left out: its bytes cannot be read/.test(note)),
    notes.join('\n'),
  );
  assert.equal(counts['blobs'], 1, 'the empty one needs no bytes');
  assert.ok((counts['entities'] ?? 0) > 0);

  const database = join(folder, '__azurite_db_queue__.json');
  writeFileSync(database, '{}');
  await assert.rejects(
    importAzurite(await emptyStore(t), folder, () => {}),
    /it has no collections/,
  );
});

test('leases without end and service properties are told', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-azurite-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(fixture, folder, { recursive: true });
  const path = join(folder, '__azurite_db_blob__.json');
  const database = JSON.parse(readFileSync(path, 'utf8'));
  for (const { name, data } of database.collections) {
    if (name === '$BLOBS_COLLECTION$')
      Object.assign(data[0].properties, { leaseState: 'leased', leaseDuration: 'infinite' });
    if (name === '$SERVICES_COLLECTION$') data.splice(0, data.length, { accountName: 'devstoreaccount1' });
  }
  writeFileSync(path, JSON.stringify(database));
  const { notes } = await importAzurite(await emptyStore(t), folder, () => {});
  assert.ok(
    notes.some((note) => /^the lease of blob .* was left out$/.test(note)),
    notes.join('\n'),
  );
  assert.ok(notes.some((note) => /^the blob service properties of devstoreaccount1/.test(note)));
});
