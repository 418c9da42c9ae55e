import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { noConditions } from '../services/common/conditions.js';
import { callOf } from './auth/calls.suite.js';
import type { ServiceName } from './call.js';
import { checkConditions, conditionsOf, sourceConditionsOf } from './condition-headers.js';
import { takeApart } from './dispatch.js';

function operation(conditions: string) {
  const handler = () => ({ status: 200, headers: [] });
  return takeApart<never>([
    'X',
    'GET /',
    '',
    '',
    ['any', 'any', 'any'],
    [conditions, 'none'],
    'both',
    handler,
  ]);
}

const verdicts = `
  service   method   header                takes   verdict
  blob      PUT      If-Match              M       ok
  blob      PUT      If-Match              NIUT    refused
  blob      PUT      If-None-Match         MIUT    refused
  blob      DELETE   If-Modified-Since     MNUT    refused
  blob      PUT      If-Unmodified-Since   MNIT    refused
  blob      PUT      x-ms-if-tags          MNIU    refused
  blob      GET      If-Match              T       ok
  blob      HEAD     If-None-Match         T       ok
  blob      PUT      x-ms-other            T       ok
  file      GET      If-Match              T       refused
  file      PUT      If-None-Match         T       refused
  queue     PUT      If-Match              T       ok
  table     PUT      If-None-Match         T       ok
`;

for (const { service, method, header = '', takes = '', verdict } of rows(verdicts)) {
  test(`${service} ${method} with ${header}, taking ${takes}: ${verdict}`, () => {
    const call = callOf(service as ServiceName, `${method} /devstoreaccount1/c`, {
      headers: { [header]: 'x' },
    });
    const check = () => checkConditions(call, operation(takes));
    if (verdict === 'ok') check();
    else {
      assert.throws(check, {
        code: 'ConditionHeadersNotSupported',
        details: { HeaderName: header.toLowerCase() },
      });
    }
  });
}

const path = '/devstoreaccount1/c/b';
const version = { 'x-ms-version': '2021-12-02' };

test('the conditions an operation takes, and those of a source', () => {
  const call = callOf('blob', `GET ${path}`, {
    headers: {
      ...version,
      'If-Match': '"0x1"',
      'If-None-Match': '"0x2"',
      'x-ms-source-if-match': '0x3',
    },
  });
  assert.deepEqual(conditionsOf(call, operation('M'), 'read'), { ...noConditions, match: ['0x1'] });
  assert.deepEqual(sourceConditionsOf(call, 'source', 'MNIU'), { ...noConditions, match: ['0x3'] });
  assert.equal(conditionsOf(callOf('blob', `GET ${path}`), operation('MNIUT'), 'read'), noConditions);
});
