// Lease File: every action in every state, and what a lease means for other operations (10.1).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '#src/base/cells.suite.js';
import { type File, given, header, leaseA, leaseB, leaseC } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

const change = (from: string, to: string) => ({ 'x-ms-lease-id': from, 'x-ms-proposed-lease-id': to });

const actions: Readonly<Record<string, (file: File) => Promise<WireAnswer>>> = {
  'acquire new': (file) => file.lease('acquire', { 'x-ms-lease-duration': '-1' }),
  'acquire A': (file) => file.acquire(-1, leaseA),
  'acquire B': (file) => file.acquire(-1, leaseB),
  break: (file) => file.lease('break'),
  'change A-B': (file) => file.lease('change', change(leaseA, leaseB)),
  'change B-A': (file) => file.lease('change', change(leaseB, leaseA)),
  'change B-C': (file) => file.lease('change', change(leaseB, leaseC)),
  'release A': (file) => file.lease('release', { 'x-ms-lease-id': leaseA }),
  'release B': (file) => file.lease('release', { 'x-ms-lease-id': leaseB }),
};

async function bring(file: File, state: string): Promise<void> {
  if (state === 'available') return;
  await gives(file.acquire(), 201);
  if (state === 'broken') await gives(file.lease('break'), 202);
}

const outcomes = `
               available                              leased                                 broken
  acquire new  201 leased                             409 LeaseAlreadyPresent                201 leased
  acquire A    201 leased                             201 leased                             201 leased
  acquire B    201 leased                             409 LeaseAlreadyPresent                201 leased
  break        409 LeaseNotPresentWithLeaseOperation  202 broken                             202 broken
  change A-B   409 LeaseNotPresentWithLeaseOperation  200 leased                             409 LeaseIsBrokenAndCannotBeChanged
  change B-A   409 LeaseNotPresentWithLeaseOperation  200 leased                             409 LeaseIdMismatchWithLeaseOperation
  change B-C   409 LeaseNotPresentWithLeaseOperation  409 LeaseIdMismatchWithLeaseOperation  409 LeaseIdMismatchWithLeaseOperation
  release A    409 LeaseIdMismatchWithLeaseOperation  200 available                          200 available
  release B    409 LeaseIdMismatchWithLeaseOperation  409 LeaseIdMismatchWithLeaseOperation  409 LeaseIdMismatchWithLeaseOperation
`;

for (const { row, column, cell } of cells(outcomes)) {
  test(`${row} of a file whose lease is ${column}: ${cell}`, async (t) => {
    const { file } = await given(t, { file: 'a.txt' });
    await bring(file, column);
    const before = header(await file.head(), 'etag');
    const answer = await (actions[row] as (file: File) => Promise<WireAnswer>)(file);
    const after = await file.head();
    const told =
      answer.status < 300 ? header(after, 'x-ms-lease-state') : answer.headers.get('x-ms-error-code');
    assert.equal(`${answer.status} ${told}`, cell);
    assert.equal(header(after, 'etag'), before, 'a lease changes no ETag');
    if (row === 'break' && answer.status === 202) assert.equal(header(answer, 'x-ms-lease-time'), '0');
  });
}

const uses = `
              available                             leased                                broken
  write A     412 LeaseNotPresentWithFileOperation  ok                                    412 LeaseNotPresentWithFileOperation
  write B     412 LeaseNotPresentWithFileOperation  412 LeaseIdMismatchWithFileOperation  412 LeaseNotPresentWithFileOperation
  write none  ok                                    412 LeaseIdMissing                    ok
  read A      412 LeaseNotPresentWithFileOperation  ok                                    412 LeaseNotPresentWithFileOperation
  read B      412 LeaseNotPresentWithFileOperation  412 LeaseIdMismatchWithFileOperation  412 LeaseNotPresentWithFileOperation
  read none   ok                                    ok                                    ok
`;

const writes: Readonly<Record<string, (file: File, lease: Record<string, string>) => Promise<WireAnswer>>> = {
  'Create File': (file, lease) => file.create(5, lease),
  'Set Metadata': (file, lease) => file.setMetadata(lease),
  'Set Properties': (file, lease) => file.setProperties({ 'x-ms-content-type': 'a/b', ...lease }),
  'Put Range': (file, lease) => file.write('x', 0, lease),
  'Clear Range': (file, lease) => file.clear(0, 0, lease),
  'Delete File': (file, lease) => file.delete('', lease),
  'Copy File': (file, lease) => file.copyFrom(`${file.url}2`, lease),
};

const reads: typeof writes = {
  'Get File': (file, lease) => file.get('', lease),
  'Get Properties': (file, lease) => file.head('', lease),
  'Get Metadata': (file, lease) => file.get('comp=metadata', lease),
  'List Ranges': (file, lease) => file.get('comp=rangelist', lease),
};

for (const { row, column, cell } of cells(uses)) {
  const [kind = '', who = ''] = row.split(' ');
  for (const [name, operation] of Object.entries(kind === 'write' ? writes : reads)) {
    test(`${name} with ${who === 'none' ? 'no id' : `id ${who}`} where the lease of A is ${column}: ${cell}`, async (t) => {
      const { file, share } = await given(t, { file: 'a.txt' });
      await gives(share.file('a.txt2').create(1), 201);
      await bring(file, column);
      const lease = who === 'none' ? {} : { 'x-ms-lease-id': who === 'A' ? leaseA : leaseB };
      const answer = await operation(file, lease);
      const told = answer.status < 300 ? 'ok' : `${answer.status} ${answer.headers.get('x-ms-error-code')}`;
      assert.equal(told, cell);
    });
  }
}

test('a write to a file whose lease was broken forgets the lease', async (t) => {
  const { file } = await given(t, { file: 'a.txt', leased: true });
  await gives(file.lease('break'), 202);
  assert.equal(header(await file.head(), 'x-ms-lease-state'), 'broken');
  await gives(file.write('x'), 201);
  assert.equal(header(await file.head(), 'x-ms-lease-state'), 'available');
});

test('ids in any form of a GUID, given back in one', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  const answer = await gives(file.acquire(-1, `{${leaseA.toUpperCase()}}`), 201);
  assert.equal(header(answer, 'x-ms-lease-id'), leaseA);
  assert.equal(header(await file.head(), 'x-ms-lease-duration'), 'infinite');
});

test('what is no lease request is refused', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  await refuses(file.put('comp=lease'), 400, 'MissingRequiredHeader');
  await refuses(file.lease('renew', { 'x-ms-lease-id': leaseA }), 400, 'InvalidHeaderValue');
  await refuses(file.lease('acquire'), 400, 'MissingRequiredHeader');
  await refuses(file.lease('acquire', { 'x-ms-lease-duration': '15' }), 400, 'InvalidHeaderValue');
  await refuses(file.acquire(-1, 'no guid'), 400, 'InvalidHeaderValue');
  await refuses(file.lease('change', { 'x-ms-lease-id': leaseA }), 400, 'MissingRequiredHeader');
});
