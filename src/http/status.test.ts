import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../services/common/errors.js';
import { statuses, statusOf } from './status.js';

test('the usual status is in the table, the other comes with the error', () => {
  assert.equal(statusOf(new StorageError('ConditionNotMet')), 412);
  assert.equal(statusOf(new StorageError('ConditionNotMet', { status: 304 })), 304);
  assert.equal(statusOf(new StorageError('CannotVerifyCopySource', { status: 404 })), 404);
});

// The rule of the reference for leases: an action on the lease that is refused is 409, any other operation
// that fails because of the lease is 412.
test('a refused lease action is 409, an operation refused for its lease is 412', () => {
  for (const [code, status] of Object.entries(statuses)) {
    if (!code.startsWith('Lease')) continue;
    const operation = /(Blob|Container|File)Operation$|^LeaseLost$|^LeaseIdMissing$/.test(code);
    assert.equal(status, operation ? 412 : 409, code);
  }
});

test('names tell the status', () => {
  const rules: [RegExp, number[]][] = [
    [/NotFound$/, [404, 409]], // 409: a snapshot to compare with
    [/(AlreadyExists|BeingDeleted)$/, [409]],
    [/ConditionNotMet$/, [412]],
    [/^Authorization/, [403]],
    [/FormatNotSupported$/, [415]],
    [/^(Missing|Invalid)(Query|Header|Xml|Input|Uri|Metadata|RequiredHeader)/, [400]],
  ];
  for (const [pattern, allowed] of rules) {
    const found = Object.entries(statuses).filter(([code]) => pattern.test(code));
    assert.ok(found.length > 1, String(pattern));
    for (const [code, status] of found) assert.ok(allowed.includes(status), code);
  }
});
