// Lease Share: every action in every state, and what a lease means for other operations (10.2).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '#src/base/cells.suite.js';
import { given, header, leaseA, leaseB, leaseC, type Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

const change = (from: string, to: string) => ({ 'x-ms-lease-id': from, 'x-ms-proposed-lease-id': to });

const actions: Readonly<Record<string, (share: Share) => Promise<WireAnswer>>> = {
  'acquire new': (share) => share.lease('acquire', { 'x-ms-lease-duration': '15' }),
  'acquire A': (share) => share.acquire(15, leaseA),
  'acquire B': (share) => share.acquire(15, leaseB),
  'break 0': (share) => share.lease('break', { 'x-ms-lease-break-period': '0' }),
  'break 10': (share) => share.lease('break', { 'x-ms-lease-break-period': '10' }),
  'change A-B': (share) => share.lease('change', change(leaseA, leaseB)),
  'change B-A': (share) => share.lease('change', change(leaseB, leaseA)),
  'change B-C': (share) => share.lease('change', change(leaseB, leaseC)),
  'renew A': (share) => share.lease('renew', { 'x-ms-lease-id': leaseA }),
  'renew B': (share) => share.lease('renew', { 'x-ms-lease-id': leaseB }),
  'release A': (share) => share.lease('release', { 'x-ms-lease-id': leaseA }),
  'release B': (share) => share.lease('release', { 'x-ms-lease-id': leaseB }),
};

const states = ['available', 'leased', 'breaking', 'broken', 'expired'] as const;

async function bring(share: Share, state: string): Promise<void> {
  if (state === 'available') return;
  await gives(share.acquire(60), 201);
  if (state === 'breaking') await gives(share.lease('break', { 'x-ms-lease-break-period': '20' }), 202);
  if (state === 'broken') await gives(share.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
  if (state === 'expired') share.server.pass(61);
}

const outcomes = `
               available  leased     breaking   broken   expired
  acquire new  leased     409        409        leased   leased
  acquire A    leased     leased     409        leased   leased
  acquire B    leased     409        409        leased   leased
  break 0      409        broken     broken     broken   broken
  break 10     409        breaking   breaking   broken   broken
  change A-B   409        leased     409        409      409
  change B-A   409        leased     409        409      409
  change B-C   409        409        409        409      409
  renew A      409        leased     409        409      leased
  renew B      409        409        409        409      409
  release A    409        available  available  available  available
  release B    409        409        409        409      409
`;

for (const { row, column, cell } of cells(outcomes)) {
  test(`${row} of a share whose lease is ${column}: ${cell}`, async (t) => {
    const { share } = await given(t);
    assert.ok(states.some((state) => state === column));
    await bring(share, column);
    const answer = await (actions[row] as (share: Share) => Promise<WireAnswer>)(share);
    if (cell === '409') {
      assert.equal(answer.status, 409, answer.text);
      return;
    }
    assert.ok(answer.status < 300, answer.text);
    assert.equal(header(await share.get(), 'x-ms-lease-state'), cell);
  });
}

const uses = `
             available  leased  breaking  broken  expired
  set A      412        200     200       412     412
  set B      412        412     412       412     412
  set none   200        412     412       200     200
  get A      412        200     200       412     412
  get none   200        200     200       200     200
`;

for (const { row, column, cell } of cells(uses)) {
  test(`${row} where the lease of A is ${column}: ${cell}`, async (t) => {
    const { share } = await given(t);
    await bring(share, column);
    const [operation = '', who = ''] = row.split(' ');
    const headers = who === 'none' ? {} : { 'x-ms-lease-id': who === 'A' ? leaseA : leaseB };
    const answer = operation === 'set' ? share.put('comp=metadata', headers) : share.get('', headers);
    assert.equal((await answer).status, Number(cell));
  });
}

test('a lease changes neither ETag nor Last-Modified', async (t) => {
  const { share } = await given(t);
  const before = await gives(share.get(), 200);
  const leased = await gives(share.acquire(15), 201);
  assert.equal(header(leased, 'x-ms-lease-id'), leaseA);
  assert.equal(header(leased, 'etag'), header(before, 'etag'));
  const broken = await gives(share.lease('break'), 202);
  assert.ok(Number(header(broken, 'x-ms-lease-time')) <= 15);
});

test('what is no lease request is refused', async (t) => {
  const { share } = await given(t);
  await refuses(share.put('comp=lease'), 400, 'MissingRequiredHeader');
  await refuses(share.lease('steal'), 400, 'InvalidHeaderValue');
  await refuses(share.lease('acquire'), 400, 'MissingRequiredHeader');
  for (const duration of ['14', '61', '0', 'x']) {
    await refuses(share.lease('acquire', { 'x-ms-lease-duration': duration }), 400, 'InvalidHeaderValue');
  }
  await refuses(share.lease('renew'), 400, 'MissingRequiredHeader');
});
