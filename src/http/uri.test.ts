import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodePath, parseQuery } from './uri.js';

const decoded: [raw: string, text: string | undefined][] = [
  ['plain', 'plain'],
  ['a%20b', 'a b'],
  ['a+b', 'a+b'],
  ['%2F', '/'],
  ['%252F', '%2F'], // once, not twice
  ['%2e%2E/..', '../..'],
  ['%E4%BD%A0', '你'],
  ['%F0%9F%98%80', '😀'],
  ['%EF%BF%BF', '\uffff'],
  ['%01', '\u0001'],
  ['%', undefined],
  ['%2', undefined],
  ['%zz', undefined],
  ['%g0', undefined],
  ['%0', undefined],
  ['%4', undefined],
  ['%-1', undefined],
  ['%4a%4A', 'JJ'],
  ['%41%E4%BD%A0', 'A你'],
  ['%FF', undefined], // no UTF-8
  ['%C0%AF', undefined], // an overlong slash
  ['%ED%A0%80', undefined], // half a surrogate pair
  ['%E4%BD', undefined], // cut
  ['a%00b', undefined],
];

for (const [raw, text] of decoded) {
  test(`path ${JSON.stringify(raw)} is ${JSON.stringify(text) ?? 'refused'}`, () => {
    if (text !== undefined) assert.equal(decodePath(raw), text);
    else assert.throws(() => decodePath(raw), { code: 'InvalidUri' });
  });
}

test('whatever text is encoded comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(!text.includes('\0'));
      assert.equal(decodePath(encodeURIComponent(text)), text);
    }),
    { seed: 11, numRuns: 500 },
  );
});

test('a query has lower-case names, decoded values and the first of several', () => {
  const query = parseQuery('Comp=LIST&prefix=a%2Fb+c&prefix=z&flag&empty=&&%63omp=other&eq=a=b');
  assert.deepEqual(
    [...query],
    [
      ['comp', 'LIST'],
      ['prefix', 'a/b+c'],
      ['flag', ''],
      ['empty', ''],
      ['eq', 'a=b'],
    ],
  );
  assert.equal(parseQuery('').size, 0);
  assert.equal(parseQuery('&&&').size, 0);
});

test('a query that does not decode names the parameter', () => {
  assert.throws(() => parseQuery('a=1&prefix=%ff'), {
    code: 'InvalidQueryParameterValue',
    details: {
      QueryParameterName: 'prefix',
      QueryParameterValue: '%ff',
      Reason: 'The value is not percent-encoded UTF-8.',
    },
  });
  assert.throws(() => parseQuery('%=1'), { code: 'InvalidQueryParameterValue' });
});

test('a query cannot reach the prototype of anything', () => {
  const query = parseQuery('__proto__=x&constructor=y');
  assert.equal(query.get('__proto__'), 'x');
  assert.equal(Object.getPrototypeOf(query), Map.prototype);
});
