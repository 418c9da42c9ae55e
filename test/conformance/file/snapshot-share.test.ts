import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('a snapshot is called after its second, and each has another', async (t) => {
  const { share } = await given(t);
  const taken = await Promise.all([1, 2, 3].map(() => gives(share.put('comp=snapshot'), 201)));
  const names = taken.map((answer) => header(answer, 'x-ms-snapshot'));
  for (const name of names) assert.match(name, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.0000000Z$/);
  assert.equal(new Set(names).size, 3);
});

test('taking one changes neither ETag nor Last-Modified of the share', async (t) => {
  const { share } = await given(t);
  const before = await gives(share.head(), 200);
  await share.snapshot();
  const after = await gives(share.head(), 200);
  assert.equal(header(after, 'etag'), header(before, 'etag'));
  assert.equal(header(after, 'last-modified'), header(before, 'last-modified'));
});

test('its metadata is its own, or that of the share', async (t) => {
  const { share } = await given(t);
  await gives(share.put('comp=metadata', { 'x-ms-meta-a': 'share' }), 200);
  const plain = await share.snapshot();
  const own = await share.snapshot({ 'x-ms-meta-a': 'snapshot' });
  await gives(share.put('comp=metadata', { 'x-ms-meta-a': 'later' }), 200);
  assert.equal(header(await share.get(`sharesnapshot=${plain}`), 'x-ms-meta-a'), 'share');
  assert.equal(header(await share.get(`sharesnapshot=${own}`), 'x-ms-meta-a'), 'snapshot');
});

test('200 and no more', async (t) => {
  const { share } = await given(t);
  for (let count = 0; count < 200; count++) await gives(share.put('comp=snapshot'), 201);
  await refuses(share.put('comp=snapshot'), 409, 'ShareSnapshotCountExceeded');
});

test('usage and quota do not count snapshots', async (t) => {
  const { share, file } = await given(t, { file: 'a', content: 'x'.repeat(100) });
  await share.snapshot();
  assert.equal(await share.usage(), 100);
  await gives(file.delete(), 202);
  assert.equal(await share.usage(), 0);
});

test('a history of many snapshots, each with what there was', async (t) => {
  const { share, file, server } = await given(t, { file: 'd/f', content: 'v0', directory: 'd' });
  const taken: [name: string, content: string, names: string[]][] = [];
  for (let round = 1; round <= 6; round++) {
    taken.push([await share.snapshot(), await file.text(), await share.directory('d').names()]);
    await gives(file.write(`v${round}`), 201);
    await gives(share.file(`d/extra${round}`).create(0), 201);
    if (round > 2) await gives(share.file(`d/extra${round - 2}`).delete(), 202);
  }
  const check = async () => {
    for (const [name, content, names] of taken) {
      assert.equal(await file.text(`sharesnapshot=${name}`), content, name);
      assert.deepEqual(await share.directory('d').names(`sharesnapshot=${name}`), names, name);
    }
  };
  await check();
  for (const at of [1, 2]) {
    const [[name] = ['']] = taken.splice(at, 1);
    await gives(share.delete(`sharesnapshot=${name}`), 202);
    await server.running.sweep();
    await server.running.sweep();
    await check();
  }
  await gives(file.delete(), 202);
  await server.running.sweep();
  await check();
});

test('a write is in a snapshot as a whole or not at all', async (t) => {
  const { share, file } = await given(t, { file: 'a', content: Buffer.alloc(20_000, 1) });
  const work = [2, 3, 4, 5, 6].flatMap((fill) => [
    file.write(Buffer.alloc(20_000, fill)),
    share.put('comp=snapshot'),
  ]);
  const answers = await Promise.all(work);
  for (const answer of answers) {
    assert.equal(answer.status, 201);
    const name = answer.headers.get('x-ms-snapshot');
    if (name === undefined) continue;
    const { body } = await gives(file.get(`sharesnapshot=${name}`), 200);
    assert.ok(body.equals(Buffer.alloc(20_000, body[0])), name);
  }
});
