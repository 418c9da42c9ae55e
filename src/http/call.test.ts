import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { callOf } from './auth/calls.suite.js';
import { clientIdOf } from './call.js';

const timeouts = `
  timeout       ms
  -             30000
  1             1000
  30            30000
  31            30000
  999999999     30000
  0             InvalidQueryParameterValue
  -1            InvalidQueryParameterValue
  1.5           InvalidQueryParameterValue
  x             InvalidQueryParameterValue
  9999999999    InvalidQueryParameterValue
`;

for (const { timeout, ms } of rows(timeouts)) {
  test(`timeout ${timeout} is ${ms}`, () => {
    const call = callOf('blob', `GET /devstoreaccount1/c/b${timeout === '-' ? '' : `?timeout=${timeout}`}`);
    if (/^\d+$/.test(ms ?? '')) assert.equal(call.timeoutMs, Number(ms));
    else assert.throws(() => call.timeoutMs, { code: ms });
  });
}

test('links begin with the endpoint', () => {
  const endpoint = (url: string, host: string, secure = false) =>
    callOf('blob', `GET http://${host}${url}`, { secure }).endpoint;
  const account = 'devstoreaccount1';
  assert.equal(endpoint(`/${account}/c`, 'localhost:10000'), `http://localhost:10000/${account}`);
  assert.equal(endpoint(`/${account}-secondary/c`, '[::1]:1'), `http://[::1]:1/${account}-secondary`);
  assert.equal(endpoint('/c/b', `${account}.blob.localhost`, true), `https://${account}.blob.localhost`);
});

test('a client id is echoed if it is visible ASCII of 1,024 characters at most', () => {
  const echoed = (id: string) => clientIdOf({ 'x-ms-client-request-id': id });
  assert.equal(echoed('a'.repeat(1024))?.length, 1024);
  for (const id of ['', 'a'.repeat(1025), 'a b', 'a\u00e4']) assert.equal(echoed(id), undefined);
});

const tunnels = `
  service   verb   header          method
  table     POST   MERGE           MERGE
  table     POST   PATCH           PATCH
  table     POST   DELETE          DELETE
  table     POST   -               POST
  table     POST   GET             XMethodIncorrectValue
  table     POST   MERGE, PUT      XMethodIncorrectCount
  table     PUT    MERGE           XMethodNotUsingPost
  blob      POST   MERGE           POST
`;

for (const { service, verb, header, method } of rows(tunnels)) {
  test(`${service} ${verb} with X-HTTP-Method ${header} is ${method}`, () => {
    const headers: Record<string, string> = header === '-' ? {} : { 'X-HTTP-Method': header ?? '' };
    const read = () => callOf(service as 'table', `${verb} /devstoreaccount1/Abc`, { headers });
    if (method?.startsWith('XMethod')) assert.throws(read, { code: method });
    else {
      assert.equal(read().method, method);
      assert.equal(read().verb, verb);
    }
  });
}
