// The published table of what opens an operation (published.ts), held against the operation tables: every operation,
// with every resource type, every letter and every role. wire-matrix.test.ts does the same over HTTP.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalOf } from '#src/http/auth/permissions.js';
import { roles } from '#src/http/auth/roles.js';
import type { Identity, SasIdentity } from '#src/http/auth/types.js';
import type { ServiceName } from '#src/http/call.js';
import { takeApart } from '#src/http/dispatch.js';
import { openService } from '#src/server/services.js';
import { fulfils, letters, operations, type Published, published } from './published.js';

const everything = [...(letters['account'] ?? ''), letters['account'] ?? '', 'au', 'cw'];

function expectedOfAccount({ type, account }: Published, types: string, granted: string): string | undefined {
  if (account === '-') return 'AuthorizationFailure';
  if (type !== 'any' && ![...type].some((one) => types.includes(one)))
    return 'AuthorizationResourceTypeMismatch';
  return fulfils(granted, account) ? undefined : 'AuthorizationPermissionMismatch';
}

function expectedOfService({ service }: Published, granted: string): string | undefined {
  if (service === '-') return 'AuthorizationFailure';
  return fulfils(granted, service) ? undefined : 'AuthorizationPermissionMismatch';
}

function expectedOfRole({ role: least }: Published, role: string): string | undefined {
  const order: readonly string[] = roles;
  const allowed = least !== '-' && order.indexOf(least) <= order.indexOf(role);
  return allowed ? undefined : 'AuthorizationPermissionMismatch';
}

test('every service that is served has its operations in the matrix', () => {
  assert.deepEqual(Object.keys(openService).sort(), Object.keys(operations).sort());
});

/** The operations that have no row. */
function unpublished(service: ServiceName, rows: readonly (readonly [name: string, ...rest: unknown[]])[]) {
  return [...new Set(rows.map(([name]) => name))].filter((name) => !published[service].has(name));
}

test('an operation without a row is found', () => {
  const rows = [...operations.blob, ['Put Blob Anew', 'PUT /{container}/{blob}?comp=anew'] as const];
  assert.deepEqual(unpublished('blob', rows), ['Put Blob Anew']);
});

for (const service of Object.keys(operations) as ServiceName[]) {
  test(`${service}: every operation is in the published table`, () => {
    assert.deepEqual(unpublished(service, operations[service]), []);
  });

  for (const row of operations[service]) {
    const [name, request] = row;
    const expected = published[service].get(name);
    if (expected === undefined) continue; // told by the test above
    test(`${service}: what opens ${name} (${request})`, () => {
      const access = takeApart(row);
      const base = { kind: 'sas', overrides: [] } as const;
      for (const permissions of everything) {
        for (const resourceTypes of ['s', 'c', 'o', 'sco']) {
          const identity: SasIdentity = { ...base, sas: 'account', permissions, resourceTypes };
          const what = `account SAS ${resourceTypes} ${permissions}`;
          assert.equal(
            refusalOf(identity, access),
            expectedOfAccount(expected, resourceTypes, permissions),
            what,
          );
        }
        const identity: SasIdentity = { ...base, sas: 'service', permissions };
        assert.equal(
          refusalOf(identity, access),
          expectedOfService(expected, permissions),
          `service SAS ${permissions}`,
        );
      }
      for (const role of roles) {
        const identity: Identity = { kind: 'bearer', objectId: '', tenantId: '', role };
        assert.equal(refusalOf(identity, access), expectedOfRole(expected, role), role);
      }
      assert.equal(access.anonymous ?? '-', expected.anonymous, 'anonymous');
    });
  }
}
