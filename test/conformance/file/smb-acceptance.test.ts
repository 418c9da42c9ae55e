// Section 17 of the specification: the acceptance list of the shared lock table. Items 1, 2, 3, 5, 6, 8 and 10 are cells of
// smb-interaction.test.ts; here are those that need the SMB side's own operations.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { access, share as shareMode } from '#src/services/file/access.js';
import type { FileContext } from '#src/services/file/attempts.js';
import { type OpenFileRequest, openFile } from '#src/services/file/open-file.js';
import { FileRefused } from '#src/services/file/refusals.js';
import { cachingBits, cachingText, type Given, given, header } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

async function contextOf({ service, server }: Given): Promise<FileContext> {
  const volume = await service.volumes.open(server.account.name, 'files');
  assert.ok(volume);
  return { volume, opens: service.opens, wait: (changed) => changed };
}

let nextId = 1n;

function openRequest(more: Partial<OpenFileRequest>): OpenFileRequest {
  return {
    ...{ id: nextId++, path: ['a.txt'], kind: 'file', disposition: 'open', maximum: false },
    ...{
      access: access.readData,
      share: shareMode.all,
      attributes: 0,
      deleteOnClose: false,
      writeThrough: false,
    },
    ...{ security: undefined, wish: { kind: 'none' } },
    owner: {
      ...{ sessionId: 5n, client: '10.0.0.1:1', clientName: 'HOST', openedAt: 0 },
      breaking: () => {},
      closed: () => {},
    },
    ...more,
  };
}

// Item 4: a leased file and what an SMB client asks for.
const opens = `
  asks for           access     disposition   outcome
  read               0x1        open          opened
  attributes         0x80       open          opened
  write              0x2        open          SharingViolation
  append             0x4        open          SharingViolation
  delete             0x10000    open          SharingViolation
  read and write     0x3        open          SharingViolation
  overwriting        0x1        overwriteIf   SharingViolation
`;

for (const row of rows(opens)) {
  const { access: mask, disposition, outcome: expected } = row;
  test(`4: a leased file, and an SMB open for ${row['asks for']}: ${expected}`, async (t) => {
    const it = await given(t, { file: 'a.txt', leased: true });
    const request = openRequest({
      access: Number(mask),
      disposition: disposition as OpenFileRequest['disposition'],
    });
    const outcome = await openFile(await contextOf(it), request).then(
      ({ action }) => action,
      (error: unknown) => (error instanceof FileRefused ? error.code : error),
    );
    assert.equal(outcome, expected);
    await it.service.opens.close(request.id);
  });
}

test('4: a lease that was broken or released lets SMB write again', async (t) => {
  const it = await given(t, { file: 'a.txt', leased: true });
  await gives(it.file.lease('break'), 202);
  const request = openRequest({ access: access.writeData });
  assert.equal((await openFile(await contextOf(it), request)).action, 'opened');
  await it.service.opens.close(request.id);
});

test('7: Get File returns what a client had cached, which is left with RH', async (t) => {
  const it = await given(t, { file: 'a.txt' });
  const { volume } = await contextOf(it);
  const id = await it.file.id();
  const wish = { kind: 'lease', key: 'k', state: cachingBits('RWH'), epoch: 0 } as const;
  const client = await it.clients.open(id, {
    wish,
    onBreak: (notice, holder) => {
      const flushed = volume.write(id, 6, Buffer.from('cached'), { keepWritten: false });
      void flushed.then(() => holder.acknowledge(notice.to));
    },
  });
  assert.equal(await it.file.text(), 'hello cached');
  assert.equal(cachingText(client.cache?.state ?? 0), 'RH');
  await client.close();
});

test('9: handles closed by force: counted, their locks gone, their owner told', async (t) => {
  const it = await given(t, { file: 'docs/a.txt', directory: 'docs' });
  const { opens: table } = it.service;
  const id = await it.file.id();
  const client = await it.clients.open(id);
  const range = { offset: 0n, length: 10n, exclusive: true, owner: client.id };
  await table.lock(client.id, [range], false);
  await refuses(it.file.write('x'), 409, 'FileLockConflict');
  const listed = await gives(it.directory.get('comp=listhandles', { 'x-ms-recursive': 'true' }), 200);
  assert.match(listed.text, /<Path>docs\/a.txt<\/Path>/);
  const closed = await gives(
    it.file.put('comp=forceclosehandles', { 'x-ms-handle-id': String(client.id) }),
    200,
  );
  assert.equal(header(closed, 'x-ms-number-of-handles-closed'), '1');
  assert.equal(header(closed, 'x-ms-number-of-handles-failed'), '0');
  assert.deepEqual(client.closed, [client.id]);
  assert.deepEqual(
    { ...table.counters, breaks: 0 },
    { files: 0, handles: 0, locks: 0, caches: 0, breaks: 0 },
  );
  await gives(it.file.write('x'), 201);
});
