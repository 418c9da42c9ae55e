import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOf } from './auth/calls.suite.js';
import { addMetadata, flagHeader, integerHeader, metadataOf, requireHeader, wordHeader } from './headers.js';

const call = (headers: Record<string, string>) => callOf('blob', 'PUT /devstoreaccount1/c/b', { headers });

test('metadata keeps the case of its names', () => {
  const metadata = metadataOf(call({ 'x-ms-meta-Color': 'red', 'X-MS-META-_size2': '', 'x-ms-meta': 'no' }));
  assert.deepEqual(metadata, [
    ['Color', 'red'],
    ['_size2', ''],
  ]);
  const headers = ['ETag', 'x'];
  addMetadata(headers, metadata);
  assert.deepEqual(headers, ['ETag', 'x', 'x-ms-meta-Color', 'red', 'x-ms-meta-_size2', '']);
  assert.deepEqual(metadataOf(call({})), []);
});

const refused: [headers: string[], code: string][] = [
  [['x-ms-meta-', 'x'], 'EmptyMetadataKey'],
  [['x-ms-meta-1a', 'x'], 'InvalidMetadata'],
  [['x-ms-meta-a-b', 'x'], 'InvalidMetadata'],
  [['x-ms-meta-a', '\u00e4'], 'InvalidMetadata'],
  [['x-ms-meta-a', '1', 'x-ms-meta-A', '2'], 'InvalidMetadata'],
  [['x-ms-meta-a', 'x'.repeat(8192)], 'MetadataTooLarge'],
];

for (const [rawHeaders, code] of refused) {
  test(`metadata ${JSON.stringify(rawHeaders).slice(0, 60)} is ${code}`, () => {
    const bad = callOf('blob', 'PUT /devstoreaccount1/c/b', { rawHeaders });
    assert.throws(() => metadataOf(bad), { code });
  });
}

test('8 KiB of metadata are taken', () => {
  assert.equal(metadataOf(call({ 'x-ms-meta-a': 'x'.repeat(8191) })).length, 1);
});

test('flags, words, numbers', () => {
  const some = call({ yes: 'True', no: 'FALSE', odd: '1', tier: 'hot', n: '12', minus: '-1', half: '1.5' });
  assert.equal(flagHeader(some, 'yes'), true);
  assert.equal(flagHeader(some, 'no'), false);
  assert.equal(flagHeader(some, 'none'), false);
  assert.throws(() => flagHeader(some, 'odd'), {
    code: 'InvalidHeaderValue',
    details: { HeaderName: 'odd', HeaderValue: '1' },
  });
  assert.equal(wordHeader(some, 'tier', ['Hot', 'Cool']), 'Hot');
  assert.equal(wordHeader(some, 'none', ['Hot']), undefined);
  assert.throws(() => wordHeader(some, 'tier', ['Cool']), { code: 'InvalidHeaderValue' });
  assert.equal(integerHeader(some, 'n'), 12);
  assert.equal(integerHeader(some, 'minus', -1), -1);
  assert.equal(integerHeader(some, 'none'), undefined);
  for (const name of ['minus', 'half', 'tier']) {
    assert.throws(() => integerHeader(some, name), { code: 'InvalidHeaderValue' });
  }
  assert.throws(() => integerHeader(some, 'n', 0, 11), { code: 'InvalidHeaderValue' });
  assert.equal(requireHeader(some, 'n'), '12');
  assert.throws(() => requireHeader(some, 'none'), {
    code: 'MissingRequiredHeader',
    details: { HeaderName: 'none' },
  });
});
