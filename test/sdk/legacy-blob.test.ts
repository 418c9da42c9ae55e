// azure-storage, the SDK before the current one: many programs still have it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import azure from 'azure-storage';
import { developmentAccount } from '#src/services/common/accounts.js';
import { startServer } from '../support/server.js';

async function connect(t: Parameters<typeof startServer>[0]) {
  const server = await startServer(t, 'blob');
  const host = `http://127.0.0.1:${server.address.port}/${developmentAccount.name}`;
  const service = azure.createBlobService(developmentAccount.name, developmentAccount.keys[0], host);
  const call = <Result>(method: string, ...parameters: unknown[]): Promise<Result> =>
    promisify(
      (service as unknown as Record<string, (...all: unknown[]) => void>)[method]?.bind(service) as never,
    )(...(parameters as [])) as Promise<Result>;
  await call('createContainer', 'photos');
  return { call, server };
}

interface Result {
  readonly etag: string;
  readonly id: string;
  readonly name: string;
}

test('create, read, list, lease, snapshot, copy, delete', async (t) => {
  const { call } = await connect(t);
  const made = await call<Result>('createBlockBlobFromText', 'photos', 'cat.txt', 'hello');
  assert.match(made.etag, /^"0x[0-9A-F]+"$/);
  assert.equal(await call('getBlobToText', 'photos', 'cat.txt'), 'hello');
  const listed = await call<{ entries: Result[] }>('listBlobsSegmented', 'photos', null);
  assert.deepEqual(
    listed.entries.map(({ name }) => name),
    ['cat.txt'],
  );
  const stale = { accessConditions: { EtagMatch: '"0x1"' } };
  await assert.rejects(call('createBlockBlobFromText', 'photos', 'cat.txt', 'x', stale), { statusCode: 412 });

  const lease = await call<Result>('acquireLease', 'photos', 'cat.txt', { leaseDuration: 15 });
  await assert.rejects(call('deleteBlob', 'photos', 'cat.txt'), { statusCode: 412, code: 'LeaseIdMissing' });
  await call('releaseLease', 'photos', 'cat.txt', lease.id);

  const snapshot = await call<string>('createBlobSnapshot', 'photos', 'cat.txt');
  assert.match(snapshot, /^\d{4}-/);
  await call('appendFromText', 'photos', 'log', 'x').catch((error: { statusCode: number }) => {
    assert.equal(error.statusCode, 404);
  });
  await call('createAppendBlobFromText', 'photos', 'log', 'one');
  await call('appendFromText', 'photos', 'log', 'two');
  assert.equal(await call('getBlobToText', 'photos', 'log'), 'onetwo');
  await call('deleteBlob', 'photos', 'cat.txt', { deleteSnapshots: 'include' });
  const exists = await call<{ exists: boolean }>('doesBlobExist', 'photos', 'cat.txt');
  assert.equal(exists.exists, false);
  await call('deleteContainer', 'photos');
});
