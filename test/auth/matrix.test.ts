// The published table of what a SAS opens, held against the operation tables: every operation, with every
// resource type and every letter. A service that gets its operations gets its table here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { refusalOf } from '#src/http/auth/permissions.js';
import type { SasIdentity } from '#src/http/auth/types.js';
import { takeApart } from '#src/http/dispatch.js';
import type { Row } from '#src/http/operation.js';
import { queueOperations } from '#src/http/queue/operations.js';

// `cw` is c or w, `a+u` is a and u, `-` is never.
const queue = `
  operation                      type   account   service
  List Queues                    s      l         -
  Get Queue Service Properties   s      r         -
  Set Queue Service Properties   s      w         -
  Get Queue Service Stats        s      r         -
  Get User Delegation Key        -      -         -
  Create Queue                   c      cw        -
  Delete Queue                   c      d         -
  Get Queue Metadata             c      r         r
  Set Queue Metadata             c      w         -
  Get Queue ACL                  -      -         -
  Set Queue ACL                  -      -         -
  Put Message                    o      a         a
  Peek Messages                  o      r         r
  Get Messages                   o      p         p
  Clear Messages                 o      d         -
  Delete Message                 o      p         p
  Update Message                 o      u         u
`;

const services: Record<string, [table: string, operations: readonly Row<never>[]]> = {
  queue: [queue, queueOperations as readonly Row<never>[]],
};

const letters = 'rwdxylacuptfi';
const everything = [...letters, letters, 'au', 'cw'];

function fulfils(granted: string, need: string): boolean {
  const [join, wanted] = need.includes('+')
    ? (['every', need.split('+')] as const)
    : (['some', [...need]] as const);
  return wanted[join]((letter: string) => granted.includes(letter));
}

function expectedOfAccount(type: string, need: string, types: string, granted: string): string | undefined {
  if (need === '-') return 'AuthorizationFailure';
  if (!types.includes(type)) return 'AuthorizationResourceTypeMismatch';
  return fulfils(granted, need) ? undefined : 'AuthorizationPermissionMismatch';
}

function expectedOfService(need: string, granted: string): string | undefined {
  if (need === '-') return 'AuthorizationFailure';
  return fulfils(granted, need) ? undefined : 'AuthorizationPermissionMismatch';
}

for (const [service, [table, operations]] of Object.entries(services)) {
  const published = rows(table);

  test(`${service}: the published table and the operations name the same`, () => {
    const names = new Set(operations.map(([name]) => name));
    assert.deepEqual([...names].sort(), published.map(({ operation }) => operation).sort());
  });

  for (const { operation = '', type = '', account = '', service: ofService = '' } of published) {
    test(`${service}: what opens ${operation}`, () => {
      const found = operations.filter(([name]) => name === operation).map((row) => takeApart(row));
      assert.ok(found.length > 0);
      for (const access of found) {
        for (const permissions of everything) {
          for (const resourceTypes of ['s', 'c', 'o', 'sco']) {
            const identity: SasIdentity = {
              kind: 'sas',
              sas: 'account',
              permissions,
              resourceTypes,
              overrides: [],
            };
            const expected = expectedOfAccount(type, account, resourceTypes, permissions);
            assert.equal(
              refusalOf(identity, access),
              expected,
              `account SAS ${resourceTypes} ${permissions}`,
            );
          }
          const identity: SasIdentity = { kind: 'sas', sas: 'service', permissions, overrides: [] };
          assert.equal(
            refusalOf(identity, access),
            expectedOfService(ofService, permissions),
            `service SAS ${permissions}`,
          );
        }
      }
    });
  }
}
