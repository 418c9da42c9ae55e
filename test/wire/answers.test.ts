// What every answer has, whatever the service: ids, version, lengths, errors in the service's form.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeServer } from '../support/fake-service.js';
import { ask } from '../support/wire.js';

test('an answer carries ids, version, server, date and length', async (t) => {
  const { address } = await fakeServer(t);
  const answer = await ask(address, {
    target: '/acct/c/b',
    headers: { 'x-ms-version': '2021-12-02', 'x-ms-client-request-id': 'my-id' },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('x-ms-request-id'), '00000000-0000-0000-0000-000000000001');
  assert.equal(answer.headers.get('x-ms-client-request-id'), 'my-id');
  assert.equal(answer.headers.get('x-ms-version'), '2021-12-02');
  assert.equal(answer.headers.get('server'), 'Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0');
  assert.match(answer.headers.get('date') ?? '', /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  assert.equal(answer.headers.get('content-length'), String(answer.body.length));
  assert.equal(JSON.parse(answer.text).name, 'b');
});
