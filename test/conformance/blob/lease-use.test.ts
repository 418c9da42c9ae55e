// Which operations can use leases: every row of the two published lists, with no id, the right one, a wrong one,
// and in every state of the lease.

import { after, before, describe, test } from 'node:test';
import { cells, rows } from '#src/base/cells.suite.js';
import { type Blob, Container, leaseA, leaseB, type Resource } from '../../support/given.js';
import { gives, refuses, startServer, type TestServer } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

type Id = Readonly<Record<string, string | undefined>>;

/** What each operation needs: the id while the blob is leased, or that an id that is sent is right. */
const operations = `
  operation               need       success
  Put Blob                required   201
  Get Blob                checked    200
  Get Blob Properties     checked    200
  Set Blob Properties     required   200
  Get Blob Metadata       checked    200
  Set Blob Metadata       required   200
  Delete Blob             required   202
  Put Block               required   201
  Put Block List          required   201
  Get Block List          checked    200
  Snapshot Blob           checked    201
  Append Block            required   201
  Put Page                required   201
  Get Page Ranges         checked    200
`;

const requests: Readonly<Record<string, (blob: Blob, id: Id) => Promise<WireAnswer>>> = {
  'Put Blob': (blob, id) => blob.upload('v2', id),
  'Get Blob': (blob, id) => blob.get('', id),
  'Get Blob Properties': (blob, id) => blob.head('', id),
  'Set Blob Properties': (blob, id) => blob.put('comp=properties', id),
  'Get Blob Metadata': (blob, id) => blob.get('comp=metadata', id),
  'Set Blob Metadata': (blob, id) => blob.put('comp=metadata', id),
  'Delete Blob': (blob, id) => blob.delete('', id),
  'Put Block': (blob, id) => blob.putBlock('b', 'v2', id),
  'Put Block List': (blob, id) => blob.commit([], id),
  'Get Block List': (blob, id) => blob.get('comp=blocklist', id),
  'Snapshot Blob': (blob, id) => blob.put('comp=snapshot', id),
  'Append Block': (blob, id) => blob.append('v2', id),
  'Put Page': (blob, id) =>
    blob.put('comp=page', { 'x-ms-page-write': 'clear', Range: 'bytes=0-511', ...id }),
  'Get Page Ranges': (blob, id) => blob.get('comp=pagelist', id),
};

const required = `
           available                          leased A                           breaking A                         broken A                           expired A
  no id    ok                                 LeaseIdMissing                     LeaseIdMissing                     ok                                 ok
  id A     LeaseNotPresentWithBlobOperation   ok                                 ok                                 LeaseLost                          LeaseLost
  id B     LeaseNotPresentWithBlobOperation   LeaseIdMismatchWithBlobOperation   LeaseIdMismatchWithBlobOperation   LeaseIdMismatchWithBlobOperation   LeaseIdMismatchWithBlobOperation
`;

const checked = required.replace(/no id.*/, 'no id    ok  ok  ok  ok  ok');

let server: TestServer;
const stops: (() => Promise<void>)[] = [];
before(async () => {
  server = await startServer({ after: (stop) => stops.push(stop as () => Promise<void>) }, 'blob');
});
after(async () => {
  for (const stop of stops) await stop();
});

async function bring(resource: Resource, state: string): Promise<void> {
  if (state === 'available') return;
  await gives(resource.acquire(60), 201);
  if (state === 'breaking A') await gives(resource.lease('break'), 202);
  if (state === 'broken A') await gives(resource.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
  if (state === 'expired A') server.pass(61);
}

function idOf(row: string): Id {
  return { 'x-ms-lease-id': { 'no id': undefined, 'id A': leaseA, 'id B': leaseB }[row] };
}

/** A blob of the type that the operation is for. */
async function makeFor(operation: string, blob: Blob): Promise<void> {
  if (operation === 'Append Block') await gives(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  else if (operation.includes('Page')) {
    await gives(blob.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }), 201);
  } else await gives(blob.upload('v1'), 201);
}

let made = 0;

async function makeContainer(): Promise<Container> {
  const container = new Container(server, `container-${++made}`);
  await gives(container.create(), 201);
  return container;
}

for (const { operation = '', need = '', success = '' } of rows(operations)) {
  describe(operation, () => {
    for (const { row, column, cell } of cells(need === 'required' ? required : checked)) {
      test(`with ${row} on a blob that is ${column} gives ${cell}`, async () => {
        const blob = (await makeContainer()).blob('x');
        await makeFor(operation, blob);
        await bring(blob, column);
        const answer = requests[operation]?.(blob, idOf(row)) as Promise<WireAnswer>;
        if (cell === 'ok') await gives(answer, Number(success));
        else await refuses(answer, 412, cell);
      });
    }
  });
}

/** Of the operations on a container only Delete needs the id. */
const containerRequests: Readonly<Record<string, (container: Container, id: Id) => Promise<WireAnswer>>> = {
  'Delete Container': (container, id) => container.delete('', id),
  'Get Container Properties': (container, id) => container.head('', id),
  'Get Container Metadata': (container, id) => container.get('comp=metadata', id),
  'Set Container Metadata': (container, id) => container.put('comp=metadata', id),
  'Get Container ACL': (container, id) => container.get('comp=acl', id),
  'Set Container ACL': (container, id) => container.put('comp=acl', id),
};

for (const [operation, request] of Object.entries(containerRequests)) {
  const table = (operation === 'Delete Container' ? required : checked).replaceAll(
    'WithBlob',
    'WithContainer',
  );
  describe(operation, () => {
    for (const { row, column, cell } of cells(table)) {
      test(`with ${row} on a container that is ${column} gives ${cell}`, async () => {
        const container = await makeContainer();
        await bring(container, column);
        const answer = request(container, idOf(row));
        if (cell === 'ok') await gives(answer, operation === 'Delete Container' ? 202 : 200);
        else await refuses(answer, 412, cell);
      });
    }
  });
}

test('blobs in a leased container are written without its lease', async () => {
  const container = await makeContainer();
  await gives(container.acquire(-1), 201);
  await gives(container.blob('x').upload('v1'), 201);
  await gives(container.blob('x').delete(), 202);
});

test('a write without an id makes the id of a lease that ran out unknown', async () => {
  const blob = (await makeContainer()).blob('x');
  await gives(blob.upload('v1'), 201);
  await gives(blob.acquire(15), 201);
  server.pass(16);
  await gives(blob.putBlock('a', 'one'), 201);
  await refuses(blob.upload('v2', { 'x-ms-lease-id': leaseA }), 412, 'LeaseNotPresentWithBlobOperation');
});
