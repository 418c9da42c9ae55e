import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from './errors.js';
import { checkMetadata, type Metadata, noMetadata, sameMetadata } from './metadata.js';

function verdict(metadata: Metadata): string {
  try {
    checkMetadata(metadata);
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof StorageError);
    return error.code;
  }
}

const rightNames = ['a', '_a1', 'Name', '__proto__'];
const wrongNames = ['1a', 'a-b', 'a b', 'a.b', 'ä', 'a:', 'a\n'];

for (const name of rightNames) {
  test(`metadata name ${name} is allowed`, () => assert.equal(verdict([[name, 'v']]), 'ok'));
}
for (const name of wrongNames) {
  test(`metadata name ${JSON.stringify(name)} is refused`, () => {
    assert.equal(verdict([[name, 'v']]), 'InvalidMetadata');
  });
}

test('a metadata name is not empty', () => assert.equal(verdict([['', 'v']]), 'EmptyMetadataKey'));

test('a metadata value is printable ASCII, and may be empty', () => {
  assert.equal(verdict([['a', '']]), 'ok');
  assert.equal(verdict([['a', 'x y\t~']]), 'ok');
  for (const value of ['é', '\u0000', 'a\nb', '\u007f'])
    assert.equal(verdict([['a', value]]), 'InvalidMetadata');
});

test('names that differ in case alone are one', () => {
  const twice: Metadata = [
    ['Name', '1'],
    ['name', '2'],
  ];
  assert.equal(verdict(twice), 'InvalidMetadata');
});

test('names and values are 8 KiB at most, together', () => {
  assert.equal(verdict([['a', 'x'.repeat(8191)]]), 'ok');
  assert.equal(verdict([['a', 'x'.repeat(8192)]]), 'MetadataTooLarge');
  const many = (count: number): Metadata => Array.from({ length: count }, (_, i) => [`k${1000 + i}`, 'abc']);
  assert.equal(verdict(many(1024)), 'ok');
  assert.equal(verdict(many(1025)), 'MetadataTooLarge');
});

test('order and the case of names do not make metadata different', () => {
  const one: Metadata = [
    ['a', '1'],
    ['B', '2'],
  ];
  const same: Metadata = [
    ['b', '2'],
    ['a', '1'],
  ];
  assert.ok(sameMetadata(one, same));
  assert.ok(sameMetadata(noMetadata, []));
  assert.ok(!sameMetadata(one, [['a', '1']]));
  assert.ok(!sameMetadata([['a', '1']], [['a', '2']]));
  assert.ok(!sameMetadata([['a', '1']], [['b', '1']]));
});
