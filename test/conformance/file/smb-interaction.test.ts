// REST against SMB: section 13 of the specification, cell by cell. The opens of SMB clients are made directly on the lock
// table; a real SMB client does the same in test/smb.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, rows } from '#src/base/cells.suite.js';
import { access, attribute, share as shareMode } from '#src/services/file/access.js';
import { type Client, cachingBits, cachingText, given, header, leaseA } from '../../support/given-file.js';
import {
  givenFile,
  modeOf,
  outcome,
  request,
  requests,
  sharing,
  violation,
} from '../../support/rest-requests.js';
import { gives, refuses } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

// 13.3
for (const { row, column, cell } of cells(sharing)) {
  test(`${column} of a file whose SMB client shares ${row}: ${cell}`, async (t) => {
    const it = await givenFile(t);
    const client = await it.clients.open(it.id, { share: modeOf(row) });
    const answer = await request(column)(it);
    assert.equal(outcome(answer), cell === 'X' ? violation : 'ok', answer.text);
    if (cell === 'X') assert.match(answer.text, /may be in use by an SMB client/);
    await client.close();
  });
}

test('several opens: any violation is one', async (t) => {
  const it = await givenFile(t);
  const reads = { access: access.readData, share: shareMode.all };
  const all = await it.clients.open(it.id, reads);
  const few = await it.clients.open(it.id, { access: access.readData, share: shareMode.read });
  await refuses(it.file.write('x'), 409, 'SharingViolation');
  await few.close();
  await gives(it.file.write('x'), 201);
  await all.close();
});

test('an open for attributes alone hinders nothing but deleting', async (t) => {
  const it = await givenFile(t);
  const client = await it.clients.open(it.id, { access: access.readAttributes, share: 0 });
  for (const name of ['Get File', 'Put Range', 'Set Metadata', 'Create File', 'Get Properties']) {
    assert.equal(outcome(await request(name)(it)), 'ok', name);
  }
  await refuses(it.file.delete(), 409, 'SharingViolation');
  await client.close();
  await gives(it.file.delete(), 202);
});

// 13.5: what is open already, and whether a lease can be had.
const leases = `
  open                access     lease
  attributes          0x80       ok
  read                0x1        ok
  write               0x2        409 SharingViolation
  append              0x4        409 SharingViolation
  delete              0x10000    409 SharingViolation
  read and write      0x3        409 SharingViolation
  read and delete     0x10001    409 SharingViolation
`;

for (const { open = '', access: mask, lease } of rows(leases)) {
  test(`a file that is open for ${open}: acquire gives ${lease}`, async (t) => {
    const it = await givenFile(t);
    const client = await it.clients.open(it.id, { access: Number(mask) });
    assert.equal(outcome(await it.file.acquire()), lease);
    await client.close();
  });
}

test('a writer with the right lease id still has to pass the share modes', async (t) => {
  const it = await givenFile(t, { leased: true });
  const client = await it.clients.open(it.id, { access: access.readData, share: shareMode.read });
  const lease = { 'x-ms-lease-id': leaseA };
  await refuses(it.file.write('x', 0, lease), 409, 'SharingViolation');
  await client.close();
  await gives(it.file.write('x', 0, lease), 201);
});

// 13.6
const allOfAFile = Object.keys(requests).filter((name) => name !== 'List');

for (const name of allOfAFile) {
  test(`${name} of a file that waits to be deleted: 409 SMBDeletePending`, async (t) => {
    const it = await givenFile(t);
    const client = await it.clients.open(it.id);
    await it.service.opens.setDeletePending(client.id, true);
    assert.equal(outcome(await request(name)(it)), '409 SMBDeletePending');
    await it.service.opens.setDeletePending(client.id, false);
    await client.close();
  });
}

test('a file that waits to be deleted: not listed, its handles are; then normal again, then gone', async (t) => {
  const it = await givenFile(t);
  const { opens } = it.service;
  const client = await it.clients.open(it.id);
  await opens.setDeletePending(client.id, true);
  assert.deepEqual(await it.share.root.names(), ['source']);
  await refuses(it.file.head(), 409, 'SMBDeletePending');
  await refuses(it.file.acquire(), 409, 'SMBDeletePending');
  assert.match((await gives(it.file.get('comp=listhandles'), 200)).text, /<HandleId>1000<\/HandleId>/);
  await opens.setDeletePending(client.id, false);
  assert.deepEqual(await it.share.root.names(), ['a.txt', 'source']);
  await gives(it.file.head(), 200);
  await opens.setDeletePending(client.id, true);
  const closed = await gives(it.file.put('comp=forceclosehandles', { 'x-ms-handle-id': '*' }), 200);
  assert.equal(header(closed, 'x-ms-number-of-handles-closed'), '1');
  await refuses(it.file.head(), 404, 'ResourceNotFound');
});

test('a directory that waits to be deleted refuses everything, also what would be created in it', async (t) => {
  const it = await given(t, { directory: 'docs' });
  const id = BigInt(header(await gives(it.directory.head(), 200), 'x-ms-file-id'));
  const client = await it.clients.open(id);
  await it.service.opens.setDeletePending(client.id, true);
  await refuses(it.directory.get(), 409, 'SMBDeletePending');
  await refuses(it.directory.list(), 409, 'SMBDeletePending');
  await refuses(it.directory.put(), 409, 'SMBDeletePending');
  await refuses(it.directory.delete(), 409, 'SMBDeletePending');
  await refuses(it.share.directory('docs/sub').put(), 409, 'SMBDeletePending');
  await refuses(it.share.file('docs/new').create(0), 409, 'SMBDeletePending');
  await refuses(it.share.directory('other').renameFrom(it.directory), 409, 'SMBDeletePending');
  assert.deepEqual(await it.share.root.names(), []);
  await it.service.opens.setDeletePending(client.id, false);
  await client.close();
  await gives(it.directory.delete(), 202);
});

// 13.7
const readOnly = `
  request             outcome
  Create File         409 ReadOnlyAttribute
  Set Properties      409 ReadOnlyAttribute
  Resize              409 ReadOnlyAttribute
  Set Metadata        409 ReadOnlyAttribute
  Put Range           409 ReadOnlyAttribute
  Clear Range         409 ReadOnlyAttribute
  Put Range From URL  409 ReadOnlyAttribute
  Copy onto           409 ReadOnlyAttribute
  Replace by rename   409 ReadOnlyAttribute
  Delete File         409 CannotDeleteFileOrDirectory
  Get File            ok
  Copy source         ok
  Rename source       ok
  Lease               ok
`;

for (const { request: name = '', outcome: expected } of rows(readOnly)) {
  test(`${name} of a read-only file: ${expected}`, async (t) => {
    const it = await givenFile(t, { headers: { 'x-ms-file-attributes': 'ReadOnly' } });
    assert.equal(outcome(await request(name)(it)), expected);
  });
}

test('the request that takes read-only away is let through', async (t) => {
  const it = await givenFile(t, { headers: { 'x-ms-file-attributes': 'ReadOnly' } });
  await gives(it.file.setProperties({ 'x-ms-file-attributes': 'Archive' }), 200);
  await gives(it.file.write('x'), 201);
});

test('read-only set over SMB counts, and so does taking it away', async (t) => {
  const it = await givenFile(t);
  const volume = await it.service.volumes.open(it.server.account.name, 'files');
  const set = (attributes: number) => volume?.transaction((tx) => tx.update(it.id, { attributes }));
  await set(attribute.readOnly);
  await refuses(it.file.write('x'), 409, 'ReadOnlyAttribute');
  await set(attribute.archive);
  await gives(it.file.write('x'), 201);
});

// 13.8: a lock on bytes 0 to 9 of 1000, and what is asked for.
const byteLocks = `
  request                 shared                exclusive
  Put Range at 500        409 FileLockConflict  409 FileLockConflict
  Clear Range             409 FileLockConflict  409 FileLockConflict
  Put Range From URL      409 FileLockConflict  409 FileLockConflict
  Create File             409 FileLockConflict  409 FileLockConflict
  Copy onto               409 FileLockConflict  409 FileLockConflict
  Resize                  409 FileLockConflict  409 FileLockConflict
  Get File 0-5            ok                    409 FileLockConflict
  Get File 9-20           ok                    409 FileLockConflict
  Get File 10-20          ok                    ok
  Copy source             ok                    409 FileLockConflict
  List Ranges             ok                    ok
  Set Properties          ok                    ok
  Set Metadata            ok                    ok
  Get Properties          ok                    ok
`;

const withRanges: typeof requests = {
  ...requests,
  'Put Range at 500': ({ file }) => file.write('x', 500),
  'Get File 0-5': ({ file }) => file.get('', { Range: 'bytes=0-5' }),
  'Get File 9-20': ({ file }) => file.get('', { Range: 'bytes=9-20' }),
  'Get File 10-20': ({ file }) => file.get('', { Range: 'bytes=10-20' }),
};

for (const row of rows(byteLocks)) {
  for (const kind of ['shared', 'exclusive'] as const) {
    const { request: name = '' } = row;
    test(`${name} with a ${kind} lock on bytes 0 to 9: ${row[kind]}`, async (t) => {
      const it = await givenFile(t, { content: Buffer.alloc(1000, 7) });
      const client = await it.clients.open(it.id);
      const range = { offset: 0n, length: 10n, exclusive: kind === 'exclusive', owner: client.id };
      assert.equal((await it.service.opens.lock(client.id, [range], false)).outcome, 'locked');
      assert.equal(outcome(await (withRanges[name] as (typeof requests)[string])(it)), row[kind]);
      await client.close();
    });
  }
}

// 13.9: what the holder keeps; + the request waits for its answer.
const breaks = `
                      RWH    RW     RH    R
  Get File            RH+    R+     RH    R
  List Ranges         RH+    R+     RH    R
  Get Properties      RH+    R+     RH    R
  Get Metadata        RH+    R+     RH    R
  Copy source         RH+    R+     RH    R
  List                RWH    RW     RH    R
  Put Range           none+  none+  none  none
  Clear Range         none+  none+  none  none
  Put Range From URL  none+  none+  none  none
  Set Properties      none+  none+  none  none
  Set Metadata        none+  none+  none  none
  Create File         none+  none+  none  none
  Copy onto           none+  none+  none  none
  Lease               RW+    RW     R+    R
  Rename source       RW+    RW     R+    R
`;

const shortTimeout = 1;

for (const { row, column, cell } of cells(breaks)) {
  test(`${row} where a client caches ${column}: it keeps ${cell}`, async (t) => {
    const it = await givenFile(t);
    const wish = { kind: 'lease', key: 'k', state: cachingBits(column), epoch: 0 } as const;
    let acknowledged = false;
    // The file's data is not needed for a lease: reading alone lets a REST lease be taken too.
    const client = await it.clients.open(it.id, {
      access: access.readData,
      wish,
      onBreak: (notice, holder) => {
        if (!notice.needsAck) return;
        setImmediate(() => {
          acknowledged = true;
          void holder.acknowledge(notice.to);
        });
      },
    });
    assert.equal(cachingText(client.cache?.state ?? 0), cachingText(cachingBits(column)));
    const answer = await request(row)(it);
    assert.equal(outcome(answer), 'ok', answer.text);
    assert.equal(acknowledged || !cell.endsWith('+'), true, 'the request waited for the answer');
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(cachingText(client.cache?.state ?? 0), cachingText(cachingBits(cell.replace('+', ''))));
    await client.close();
  });
}

const waiting = ['Get File', 'Put Range', 'Lease', 'Rename source', 'Get Properties', 'Set Metadata'];

for (const name of waiting) {
  test(`${name}: a client that does not answer in time: 408 ClientCacheFlushDelay`, async (t) => {
    const it = await givenFile(t);
    const wish = { kind: 'lease', key: 'k', state: cachingBits('RWH'), epoch: 0 } as const;
    const client = await it.clients.open(it.id, { access: access.readData, wish });
    const query = `timeout=${shortTimeout}`;
    const asked: Readonly<Record<string, () => Promise<WireAnswer>>> = {
      'Get File': () => it.file.get(query),
      'Get Properties': () => it.file.head(query),
      'Put Range': () =>
        it.file.put(`comp=range&${query}`, { 'x-ms-range': 'bytes=0-0', 'x-ms-write': 'update' }, 'x'),
      'Set Metadata': () => it.file.put(`comp=metadata&${query}`, { 'x-ms-meta-a': 'b' }),
      Lease: () =>
        it.file.put(`comp=lease&${query}`, { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }),
      'Rename source': () =>
        it.share.file('b').put(`comp=rename&${query}`, { 'x-ms-file-rename-source': it.file.url }),
    };
    await refuses((asked[name] as () => Promise<WireAnswer>)(), 408, 'ClientCacheFlushDelay');
    await client.close();
  });
}

test('deleting breaks a cached handle; the client closes it, and the file is gone', async (t) => {
  const it = await givenFile(t);
  const wish = { kind: 'lease', key: 'k', state: cachingBits('RH'), epoch: 0 } as const;
  const closes = (_: unknown, client: Client) => setImmediate(() => void client.close());
  const client = await it.clients.open(it.id, { wish, onBreak: closes });
  await gives(it.file.delete(), 202);
  assert.equal(client.notices.length, 1);
  await refuses(it.file.head(), 404, 'ResourceNotFound');
});

test('deleting breaks a cached handle; a client that keeps it open keeps the file', async (t) => {
  const it = await givenFile(t);
  const wish = { kind: 'lease', key: 'k', state: cachingBits('RWH'), epoch: 0 } as const;
  const client = await it.clients.open(it.id, {
    wish,
    onBreak: (notice, holder) => setImmediate(() => void holder.acknowledge(notice.to)),
  });
  await refuses(it.file.delete(), 409, 'SharingViolation');
  assert.equal(cachingText(client.cache?.state ?? 0), 'RW');
  await client.close();
});

test('a sharing violation first breaks cached handles: one that was only cached hinders nothing', async (t) => {
  const it = await givenFile(t);
  const wish = { kind: 'lease', key: 'k', state: cachingBits('RH'), epoch: 0 } as const;
  const closes = (_: unknown, client: Client) => setImmediate(() => void client.close());
  await it.clients.open(it.id, { access: access.readData, share: shareMode.read, wish, onBreak: closes });
  await gives(it.file.write('x'), 201);
});

test('a listing that tells sizes waits for who caches writes', async (t) => {
  const it = await givenFile(t);
  const wish = { kind: 'lease', key: 'k', state: cachingBits('RWH'), epoch: 0 } as const;
  const client = await it.clients.open(it.id, {
    wish,
    onBreak: (notice, holder) => setImmediate(() => void holder.acknowledge(notice.to)),
  });
  await gives(it.share.root.list(), 200);
  assert.equal(client.notices.length, 0);
  // Also where the page is not the last one.
  await gives(it.share.root.list('include=Timestamps&maxresults=1'), 200);
  assert.equal(cachingText(client.cache?.state ?? 0), 'RH');
  await client.close();
});

// Rename and delete of directories.
test('a directory with something open in it is neither renamed nor, when it is open itself, deleted', async (t) => {
  const it = await given(t, { file: 'docs/sub/a.txt', directory: 'docs' });
  const client = await it.clients.open(await it.file.id(), { access: access.readData });
  const renamed = it.share.directory('other');
  await refuses(renamed.renameFrom(it.directory), 409, 'SharingViolation');
  await client.close();
  await gives(renamed.renameFrom(it.directory), 200);
  assert.equal(await it.share.file('other/sub/a.txt').text(), 'hello world');
  await gives(it.share.directory('empty').put(), 201);
  const id = BigInt(header(await it.share.directory('empty').head(), 'x-ms-file-id'));
  const own = await it.clients.open(id, { access: access.readAttributes });
  await refuses(it.share.directory('empty').delete(), 409, 'SharingViolation');
  await refuses(it.share.directory('moved').renameFrom(it.share.directory('empty')), 409, 'SharingViolation');
  await own.close();
  await gives(it.share.directory('empty').delete(), 202);
});

test('a cached handle below a directory is given up before the directory is renamed', async (t) => {
  const it = await given(t, { file: 'docs/a.txt', directory: 'docs' });
  const wish = { kind: 'lease', key: 'k', state: cachingBits('RH'), epoch: 0 } as const;
  const closes = (_: unknown, client: Client) => setImmediate(() => void client.close());
  await it.clients.open(await it.file.id(), { access: access.readData, wish, onBreak: closes });
  await gives(it.share.directory('other').renameFrom(it.directory), 200);
});

test('a file open below with every handle sharing deletion can be renamed, else not', async (t) => {
  const it = await givenFile(t);
  const shares = await it.clients.open(it.id, { access: access.readData, share: shareMode.all });
  await gives(it.share.file('b').renameFrom(it.file), 200);
  const keeps = await it.clients.open(it.id, { access: access.readData, share: shareMode.read });
  await refuses(it.file.renameFrom(it.share.file('b')), 409, 'SharingViolation');
  await shares.close();
  await keeps.close();
});

test('an open file is not replaced by a rename, whatever it shares', async (t) => {
  const it = await givenFile(t);
  const client = await it.clients.open(it.id, { access: access.readData, share: shareMode.all });
  assert.equal(outcome(await request('Replace by rename')(it)), violation);
  await client.close();
  assert.equal(outcome(await request('Replace by rename')(it)), 'ok');
});

// 13.10: of two refusals the earlier one is told.
test('the checks have their order', async (t) => {
  const it = await givenFile(t, { leased: true });
  const client = await it.clients.open(it.id, { access: access.readData, share: 0 });
  await refuses(it.file.write('x'), 412, 'LeaseIdMissing');
  await it.service.opens.setDeletePending(client.id, true);
  await refuses(it.file.write('x'), 409, 'SMBDeletePending');
  await it.service.opens.setDeletePending(client.id, false);
  const lease = { 'x-ms-lease-id': leaseA };
  await refuses(it.file.write('x', 9999, lease), 409, 'SharingViolation');
  await client.close();
  await gives(it.file.setProperties({ 'x-ms-file-attributes': 'ReadOnly', ...lease }), 200);
  const other = await it.clients.open(it.id, { access: access.readData, share: 0 });
  await refuses(it.file.write('x', 0, lease), 409, 'ReadOnlyAttribute');
  await refuses(it.file.write('x', 0), 412, 'LeaseIdMissing');
  await other.close();
  await refuses(it.share.file('no/such').write('x'), 404, 'ParentNotFound');
});
