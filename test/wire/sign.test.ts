// The signing of tests against the published vectors, and the server's check against the signing of tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthorize } from '#src/http/auth/authorize.js';
import { fakeServer } from '../support/fake-service.js';
import { type SignOptions, signed } from '../support/sign.js';
import type { WireRequest } from '../support/wire.js';
import { ask } from '../support/wire.js';

const date = 'Fri, 26 Jun 2015 23:39:12 GMT';

const vectors: [request: WireRequest, service: SignOptions['service'], version: string, signature: string][] =
  [
    [
      { target: '/devstoreaccount1/mycontainer?restype=container&comp=metadata&timeout=20' },
      'blob',
      '2015-02-21',
      '8qkllG2KRigfHAuoixCLQgQEAuR65sidBFzzvqadckM=',
    ],
    [
      { target: '/mycontainer?restype=container&comp=metadata&timeout=20' },
      'blob',
      '2015-02-21',
      'NpSCSjvDEU2u4o4Lo6MDCJInwPAoMzWC8rMVmx3r3aA=',
    ],
    [
      {
        method: 'PUT',
        target: '/devstoreaccount1/mycontainer/hello.txt',
        headers: {
          'x-ms-blob-type': 'BlockBlob',
          'Content-Type': 'text/plain; charset=UTF-8',
          'If-None-Match': '*',
        },
        body: 'hello world',
      },
      'blob',
      '2020-10-02',
      '4eXeWzzWX/vniTryOT1JjJJQlCOkJEG/EhFmtm8hXGM=',
    ],
    [
      {
        method: 'POST',
        target: '/devstoreaccount1/Tables',
        headers: { 'Content-Type': 'application/json' },
      },
      'table',
      '2019-02-02',
      '1nVvaioXMVe40GrAGj4lFGAXTEkl0Uxf2jYVyDa2Yq4=',
    ],
  ];

for (const [request, service, version, signature] of vectors) {
  test(`signs ${request.method ?? 'GET'} ${request.target} as published`, () => {
    const { headers } = signed(request, { service, version, date });
    assert.equal(headers?.Authorization, `SharedKey devstoreaccount1:${signature}`);
  });
}

test('a signed request is let in, a changed one is not', async (t) => {
  const key = Buffer.alloc(64, 5);
  const { address } = await fakeServer(t, {
    authorize: createAuthorize(),
    keys: [key],
  });
  const options = { service: 'blob', account: 'acct', key: key.toString('base64') } as const;
  const request = { method: 'PUT', target: '/acct/c/b%20c?timeout=3&a=%2F', body: 'content' };
  const good = signed(request, options);
  assert.equal((await ask(address, good)).status, 200);
  assert.equal((await ask(address, { ...good, target: '/acct/c/b?timeout=3' })).status, 403);
  const unsigned = await ask(address, { ...request, headers: { 'x-ms-version': '2021-12-02' } });
  assert.equal(unsigned.status, 401);
  assert.match(unsigned.headers.get('www-authenticate') ?? '', /^Bearer /);
});
