import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { callOf } from './auth/calls.suite.js';
import { integerParameter, listParameter, pageSize, parameter, requireParameter } from './parameters.js';

const call = (query: string) => callOf('blob', `GET /devstoreaccount1/c/b?${query}`);

const pages = `
  maxresults     page
  -              5000
  1              1
  5000           5000
  5001           5000
  999999         5000
  0              OutOfRangeQueryParameterValue
  -1             OutOfRangeQueryParameterValue
  x              InvalidQueryParameterValue
  1.5            InvalidQueryParameterValue
  99999999999    InvalidQueryParameterValue
`;

for (const { maxresults, page } of rows(pages)) {
  test(`maxresults ${maxresults} is a page of ${page}`, () => {
    const asked = call(maxresults === '-' ? '' : `maxresults=${maxresults}`);
    if (/^\d+$/.test(page ?? '')) assert.equal(pageSize(asked), Number(page));
    else assert.throws(() => pageSize(asked), { code: page });
  });
}

test('a number out of its bounds is told with them', () => {
  assert.equal(integerParameter(call('n=32'), 'n', 1, 32), 32);
  assert.equal(integerParameter(call('n='), 'n', 1, 32), undefined);
  assert.throws(() => integerParameter(call('n=33'), 'n', 1, 32), {
    code: 'OutOfRangeQueryParameterValue',
    details: {
      QueryParameterName: 'n',
      QueryParameterValue: '33',
      MinimumAllowed: '1',
      MaximumAllowed: '32',
    },
  });
});

test('lists of words', () => {
  const include = (query: string) => [...listParameter(call(query), 'include', ['metadata', 'Timestamps'])];
  assert.deepEqual(include(''), []);
  assert.deepEqual(include('include=Metadata,,timestamps'), ['metadata', 'Timestamps']);
  assert.throws(() => include('include=metadata,other'), { code: 'InvalidQueryParameterValue' });
});

test('what is required, and what is empty', () => {
  assert.equal(requireParameter(call('a=1'), 'a'), '1');
  assert.throws(() => requireParameter(call('a='), 'a'), { code: 'MissingRequiredQueryParameter' });
  assert.equal(parameter(call('a='), 'a'), undefined);
});
