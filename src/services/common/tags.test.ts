import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import { StorageError } from './errors.js';
import { checkTags, parseTags } from './tags.js';

const headers = `
  header                       gives
  a=1                          a=1
  a=1&b=2                      a=1 b=2
  a=                           a=
  a=x%20y                      a=x y
  a=x+y                        a=x y
  a=x%2By                      a=x+y
  a%3Db=c%26                   InvalidTag
  a=1=2                        a=1=2
  A=1&a=2                      A=1 a=2
  a=1&a=2                      InvalidTag
  a                            InvalidTag
  =1                           InvalidTag
  a=1&                         InvalidTag
  a=%zz                        InvalidTag
  a=%C3%A9                     InvalidTag
  a=1,2                        InvalidTag
  a=.-/:=_                     a=.-/:=_
`;

for (const { header = '', gives } of rows(headers)) {
  test(`x-ms-tags: ${header} gives ${gives}`, () => {
    assert.equal(outcome(header), gives);
  });
}

function outcome(header: string): string {
  try {
    return parseTags(header)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
  } catch (error) {
    assert.ok(error instanceof StorageError);
    return error.code;
  }
}

test('no header and an empty one are no tags', () => {
  assert.deepEqual(parseTags(undefined), []);
  assert.deepEqual(parseTags(''), []);
});

test('limits: ten tags, 128 and 256 characters, 2 KiB of header', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => [`k${i}`, 'v'] as const);
  checkTags(many(10));
  assert.throws(() => checkTags(many(11)), { code: 'TagsTooLarge' });
  checkTags([['n'.repeat(128), 'v'.repeat(256)]]);
  assert.throws(() => checkTags([['n'.repeat(129), 'v']]), { code: 'InvalidTag' });
  assert.throws(() => checkTags([['n', 'v'.repeat(257)]]), { code: 'InvalidTag' });
  // Seven pairs of 259 characters with their signs, and one that fills up to the limit.
  const pairs = many(7).map(([name]) => `${name}=${'v'.repeat(256)}`);
  const upTo = (length: number) => {
    const begin = `${pairs.join('&')}&last=`;
    return begin + 'v'.repeat(length - begin.length);
  };
  assert.equal(parseTags(upTo(2048)).length, 8);
  assert.throws(() => parseTags(upTo(2049)), { code: 'TagsTooLarge' });
});
