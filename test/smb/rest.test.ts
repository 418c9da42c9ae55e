// REST and SMB side by side on one file: an SMB client holds it open over the wire while REST asks.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { cells } from '#src/base/cells.suite.js';
import { access, share as shareMode } from '#src/services/file/access.js';
import { ticksOf } from '#src/services/file/file-system.js';
import { snapshotName } from '#src/smb/previous-versions.js';
import { header } from '../support/given-file.js';
import { modeOf, outcome, request, requests, sharing, violation } from '../support/rest-requests.js';
import { gives, refuses } from '../support/server.js';
import { sideBySide as both } from '../support/side-by-side.js';
import { connectSmb, openSmb, oplocks, statusOf, tryOpen } from '../support/smb-files.js';

async function sideBySide(t: TestContext) {
  const it = await both(t);
  return { ...it, client: await connectSmb(it.smb.port) };
}

for (const { row, column, cell } of cells(sharing)) {
  test(`${column} while SMB shares ${row}: ${cell}`, async (t) => {
    const it = await sideBySide(t);
    const handle = await openSmb(it.client, 'a.txt', { share: modeOf(row) });
    assert.equal(outcome(await request(column)(it)), cell === 'X' ? violation : 'ok');
    assert.equal(await handle.close(), 'SUCCESS');
    assert.equal(outcome(await request(column)(it)), 'ok', 'nobody has it open any more');
  });
}

// What SMB clients do with each other and with REST is decided in one place, so a few rights tell that they arrive there.
const rights = { reads: access.readData, writes: access.writeData, deletes: access.delete } as const;

for (const [name, mask] of Object.entries(rights)) {
  test(`a lease while SMB ${name}, and SMB ${name} while there is a lease`, async (t) => {
    const { client, file } = await sideBySide(t);
    const handle = await openSmb(client, 'a.txt', { access: mask });
    assert.equal(outcome(await file.acquire()), name === 'reads' ? 'ok' : violation);
    await handle.close();
    await gives(file.acquire(), 201);
    const expected = name === 'reads' ? 'SUCCESS' : 'SHARING_VIOLATION';
    assert.equal(statusOf(await tryOpen(client, 'a.txt', { access: mask })), expected);
  });
}

test('what several clients append at the same time is all there', async (t) => {
  const { smb, client, file } = await sideBySide(t);
  const clients = [client, ...(await Promise.all([1, 2, 3].map(() => connectSmb(smb.port))))];
  const handles = await Promise.all(
    clients.map((one) => openSmb(one, 'a.txt', { access: access.appendData })),
  );
  const words = await Promise.all(
    handles.map(async (handle, writer) => {
      const written = Array.from({ length: 20 }, (_, n) => `<${writer} ${n}>`);
      for (const word of written) assert.equal(await handle.append(word), 'SUCCESS');
      return written;
    }),
  );
  const text = (await file.text()).slice('hello world'.length);
  assert.deepEqual(text.match(/<.*?>/g)?.sort(), words.flat().sort());
  assert.equal(text.length, words.flat().join('').length);
  assert.equal(await handles[0]?.write('x', 3), 'ACCESS_DENIED', 'what is there it may not change');
});

test('what REST writes SMB reads at once, and the other way round', async (t) => {
  const { client, file } = await sideBySide(t);
  const handle = await openSmb(client, 'a.txt');
  assert.equal(await handle.read(), 'hello world');
  for (let round = 0; round < 20; round++) {
    await gives(file.write(`REST ${round}`.padEnd(11)), 201);
    assert.equal(await handle.read(), `REST ${round}`.padEnd(11));
    const before = header(await gives(file.head(), 200), 'etag');
    assert.equal(await handle.write(`SMB ${round}`.padEnd(11)), 'SUCCESS');
    assert.equal(await file.text(), `SMB ${round}`.padEnd(11));
    assert.notEqual(header(await gives(file.head(), 200), 'etag'), before);
  }
  assert.equal(await handle.setLength(3), 'SUCCESS');
  assert.equal(await file.text(), 'SMB');
  await gives(file.setProperties({ 'x-ms-content-length': '2' }), 200);
  assert.equal(await handle.read(), 'SM');
  await handle.close();
});

test('what REST sets beside the bytes outlives SMB: metadata and properties', async (t) => {
  const { client, file } = await sideBySide(t);
  await gives(file.setMetadata({ 'x-ms-meta-colour': 'blue' }), 200);
  await gives(file.setProperties({ 'x-ms-content-type': 'text/plain' }), 200);
  const handle = await openSmb(client, 'a.txt', { disposition: 'overwrite' });
  assert.equal(await handle.write('new'), 'SUCCESS');
  await handle.close();
  const answer = await gives(file.get(), 200);
  assert.deepEqual(
    [answer.text, header(answer, 'x-ms-meta-colour'), header(answer, 'content-type')],
    ['new', 'blue', 'text/plain'],
  );
});

for (const name of Object.keys(requests).filter((name) => name !== 'List')) {
  test(`${name} of a file that SMB is about to delete: 409 SMBDeletePending, then as before`, async (t) => {
    const it = await sideBySide(t);
    const handle = await openSmb(it.client, 'a.txt');
    assert.equal(await handle.setDelete(true), 'SUCCESS');
    assert.equal(outcome(await request(name)(it)), '409 SMBDeletePending');
    assert.deepEqual(await it.share.root.names(), ['source']);
    assert.equal(await handle.setDelete(false), 'SUCCESS');
    assert.deepEqual(await it.share.root.names(), ['a.txt', 'source']);
    assert.equal(await handle.close(), 'SUCCESS');
    assert.equal(outcome(await request(name)(it)), 'ok');
  });
}

test('delete on close: there for REST until then, to be deleted while others have it open, then gone', async (t) => {
  const { client, file } = await sideBySide(t);
  const deletes = await openSmb(client, 'a.txt', { deleteOnClose: true });
  const other = await openSmb(client, 'a.txt');
  assert.equal(await file.text(), 'hello world');
  await deletes.close();
  await refuses(file.get(), 409, 'SMBDeletePending');
  assert.equal(statusOf(await tryOpen(client, 'a.txt')), 'DELETE_PENDING');
  await other.close();
  await refuses(file.get(), 404, 'ResourceNotFound');
  assert.equal(statusOf(await tryOpen(client, 'a.txt')), 'OBJECT_NAME_NOT_FOUND');
});

// The client has locked bytes 2 to 5 of the file.
const locks = `
                      exclusive              shared
  Get File            409 FileLockConflict   ok
  Copy source         409 FileLockConflict   ok
  Put Range           409 FileLockConflict   409 FileLockConflict
  Clear Range         409 FileLockConflict   409 FileLockConflict
  Put Range From URL  409 FileLockConflict   409 FileLockConflict
  Create File         409 FileLockConflict   409 FileLockConflict
  Copy onto           409 FileLockConflict   409 FileLockConflict
  Resize              409 FileLockConflict   409 FileLockConflict
  List Ranges         ok                     ok
  Set Properties      ok                     ok
  Set Metadata        ok                     ok
  Get Properties      ok                     ok
`;

for (const { row, column, cell } of cells(locks)) {
  test(`${row} while SMB has an ${column} lock: ${cell}`, async (t) => {
    const it = await sideBySide(t);
    const handle = await openSmb(it.client, 'a.txt');
    assert.equal(await handle.lock(2, 4, column as 'shared' | 'exclusive'), 'SUCCESS');
    assert.equal(outcome(await request(row)(it)), cell);
    assert.equal(await handle.lock(2, 4, 'unlock'), 'SUCCESS');
    assert.equal(outcome(await request(row)(it)), 'ok');
    await handle.close();
  });
}

test('bytes beside an exclusive lock are read', async (t) => {
  const { client, file } = await sideBySide(t);
  const handle = await openSmb(client, 'a.txt');
  await handle.lock(2, 4, 'exclusive');
  for (const [range, status] of [
    ['0-1', 206],
    ['6-10', 206],
    ['1-2', 409],
    ['5-6', 409],
  ] as const) {
    assert.equal((await file.get('', { 'x-ms-range': `bytes=${range}` })).status, status, range);
  }
  await handle.close();
});

test('handles of SMB are listed over REST and closed by force; the client meets FILE_CLOSED', async (t) => {
  const { client, file, smb } = await sideBySide(t);
  const shown = async () => {
    const { text } = await gives(file.get('comp=listhandles'), 200);
    assert.match(text, /<ClientIp>127\.0\.0\.1:\d+<\/ClientIp>/);
    return [...text.matchAll(/<HandleId>(\d+)<\/HandleId>/g)].map(([, id]) => id);
  };
  const taken = await openSmb(client, 'a.txt');
  const [id] = await shown();
  const kept = await openSmb(client, 'a.txt');
  assert.equal((await shown()).length, 2);
  assert.equal(await taken.lock(0, 1, 'shared'), 'SUCCESS');
  await refuses(file.write('x'), 409, 'FileLockConflict');
  const closed = await gives(file.put('comp=forceclosehandles', { 'x-ms-handle-id': id }), 200);
  assert.equal(header(closed, 'x-ms-number-of-handles-closed'), '1');
  assert.equal(await taken.read(), 'FILE_CLOSED');
  assert.equal(await taken.close(), 'FILE_CLOSED');
  await gives(file.write('x'), 201);
  assert.equal(await kept.read(), 'xello world');
  assert.equal(smb.opens.counters.handles, 1);
  await kept.close();
});

// What a client holds, what REST does, and the level that it is asked to go down to.
const breaks = `
                   exclusive   batch
  Get File         levelTwo    levelTwo
  Get Properties   levelTwo    levelTwo
  List Ranges      levelTwo    levelTwo
  Put Range        none        none
  Set Metadata     none        none
  Create File      none        none
`;

for (const { row, column, cell } of cells(breaks)) {
  test(`${row} breaks ${column} to ${cell}, and waits for what the client had not written yet`, async (t) => {
    const it = await sideBySide(t);
    const handle = await openSmb(it.client, 'a.txt', { oplock: column as 'batch' });
    let done = false;
    const asked = request(row)(it).finally(() => (done = true));
    assert.equal(await handle.broken(), oplocks[cell as 'none']);
    assert.equal(await handle.write('flushed'), 'SUCCESS');
    assert.equal(done, false, 'it waits');
    assert.equal(await handle.acknowledge(cell as 'none'), 'SUCCESS');
    const answer = await asked;
    assert.equal(outcome(answer), 'ok');
    if (row === 'Get File') assert.equal(answer.text, 'flushedorld');
    await handle.close();
  });
}

test('Delete File breaks a batch oplock; a client that then closes lets it go on', async (t) => {
  const { client, file } = await sideBySide(t);
  const handle = await openSmb(client, 'a.txt', { oplock: 'batch' });
  const asked = file.delete();
  assert.equal(await handle.broken(), oplocks.levelTwo);
  assert.equal(await handle.close(), 'SUCCESS');
  await gives(asked, 202);
});

test('REST reads beside level II; REST writes take it away without waiting', async (t) => {
  const { client, file } = await sideBySide(t);
  const handle = await openSmb(client, 'a.txt', { oplock: 'levelTwo' });
  assert.equal(await file.text(), 'hello world');
  await gives(file.write('x'), 201);
  assert.equal(await handle.broken(), oplocks.none);
  assert.equal(await handle.read(), 'xello world');
  await handle.close();
});

test('a client that is gone leaves neither locks nor share modes nor oplocks', async (t) => {
  const { client, file, smb } = await sideBySide(t);
  const handle = await openSmb(client, 'a.txt', { share: shareMode.read, oplock: 'batch' });
  assert.equal(await handle.lock(0, 5, 'exclusive'), 'SUCCESS');
  client.close();
  while (smb.opens.counters.handles > 0) await new Promise((resolve) => setImmediate(resolve));
  await gives(file.write('x'), 201);
  await gives(file.acquire(), 201);
});

test('REST takes a share away: its handles are closed, the client is told so', async (t) => {
  const { client, share, smb } = await sideBySide(t);
  const handle = await openSmb(client, 'a.txt');
  await gives(share.delete(), 202);
  assert.equal(smb.opens.counters.handles, 0);
  assert.equal(await handle.read(), 'FILE_CLOSED');
  assert.equal(statusOf(await tryOpen(client, 'a.txt')), 'NETWORK_NAME_DELETED');
});

test('a snapshot that REST took is a previous version over SMB, read-only', async (t) => {
  const { client, file, share } = await sideBySide(t);
  const taken = Date.parse(await share.snapshot());
  await gives(file.write('HELLO'), 201);
  const version = (at: number) => snapshotName(ticksOf(at));
  const old = await openSmb(client, `${version(taken)}\\a.txt`, { access: access.readData });
  assert.equal(await old.read(), 'hello world');
  await gives(file.delete(), 202);
  assert.equal(await old.read(), 'hello world');
  assert.equal(await old.close(), 'SUCCESS');
  const opened = async (path: string, mask: number = access.readData) =>
    statusOf(await tryOpen(client, path, { access: mask }));
  assert.equal(await opened('a.txt'), 'OBJECT_NAME_NOT_FOUND');
  assert.equal(await opened(version(taken)), 'SUCCESS', 'its root');
  assert.equal(await opened(`${version(taken)}\\a.txt`, access.writeData), 'ACCESS_DENIED');
  assert.equal(await opened(`${version(taken)}\\new`), 'OBJECT_NAME_NOT_FOUND');
  assert.equal(await opened(`${version(taken - 1000)}\\a.txt`), 'OBJECT_NAME_NOT_FOUND');
  assert.equal(await opened('@GMT-2026.13.41-99.00.00\\a.txt'), 'OBJECT_NAME_NOT_FOUND');
  const created = await tryOpen(client, `${version(taken)}\\new`, { disposition: 'create' });
  assert.equal(statusOf(created), 'MEDIA_WRITE_PROTECTED');
});
