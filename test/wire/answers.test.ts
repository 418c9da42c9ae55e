// What every answer has, whatever the service: ids, version, lengths, errors in the service's form.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeaderedError } from '#src/http/errors.js';
import { StorageError } from '#src/services/common/errors.js';
import { described, fakeServer } from '../support/fake-service.js';
import { ask, Wire } from '../support/wire.js';

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

test('an error has a code, a body with id and time, and the message in its status line', async (t) => {
  const { address, finished } = await fakeServer(t, {
    handlers: {
      Get: () => {
        throw new StorageError('BlobNotFound');
      },
    },
  });
  const answer = await ask(address, { target: '/acct/c/b', headers: { 'x-ms-client-request-id': 'mine' } });
  assert.equal(answer.status, 404);
  assert.equal(answer.reason, 'The specified blob does not exist.');
  assert.equal(answer.headers.get('x-ms-error-code'), 'BlobNotFound');
  assert.equal(answer.headers.get('x-ms-client-request-id'), 'mine');
  assert.equal(
    answer.text,
    '<?xml version="1.0" encoding="utf-8"?><Error><Code>BlobNotFound</Code><Message>The specified blob does not exist.\nRequestId:00000000-0000-0000-0000-000000000001\nTime:2026-01-02T03:04:05.0006789Z</Message></Error>',
  );
  assert.deepEqual([...answer.body.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
  assert.equal(finished[0]?.reply.operation, 'Get');
  assert.equal(finished[0]?.reply.errorCode, 'BlobNotFound');
});

test('HEAD has the headers of the body it does not send', async (t) => {
  const { address } = await fakeServer(t);
  const wire = await Wire.open(address);
  const head = await wire.request({ method: 'HEAD', target: '/acct/c/b' }).answer('HEAD');
  const get = await wire.request({ target: '/acct/c/b' }).answer();
  assert.equal(head.status, 200);
  // The method is in the body, one letter longer.
  assert.equal(Number(head.headers.get('content-length')), get.body.length + 1);
  wire.close();
});

test('an error to HEAD has its code in the headers, and the connection goes on', async (t) => {
  const { address } = await fakeServer(t);
  const wire = await Wire.open(address);
  const refused = await wire.request({ method: 'HEAD', target: '/acct?comp=list' }).answer('HEAD');
  assert.equal(refused.status, 405);
  assert.equal(refused.headers.get('x-ms-error-code'), 'UnsupportedHttpVerb');
  assert.equal((await wire.request({ target: '/acct?comp=list' }).answer()).status, 200);
  wire.close();
});

test('304 and 204 have no body and no length', async (t) => {
  const { address } = await fakeServer(t, {
    handlers: {
      Get: () => {
        throw new StorageError('ConditionNotMet', { status: 304 });
      },
      Put: () => ({ status: 204, headers: [] }),
      Create: () => ({ status: 201, headers: ['ETag', '"1"'] }),
    },
  });
  const wire = await Wire.open(address);
  const notModified = await wire.request({ target: '/acct/c/b' }).answer();
  assert.equal(notModified.status, 304);
  assert.equal(notModified.headers.get('x-ms-error-code'), 'ConditionNotMet');
  assert.equal(notModified.headers.get('content-length'), undefined);
  const nothing = await wire.request({ method: 'PUT', target: '/acct/c/b' }).answer();
  assert.equal(nothing.status, 204);
  assert.equal(nothing.headers.get('content-length'), undefined);
  const created = await wire.request({ method: 'PUT', target: '/acct/c?restype=container' }).answer();
  assert.equal(created.headers.get('content-length'), '0');
  assert.equal(created.headers.get('etag'), '"1"');
  wire.close();
});

test('a bug is 500, told to the log and to nobody else', async (t) => {
  const bug = new TypeError('x is not a function at /secret/path');
  const { address, failures } = await fakeServer(t, {
    handlers: {
      Get: () => {
        throw bug;
      },
    },
  });
  const answer = await ask(address, { target: '/acct/c/b' });
  assert.equal(answer.status, 500);
  assert.match(answer.text, /<Code>InternalError<\/Code>/);
  assert.doesNotMatch(answer.text + [...answer.headers].join(), /secret|function/);
  assert.deepEqual(failures, [bug]);
});

test('a header that cannot be written is a bug too, not the end of the connection pool', async (t) => {
  const { address, failures } = await fakeServer(t, {
    handlers: { Get: () => ({ status: 200, headers: ['x-ms-meta-a', 'line\nbreak'] }) },
  });
  const answer = await ask(address, { target: '/acct/c/b' });
  assert.equal(answer.status, 500);
  assert.equal(failures.length, 1);
});

test('an error of a lower layer is answered as what it stands for', async (t) => {
  const { address, failures } = await fakeServer(t, {
    handlers: {
      Get: () => {
        throw new RangeError('lock timeout');
      },
    },
    translate: (error) =>
      error instanceof RangeError ? new HeaderedError('ServerBusy', ['Retry-After', '1']) : undefined,
  });
  const answer = await ask(address, { target: '/acct/c/b' });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.equal(answer.headers.get('x-ms-error-code'), 'ServerBusy');
  assert.deepEqual(failures, []);
});

test('a table answers with its own server name and JSON errors', async (t) => {
  const { address } = await fakeServer(t, { service: 'table' });
  const answer = await ask(address, { target: '/nobody/Tables' });
  assert.equal(answer.status, 404);
  assert.equal(answer.reason, 'Not Found');
  assert.equal(answer.headers.get('server'), 'Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0');
  assert.equal(
    answer.headers.get('content-type'),
    'application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
  );
  assert.equal(JSON.parse(answer.text)['odata.error'].code, 'ResourceNotFound');
});

const versions = [
  ['2021-12-02', 200, '2021-12-02'],
  ['2099-12-31', 200, '2026-06-06'],
  ['yesterday', 400, '2026-06-06'],
] as const;

for (const [asked, status, answered] of versions) {
  test(`version ${asked} is answered ${status} as ${answered}`, async (t) => {
    const { address } = await fakeServer(t);
    const answer = await ask(address, { target: '/acct/c/b', headers: { 'x-ms-version': asked } });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get('x-ms-version'), answered);
    if (status === 400) {
      assert.match(
        answer.text,
        /<HeaderName>x-ms-version<\/HeaderName><HeaderValue>yesterday<\/HeaderValue>/,
      );
    }
  });
}

test('odd names arrive as they were sent', async (t) => {
  const { address } = await fakeServer(t);
  for (const [raw, name] of [
    ['a%2Fb', 'a/b'],
    ['a/../b/./c/', 'a/../b/./c/'],
    ['%2e%2e', '..'],
    ['//x', '//x'],
    ['%25', '%'],
    ['%3F%23', '?#'],
    ['%01%7F', '\u0001\u007f'],
    ['%EF%BF%BF', '\uffff'],
    ['gr%C3%BC%C3%9Fe', 'grüße'],
    ['a+b', 'a+b'],
  ] as const) {
    const answer = await ask(address, { target: `/acct/c/${raw}` });
    assert.equal(JSON.parse(answer.text).name, name, raw);
  }
  for (const raw of ['%', '%GG', '%C3', '%00', Buffer.from('grüße').toString('latin1')]) {
    const answer = await ask(address, { target: `/acct/c/${raw}` });
    assert.equal(answer.status, 400, raw);
    assert.equal(answer.headers.get('x-ms-error-code'), 'InvalidUri');
  }
});

test('host-style, path-style and the secondary', async (t) => {
  const { address } = await fakeServer(t);
  const told = async (host: string, target: string) =>
    JSON.parse((await ask(address, { target, headers: { Host: host } })).text);
  assert.deepEqual(
    [(await told('acct.blob.localhost:1', '/c/b')).endpoint, (await told('[::1]:1', '/acct/c/b')).endpoint],
    ['http://acct.blob.localhost:1', 'http://[::1]:1/acct'],
  );
  const secondary = await told('acct-secondary.blob.localhost', '/c/b');
  assert.equal(secondary.account, 'acct');
  assert.equal(secondary.secondary, true);
});

test('the secondary takes no writes, and statistics are there alone', async (t) => {
  const { address } = await fakeServer(t);
  const write = await ask(address, { method: 'PUT', target: '/acct-secondary/c/b' });
  assert.equal(write.status, 403);
  assert.equal(write.headers.get('x-ms-error-code'), 'InsufficientAccountPermissions');
  assert.equal(write.reason, 'Write operations are not allowed.');
  const version = { 'x-ms-version': '2021-12-02' };
  const stats = '?restype=service&comp=stats';
  assert.equal((await ask(address, { target: `/acct-secondary${stats}`, headers: version })).status, 200);
  assert.equal((await ask(address, { target: `/acct${stats}`, headers: version })).status, 403);
});

test('a secondary that is off is not read', async (t) => {
  const { address } = await fakeServer(t, { account: { secondary: false } });
  const answer = await ask(address, { target: '/acct-secondary/c/b' });
  assert.equal(answer.status, 403);
  assert.equal(answer.headers.get('x-ms-error-code'), 'InsufficientAccountPermissions');
});

test('authorization comes before what else is wrong with a request', async (t) => {
  const { address } = await fakeServer(t, {
    authorize: () => {
      throw new HeaderedError('NoAuthenticationInformation', ['WWW-Authenticate', 'Bearer x']);
    },
  });
  const answer = await ask(address, { target: '/acct/c/b?timeout=never' });
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer x');
});

test('a timeout that is none is refused before the handler runs', async (t) => {
  const { address } = await fakeServer(t);
  const answer = await ask(address, { target: '/acct/c/b?timeout=never' });
  assert.equal(answer.status, 400);
  assert.match(answer.text, /<QueryParameterName>timeout<\/QueryParameterName>/);
});

test('a condition that a write would ignore is refused, on a read it is not', async (t) => {
  const { address } = await fakeServer(t);
  const headers = { 'If-Match': '"1"', 'x-ms-version': '2021-12-02' };
  const write = await ask(address, { method: 'PUT', target: '/acct/c/b?comp=tags', headers });
  assert.equal(write.status, 400);
  assert.equal(write.headers.get('x-ms-error-code'), 'ConditionHeadersNotSupported');
  assert.equal((await ask(address, { target: '/acct?comp=list', headers })).status, 200);
  assert.equal((await ask(address, { method: 'PUT', target: '/acct/c/b', headers })).status, 200);
});

const rule = {
  allowedOrigins: ['http://a.com'],
  allowedMethods: ['GET'],
  allowedHeaders: ['*'],
  exposedHeaders: ['x-ms-*', 'content-length'],
  maxAgeSeconds: 60,
};

test('a preflight needs no credentials and no resource', async (t) => {
  const { address } = await fakeServer(t, {
    account: { cors: [rule] },
    authorize: () => {
      throw new StorageError('AuthenticationFailed');
    },
  });
  const headers = { Origin: 'http://a.com', 'Access-Control-Request-Method': 'GET' };
  const allowed = await ask(address, { method: 'OPTIONS', target: '/acct/nothing/here', headers });
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers.get('access-control-allow-origin'), 'http://a.com');
  assert.equal(allowed.headers.get('access-control-max-age'), '60');
  assert.equal(allowed.headers.get('content-length'), '0');
  const other = { ...headers, Origin: 'http://b.com' };
  const refused = await ask(address, { method: 'OPTIONS', target: '/acct/c', headers: other });
  assert.equal(refused.status, 403);
  assert.equal(refused.headers.get('x-ms-error-code'), 'CorsPreflightFailure');
});

test('an answer to another origin names what it exposes, an error as well', async (t) => {
  const { address } = await fakeServer(t, {
    account: { cors: [rule] },
    handlers: {
      List: () => {
        throw new StorageError('ServerBusy');
      },
      Get: described,
    },
  });
  const headers = { Origin: 'http://a.com', 'x-ms-client-request-id': '1' };
  for (const target of ['/acct/c/b', '/acct?comp=list']) {
    const answer = await ask(address, { target, headers });
    assert.equal(answer.headers.get('access-control-allow-origin'), 'http://a.com');
    assert.equal(answer.headers.get('vary'), 'Origin');
    const exposed = answer.headers.get('access-control-expose-headers') ?? '';
    const wanted = ['x-ms-request-id', 'x-ms-version', 'x-ms-client-request-id', 'Content-Length'];
    assert.ok(
      wanted.every((name) => exposed.split(',').includes(name)),
      exposed,
    );
  }
});
