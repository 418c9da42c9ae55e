import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors, messageOf, StorageError } from './errors.js';

test('an error says the sentence of its code', () => {
  const error = new StorageError('BlobNotFound');
  assert.equal(error.message, 'The specified blob does not exist.');
  assert.equal(error.code, 'BlobNotFound');
  assert.equal(error.status, undefined);
  assert.deepEqual(error.details, {});
});

test('a shared sentence names the resource', () => {
  assert.equal(messageOf('LeaseNotPresentWithLeaseOperation'), 'There is currently no lease on the blob.');
  for (const resource of ['blob', 'container', 'file', 'share'] as const) {
    assert.equal(
      new StorageError('LeaseIdMissing', { resource }).message,
      `There is currently a lease on the ${resource} and no lease ID was specified in the request.`,
    );
  }
});

test('a thrower can add details, another sentence, a status, an index and a cause', () => {
  const cause = new Error('why');
  const error = new StorageError('InvalidHeaderValue', {
    details: { HeaderName: 'x-ms-version', HeaderValue: 'now' },
    message: 'Not this.',
    status: 304,
    index: 2,
    cause,
  });
  assert.equal(error.message, 'Not this.');
  assert.deepEqual(Object.entries(error.details), [
    ['HeaderName', 'x-ms-version'],
    ['HeaderValue', 'now'],
  ]);
  assert.deepEqual([error.status, error.index, error.cause], [304, 2, cause]);
});

test('no sentence keeps a brace', () => {
  for (const code of Object.keys(errors) as (keyof typeof errors)[]) {
    assert.doesNotMatch(messageOf(code), /[{}]/, code);
  }
});

test('a stack is kept only on demand, and other errors keep theirs', () => {
  assert.equal(new StorageError('BlobNotFound').stack, 'StorageError: The specified blob does not exist.');
  assert.match(new Error('bug').stack ?? '', /at /);
  StorageError.keepsStack = true;
  try {
    assert.match(new StorageError('BlobNotFound').stack ?? '', /errors\.test/);
  } finally {
    StorageError.keepsStack = false;
  }
});
