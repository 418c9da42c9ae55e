// Snapshots of a share as SMB clients find them: listed by a control, opened by the time in a context.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { access } from '#src/services/file/access.js';
import { ticksOf } from '#src/services/file/file-system.js';
import { snapshotName } from '#src/smb/previous-versions.js';
import { ioctlRequest, ioctlResponse } from '#src/smb/wire/files.js';
import { sideBySide } from '../support/side-by-side.js';
import type { SmbClient } from '../support/smb-client.js';
import { connectSmb, openedSmb, openSmb, type SmbHandle, statusOf, tryOpen } from '../support/smb-files.js';

const enumerateSnapshots = 0x00144064;

async function listed(client: SmbClient, { fileId }: SmbHandle, maxOutput = 4096) {
  const request = ioctlRequest.make({
    ...{
      code: enumerateSnapshots,
      fileId,
      maxInput: 0,
      outputOffset: 0,
      outputLength: 0,
      maxOutput,
      flags: 1,
    },
    input: Buffer.alloc(0),
  });
  const answer = await client.request('ioctl', request);
  assert.ok(answer?.status === 0, statusOf(answer));
  const { output } = ioctlResponse.read(answer.message);
  const [count, returned] = [output.readUInt32LE(0), output.readUInt32LE(4)];
  const names = output
    .toString('utf16le', 12)
    .split('\0')
    .filter((name) => name !== '');
  return { count, returned, names };
}

test('snapshots are listed newest first, their number alone where there is no room for names', async (t) => {
  const { share, smb } = await sideBySide(t);
  const client = await connectSmb(smb.port);
  const root = await openSmb(client, '', { access: access.readData });
  assert.deepEqual(await listed(client, root), { count: 0, returned: 0, names: [] });
  const first = Date.parse(await share.snapshot());
  const second = Date.parse(await share.snapshot());
  const names = [second, first].map((taken) => snapshotName(ticksOf(taken)));
  assert.deepEqual(await listed(client, root), { count: 2, returned: 2, names });
  assert.deepEqual(await listed(client, root, 16), { count: 2, returned: 0, names: [] });
  assert.equal(await root.close(), 'SUCCESS');
});

test('the time in a context opens the snapshot of that second, read-only', async (t) => {
  const { file, share, smb } = await sideBySide(t);
  const taken = Date.parse(await share.snapshot());
  assert.equal((await file.write('HELLO')).status, 201);
  const client = await connectSmb(smb.port);
  const at = (ms: number, mask: number = access.readData) => {
    const time = Buffer.alloc(8);
    time.writeBigUInt64LE(ticksOf(ms));
    return tryOpen(client, 'a.txt', { access: mask, contexts: [['TWrp', time]] });
  };
  const old = openedSmb(client, await at(taken));
  const now = await openSmb(client, 'a.txt');
  assert.equal(await old.read(), 'hello world');
  assert.equal(await now.read(), 'HELLO world');
  assert.equal(statusOf(await at(taken, access.writeData)), 'ACCESS_DENIED');
  assert.equal(statusOf(await at(taken - 60_000)), 'OBJECT_NAME_NOT_FOUND');
  assert.equal(await old.close(), 'SUCCESS');
  assert.equal(await now.close(), 'SUCCESS');
});
