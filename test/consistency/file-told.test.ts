// Many clients on few files and directories of one share, in process, where every few commits are refused or lost: what
// one of them was told stays true for all, and nothing is held when all are done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutcomeUnknownError } from '#src/collections/index.js';
import { createFile } from '#src/services/file/files.js';
import { noHttpProperties } from '#src/services/file/new-entry.js';
import { noWishes } from '#src/services/file/smb-properties.js';
import { RestClient, type Taste } from './told-rest.js';
import { Histories, openToldShare, shareKey, targetOf } from './told-share.js';
import { SmbVisitor } from './told-smb.js';

const objects = ['o0', 'o1'];

for (const [taste, lost, refused, load, seed] of [
  ['content', 0, 0, 0, 1],
  ['content', 0.03, 0.1, 0.5, 2],
  ['tree', 0, 0.1, 0, 3],
  ['tree', 0.03, 0, 1, 4],
] as const satisfies readonly (readonly [Taste, number, number, number, number])[]) {
  test(`${taste} of a share: ${lost} of the groups lost, ${refused} of the calls refused, load ${load} (seed ${seed})`, async () => {
    await using told = await openToldShare({ lost, refused, load, seed }, objects);
    const histories = new Histories();
    const clients = Array.from(
      { length: 6 },
      (_, index) => new RestClient(told, histories, `c${index}`, objects, taste),
    );
    await Promise.all(clients.map((client) => client.work(100)));
    await told.heal();
    await histories.judge();
    await told.check();
    assert.equal(histories.hindered, 0);
  });
}

for (const [lost, refused, load, seed] of [
  [0, 0, 0, 5],
  [0, 0.1, 1, 6],
  [0.03, 0, 0.5, 7],
  [0.05, 0.1, 0, 8],
] as const) {
  test(`files over SMB and REST: ${lost} of the groups lost, ${refused} of the calls refused, load ${load} (seed ${seed})`, async () => {
    await using told = await openToldShare({ lost, refused, load, seed }, objects);
    const histories = new Histories();
    const rest = [0, 1, 2].map(
      (index) => new RestClient(told, histories, `c${index}`, objects, 'beside SMB'),
    );
    const smb = [0, 1, 2, 3].map((index) => new SmbVisitor(told, histories, `s${index}`, objects));
    await Promise.all([...rest.map((client) => client.work(60)), ...smb.map((client) => client.work(30))]);
    await told.heal();
    await histories.judge();
    await told.check();
    assert.ok(histories.hindered > 10, 'those over SMB and those over REST meet');
  });
}

test('a loss is told to everybody whose write it took, each with the next flush', async () => {
  await using told = await openToldShare({ lost: 0, refused: 0, load: 0, seed: 9 }, objects);
  const volume = await told.service.volumes.open(...shareKey);
  const target = targetOf(['o0', 'file']);
  const file = { http: noHttpProperties, metadata: [], smb: noWishes, leaseId: undefined, body: undefined };
  const { id } = await createFile(told.service, target, { ...file, length: 0, mayOverwrite: true });
  assert.ok(volume);
  const [one, two, reader] = [{}, {}, {}];
  told.disk.fate = () => 'gone';
  const write = (by: object) => volume.write(BigInt(id), 0, Buffer.from('text'), { keepWritten: false, by });
  await Promise.all([write(one), write(two)]);
  const flush = (by: object) => volume.flush(BigInt(id), by);
  await assert.rejects(flush(one), OutcomeUnknownError);
  told.disk.fate = () => 'done';
  await assert.rejects(flush(two), OutcomeUnknownError);
  for (const by of [one, two, reader]) await flush(by);
});
