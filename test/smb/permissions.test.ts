// Permissions as SMB clients meet them: enforced if the server is told so, over SMB alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { access, allAccess } from '#src/services/file/access.js';
import { makeDescriptor, readDescriptor } from '#src/services/file/descriptor.js';
import { formatSddl, parseSddl } from '#src/services/file/sddl.js';
import { readCreateContexts } from '#src/smb/wire/create-contexts.js';
import * as wire from '#src/smb/wire/files.js';
import { sideBySide } from '../support/side-by-side.js';
import type { SmbClient } from '../support/smb-client.js';
import { connectSmb, openedSmb, openSmb, type SmbHandle, statusOf, tryOpen } from '../support/smb-files.js';

const parts = { owner: 1, group: 2, dacl: 4 } as const;
const everyPart = parts.owner | parts.group | parts.dacl;

async function setSecurity(client: SmbClient, { fileId }: SmbHandle, sddl: string, additional: number) {
  const parsed = parseSddl(sddl);
  assert.ok(parsed.ok);
  const buffer = makeDescriptor(parsed.value);
  const request = wire.setInfoRequest.make({ infoType: 3, infoClass: 0, additional, fileId, buffer });
  return statusOf(await client.request('setInfo', request));
}

/** In words, or why not. */
async function security(client: SmbClient, { fileId }: SmbHandle): Promise<string> {
  const request = wire.queryInfoRequest.make({
    ...{ infoType: 3, infoClass: 0, outputLength: 4096, inputLength: 0, inputOffset: 0 },
    ...{ additional: everyPart, flags: 0, fileId },
  });
  const answer = await client.request('queryInfo', request);
  if (answer?.status !== 0) return statusOf(answer);
  const read = readDescriptor(Buffer.from(wire.bufferResponse.read(answer.message).buffer));
  assert.ok(read.ok);
  const text = formatSddl(read.value);
  assert.ok(text.ok);
  return text.value;
}

/** What MxAc tells. */
async function maximal(client: SmbClient, name: string): Promise<number> {
  const asked = { access: access.readData, contexts: [['MxAc', Buffer.alloc(0)]] } as const;
  const answer = await tryOpen(client, name, asked);
  const handle = openedSmb(client, answer);
  const { contexts } = wire.createResponse.read(answer?.message ?? Buffer.alloc(0));
  await handle.close();
  return readCreateContexts(contexts).get('MxAc')?.readUInt32LE(4) ?? 0;
}

const readsOnly = { 'x-ms-file-permission': 'O:BAG:BAD:(A;;FR;;;AU)' };
const reads = 0x120089;

// biome-ignore format: a table
const modes = [
  // mode       opened to write  the most there is (DELETE is the directory's to give)
  ['superuser', 'SUCCESS',       allAccess],
  ['enforce',   'ACCESS_DENIED', reads | access.delete],
] as const;
for (const [aclMode, written, most] of modes) {
  test(`${aclMode}: a file that allows reading is opened to write: ${written}; REST writes it`, async (t) => {
    const { file, smb } = await sideBySide(t, { aclMode });
    assert.equal((await file.put('comp=properties', readsOnly)).status, 200);
    assert.equal((await file.write('HELLO')).status, 201);
    const client = await connectSmb(smb.port);
    const reader = await openSmb(client, 'a.txt', { access: access.readData });
    assert.equal(await reader.read(), 'HELLO world');
    const writer = await tryOpen(client, 'a.txt', { access: access.writeData });
    assert.equal(statusOf(writer), written);
    if (written === 'SUCCESS') await openedSmb(client, writer).close();
    assert.equal(await maximal(client, 'a.txt'), most);
    assert.equal(await reader.close(), 'SUCCESS');
  });
}

test('a descriptor is read and set with the rights of the handle, and counts from the next open on', async (t) => {
  const { file, smb } = await sideBySide(t, { aclMode: 'enforce' });
  const client = await connectSmb(smb.port);
  const writer = await openSmb(client, 'a.txt', { access: access.writeData });
  assert.equal(await security(client, writer), 'ACCESS_DENIED');
  assert.equal(await setSecurity(client, writer, 'O:SYG:SYD:', parts.dacl), 'ACCESS_DENIED');

  const rights = await openSmb(client, 'a.txt', { access: access.readControl | access.writeDac });
  assert.equal(await setSecurity(client, rights, 'O:BAG:BAD:', parts.owner), 'ACCESS_DENIED');
  assert.equal(await setSecurity(client, rights, 'O:BAG:BAD:(A;;GR;;;SY)', parts.dacl), 'SUCCESS');
  assert.equal(await security(client, rights), 'O:SYG:SYD:(A;;FR;;;SY)', 'rights are those of files');
  assert.equal(await writer.write('J'), 'SUCCESS', 'a handle keeps what it was granted');
  assert.equal(statusOf(await tryOpen(client, 'a.txt', { access: access.writeData })), 'ACCESS_DENIED');
  const owners = await openSmb(client, 'a.txt', { access: access.writeDac });

  const owner = await tryOpen(client, 'a.txt', { access: access.writeOwner });
  assert.equal(statusOf(owner), 'ACCESS_DENIED');
  assert.equal((await file.write('Y', 1)).status, 201);
  for (const handle of [writer, rights, owners]) assert.equal(await handle.close(), 'SUCCESS');
});

test('who is no owner and has nothing cannot give it itself', async (t) => {
  const { file, smb } = await sideBySide(t, { aclMode: 'enforce' });
  const nothing = { 'x-ms-file-permission': 'O:BAG:BAD:' };
  assert.equal((await file.put('comp=properties', nothing)).status, 200);
  const client = await connectSmb(smb.port);
  for (const mask of [access.readControl, access.writeDac, access.writeOwner, access.readData]) {
    assert.equal(statusOf(await tryOpen(client, 'a.txt', { access: mask })), 'ACCESS_DENIED');
  }
  const byDirectory = await openSmb(client, 'a.txt', { access: access.delete | access.readAttributes });
  assert.equal(await byDirectory.setDelete(true), 'SUCCESS');
  assert.equal(await byDirectory.close(), 'SUCCESS');
  assert.equal((await file.get()).status, 404);
});

test('a file created with a descriptor has it, one created without has what is handed down', async (t) => {
  const { smb } = await sideBySide(t, { aclMode: 'enforce' });
  const client = await connectSmb(smb.port);
  const parsed = parseSddl('O:SYG:SYD:(A;;GR;;;SY)');
  assert.ok(parsed.ok);
  const contexts = [['SecD', makeDescriptor(parsed.value)]] as const;
  const given = await openSmb(client, 'given', { disposition: 'create', contexts });
  assert.equal(await security(client, given), 'O:SYG:SYD:(A;;FR;;;SY)');
  const inherited = await openSmb(client, 'inherited', { disposition: 'create' });
  const handed = 'O:SYG:SYD:(A;;FA;;;BA)(A;;FA;;;SY)(A;;0x1200a9;;;BU)(A;;0x1301bf;;;AU)(A;;FA;;;SY)';
  assert.equal(await security(client, inherited), handed);
  assert.equal(await given.write('new'), 'SUCCESS', 'who creates it may write it');
  for (const handle of [given, inherited]) assert.equal(await handle.close(), 'SUCCESS');
  assert.equal(statusOf(await tryOpen(client, 'given', { access: access.writeData })), 'ACCESS_DENIED');
});
