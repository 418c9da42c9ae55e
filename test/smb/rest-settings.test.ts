// What an account sets of REST and SMB side by side: which changes are told, what a file that waits to be deleted is called,
// how long the name of a deleted share is held.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breakingOff, endedInTime, foreignServer, slow, until } from '../support/foreign.js';
import { gives, refuses } from '../support/server.js';
import { sideBySide } from '../support/side-by-side.js';
import { SmbClient } from '../support/smb-client.js';
import { connectSmb, openSmb, statusOf } from '../support/smb-files.js';

test('an SMB client is told of changes over REST if its account wants it', async (t) => {
  const { share, file, smb } = await sideBySide(t, { settings: { notifySmbOnRest: true } });
  const client = await connectSmb(smb.port);
  const root = await openSmb(client, '');
  const told = async (work: Promise<unknown>): Promise<string[]> => {
    const [changes] = await Promise.all([root.changed(), work]);
    return changes;
  };
  const next = async () => assert.equal(await root.watch(), 'PENDING');
  await next();
  assert.deepEqual(await told(gives(share.directory('d').put(), 201)), ['1 d']);
  await next();
  assert.deepEqual(await told(gives(share.file('d/x').create(10), 201)), ['1 d\\x']);
  await next();
  assert.deepEqual(await told(gives(share.file('d/x').write('abc'), 201)), ['3 d\\x']);
  await next();
  assert.deepEqual(await told(gives(share.file('d/y').renameFrom(share.file('d/x')), 200)), [
    '4 d\\x',
    '5 d\\y',
  ]);
  await next();
  assert.deepEqual(await told(gives(share.file('z').renameFrom(share.file('d/y')), 200)), ['2 d\\y', '1 z']);
  await next();
  assert.deepEqual(await told(gives(share.file('z').delete(), 202)), ['2 z']);
  await next();
  assert.deepEqual(await told(gives(share.directory('d').delete(), 202)), ['2 d']);
  await next();
  await gives(file.setMetadata({ 'x-ms-meta-a': '1' }), 200); // nothing that SMB sees
  assert.deepEqual(await told(gives(file.setProperties({ 'x-ms-file-attributes': 'Hidden' }), 200)), [
    '3 a.txt',
  ]);
  await root.close();
});

test('it is told when a copy from another server ends: done, aborted, failed', async (t) => {
  const state = { settings: { notifySmbOnRest: true }, copySources: 'any' } as const;
  const { server, share, smb } = await sideBySide(t, state);
  const client = await connectSmb(smb.port);
  const root = await openSmb(client, '');
  const next = async () => assert.equal(await root.watch(), 'PENDING');
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const begin = async (name: string, url: string) => {
    await next();
    const begun = await gives(share.file(name).copyFrom(url), 202);
    assert.deepEqual(await root.changed(), [`1 ${name}`]);
    await next();
    return begun.headers.get('x-ms-copy-id');
  };
  await begin('done', foreign.url);
  await until(() => foreign.requests.length === 2);
  source.letGo();
  assert.deepEqual(await root.changed(), ['3 done']);
  const id = await begin('aborted', foreign.url);
  await gives(share.file('aborted').put(`comp=copy&copyid=${id}`, { 'x-ms-copy-action': 'abort' }), 204);
  assert.deepEqual(await root.changed(), ['3 aborted']);
  await begin('failed', (await foreignServer(t, breakingOff())).url);
  assert.equal(await endedInTime(share.file('failed'), server), 'failed');
  assert.deepEqual(await root.changed(), ['3 failed']);
  await root.close();
});

test('it is told of none otherwise', async (t) => {
  const { share, smb } = await sideBySide(t);
  const client = await connectSmb(smb.port);
  const root = await openSmb(client, '');
  assert.equal(await root.watch(), 'PENDING');
  await gives(share.directory('rest').put(), 201);
  const other = await connectSmb(smb.port);
  const made = await openSmb(other, 'smb', { disposition: 'create' });
  assert.deepEqual(await root.changed(), ['1 smb']);
  await made.close();
  await root.close();
});

test('what a file that waits to be deleted is called', async (t) => {
  const { file, smb } = await sideBySide(t, { settings: { deletePendingErrorCode: 'DeletePending' } });
  const client = await connectSmb(smb.port);
  const handle = await openSmb(client, 'a.txt');
  assert.equal(await handle.setDelete(true), 'SUCCESS');
  const { text } = await refuses(file.get(), 409, 'DeletePending');
  assert.match(text, /marked for deletion by an SMB client/);
  await handle.close();
  await refuses(file.get(), 404, 'ResourceNotFound');
});

test('how long the name of a deleted share is held', async (t) => {
  const { share } = await sideBySide(t, { settings: { nameHeldMs: 0 } });
  await gives(share.delete(), 202);
  await gives(share.put(), 201);
});

test('versions of SMB that the account does not have are refused when it logs on', async (t) => {
  const { server, smb } = await sideBySide(t);
  const set = (versions: string) =>
    gives(
      server.ask({
        method: 'PUT',
        path: '/?restype=service&comp=properties',
        body: `<StorageServiceProperties><ProtocolSettings><SMB>${versions}</SMB></ProtocolSettings></StorageServiceProperties>`,
      }),
      202,
    );
  const logOn = async () => {
    const client = await SmbClient.connect(smb.port);
    await client.negotiate([0x0210]);
    const status = statusOf(await client.logOn());
    client.close();
    return status;
  };
  assert.equal(await logOn(), 'SUCCESS');
  await set('<Versions>SMB3.0;SMB3.1.1;</Versions>');
  assert.equal(await logOn(), 'ACCESS_DENIED');
  await set('<EncryptionInTransit><Required>true</Required></EncryptionInTransit>');
  assert.equal(await logOn(), 'ACCESS_DENIED', 'a client that cannot encrypt');
  await set('<Versions>SMB2.1;</Versions>');
  assert.equal(await logOn(), 'SUCCESS');
});
