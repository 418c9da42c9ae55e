// Lease Blob and Lease Container: the published table of outcomes by state, every cell over the wire, for both.
// A cell is the state afterwards, with the seconds that are left where a break tells them, or the refusal
// without its first word `Lease` and its last word `Operation`.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cells } from '#src/base/cells.suite.js';
import { Container, header, leaseA, leaseB, type Resource } from '../../support/given.js';
import { gives, refuses, startServer, type TestServer } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

const leaseC = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
const ids: Readonly<Record<string, string>> = { A: leaseA, B: leaseB, C: leaseC };

const outcomes = `
                 available              leased A               infinite A             breaking A                      broken A                     expired A
  acquire X      leased                 AlreadyPresent         AlreadyPresent         AlreadyPresent                  leased                       leased
  acquire A      leased                 leased                 leased                 IsBreakingAndCannotBeAcquired   leased                       leased
  acquire B      leased                 AlreadyPresent         AlreadyPresent         AlreadyPresent                  leased                       leased
  renew A        IdMismatchWithLease    leased                 leased                 IsBrokenAndCannotBeRenewed      IsBrokenAndCannotBeRenewed   leased
  renew B        IdMismatchWithLease    IdMismatchWithLease    IdMismatchWithLease    IdMismatchWithLease             IdMismatchWithLease          IdMismatchWithLease
  change A→B     NotPresentWithLease    leased                 leased                 IsBreakingAndCannotBeChanged    NotPresentWithLease          NotPresentWithLease
  change B→A     NotPresentWithLease    leased                 leased                 IdMismatchWithLease             NotPresentWithLease          NotPresentWithLease
  change B→C     NotPresentWithLease    IdMismatchWithLease    IdMismatchWithLease    IdMismatchWithLease             NotPresentWithLease          NotPresentWithLease
  release A      IdMismatchWithLease    available              available              available                       available                    available
  release B      IdMismatchWithLease    IdMismatchWithLease    IdMismatchWithLease    IdMismatchWithLease             IdMismatchWithLease          IdMismatchWithLease
  break          NotPresentWithLease    breaking 60            broken 0               breaking 20                     broken 0                     broken 0
  break 0        NotPresentWithLease    broken 0               broken 0               broken 0                        broken 0                     broken 0
  break 10       NotPresentWithLease    breaking 10            breaking 10            breaking 10                     broken 0                     broken 0
`;

let server: TestServer;
const stops: (() => Promise<void>)[] = [];
before(async () => {
  server = await startServer({ after: (stop) => stops.push(stop as () => Promise<void>) }, 'blob');
});
after(async () => {
  for (const stop of stops) await stop();
});

/** `leased A`: for 60 seconds; `breaking A`: for 20 more. */
async function bring(resource: Resource, state: string): Promise<void> {
  if (state === 'available') return;
  await gives(resource.acquire(state === 'infinite A' ? -1 : 60), 201);
  if (state === 'breaking A') await gives(resource.lease('break', { 'x-ms-lease-break-period': '20' }), 202);
  if (state === 'broken A') await gives(resource.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
  if (state === 'expired A') server.pass(61);
}

function act(resource: Resource, action: string): Promise<WireAnswer> {
  const [verb = '', argument = ''] = action.split(' ');
  const [id = '', proposed = ''] = argument.split('→');
  if (verb === 'acquire') {
    return resource.lease(verb, { 'x-ms-lease-duration': '15', 'x-ms-proposed-lease-id': ids[id] });
  }
  if (verb === 'break') return resource.lease(verb, { 'x-ms-lease-break-period': argument || undefined });
  return resource.lease(verb, { 'x-ms-lease-id': ids[id], 'x-ms-proposed-lease-id': ids[proposed] });
}

const statuses: Readonly<Record<string, number>> = {
  acquire: 201,
  renew: 200,
  change: 200,
  release: 200,
  break: 202,
};
let made = 0;

async function makeContainer(): Promise<Resource> {
  const container = new Container(server, `container-${++made}`);
  await gives(container.create(), 201);
  return container;
}

async function makeBlob(): Promise<Resource> {
  const container = new Container(server, `container-${++made}`);
  await gives(container.create(), 201);
  await gives(container.blob('x').upload('v1'), 201);
  return container.blob('x');
}

for (const [kind, make] of [
  ['blob', makeBlob],
  ['container', makeContainer],
] as const) {
  describe(`a ${kind}`, () => {
    for (const { row, column, cell } of cells(outcomes)) {
      test(`${row} when it is ${column} gives ${cell}`, async () => {
        const resource = await make();
        await bring(resource, column);
        const etag = await resource.etag();
        const answer = act(resource, row);
        const [state = '', left] = cell.split(' ');
        if (/^[A-Z]/.test(cell)) {
          const code = `Lease${cell}${cell.endsWith('Lease') ? 'Operation' : ''}`;
          await refuses(answer, 409, code);
          return;
        }
        const got = await gives(answer, statuses[row.split(' ')[0] ?? ''] ?? 0);
        assert.equal(header(got, 'etag'), etag, 'a lease changes no ETag');
        if (left !== undefined) assert.equal(header(got, 'x-ms-lease-time'), left);
        const head = await gives(resource.head(), 200);
        assert.equal(header(head, 'x-ms-lease-state'), state);
        const locked = state === 'leased' || state === 'breaking';
        assert.equal(header(head, 'x-ms-lease-status'), locked ? 'locked' : 'unlocked');
        assert.equal(head.headers.has('x-ms-lease-duration'), state === 'leased');
      });
    }
  });
}

test('a lease is renewed for its first duration, from now on', async () => {
  const blob = await makeBlob();
  await gives(blob.acquire(30), 201);
  server.pass(20);
  await gives(blob.lease('renew', { 'x-ms-lease-id': leaseA }), 200);
  server.pass(29);
  assert.equal(header(await blob.head(), 'x-ms-lease-state'), 'leased');
  server.pass(2);
  assert.equal(header(await blob.head(), 'x-ms-lease-state'), 'expired');
});

test('a lease that ran out and whose blob was written is not renewed; that of a container is', async () => {
  const blob = await makeBlob();
  await gives(blob.acquire(15), 201);
  server.pass(16);
  await gives(blob.put('comp=metadata'), 200);
  const renew = { 'x-ms-lease-id': leaseA };
  await refuses(blob.lease('renew', renew), 409, 'LeaseIdMismatchWithLeaseOperation');
  const container = await makeContainer();
  await gives(container.acquire(15), 201);
  server.pass(16);
  await gives(container.put('comp=metadata'), 200);
  await gives(container.lease('renew', renew), 200);
});

test('what a lease is asked for must be a lease', async () => {
  const blob = await makeBlob();
  const lease = (headers: Record<string, string>) => blob.put('comp=lease', headers);
  await refuses(lease({}), 400, 'MissingRequiredHeader');
  await refuses(lease({ 'x-ms-lease-action': 'keep' }), 400, 'InvalidHeaderValue');
  await refuses(blob.lease('acquire'), 400, 'MissingRequiredHeader');
  for (const seconds of ['0', '14', '61', '-2', 'x']) {
    await refuses(blob.lease('acquire', { 'x-ms-lease-duration': seconds }), 400, 'InvalidHeaderValue');
  }
  await refuses(blob.lease('renew'), 400, 'MissingRequiredHeader');
  await refuses(blob.lease('renew', { 'x-ms-lease-id': 'me' }), 400, 'InvalidHeaderValue');
  await refuses(blob.lease('break', { 'x-ms-lease-break-period': '61' }), 400, 'InvalidHeaderValue');
});

test('an id is a GUID in any spelling, and told in one', async () => {
  const blob = await makeBlob();
  const got = await gives(blob.acquire(15, `{${leaseA.toUpperCase()}}`), 201);
  assert.equal(header(got, 'x-ms-lease-id'), leaseA);
  await gives(blob.lease('renew', { 'x-ms-lease-id': leaseA.replaceAll('-', '') }), 200);
});

test('a name that has only uncommitted blocks can be leased', async () => {
  const container = new Container(server, `container-${++made}`);
  await gives(container.create(), 201);
  const blob = container.blob('x');
  await refuses(blob.acquire(15), 404, 'BlobNotFound');
  await gives(blob.putBlock('a', 'one'), 201);
  await gives(blob.acquire(15), 201);
  await refuses(blob.commit(['Latest a']), 412, 'LeaseIdMissing');
  await gives(blob.commit(['Latest a'], { 'x-ms-lease-id': leaseA }), 201);
  assert.equal(header(await blob.head(), 'x-ms-lease-state'), 'leased');
});
