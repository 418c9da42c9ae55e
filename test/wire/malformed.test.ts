// What is no request at all, or only half of one. Every answer is in the service's form, and no connection
// that cannot be trusted any more is used again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { described, fakeServer } from '../support/fake-service.js';
import { ask, Wire } from '../support/wire.js';

const host = 'Host: 127.0.0.1\r\n';

const malformed: [name: string, bytes: string, status: number, code: string][] = [
  ['no HTTP', 'hello\r\n\r\n', 400, 'InvalidHttpVerb'],
  ['an unknown method', `BREW /acct/c/b HTTP/1.1\r\n${host}\r\n`, 400, 'InvalidHttpVerb'],
  ['a method of others', `PROPFIND /acct/c/b HTTP/1.1\r\n${host}\r\n`, 400, 'InvalidHttpVerb'],
  ['no host', 'GET /acct/c/b HTTP/1.1\r\n\r\n', 400, 'HostInformationNotPresent'],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\n${host}\r\n`, 400, 'InvalidUri'],
  ['a header without a colon', `GET /acct/c/b HTTP/1.1\r\n${host}nonsense\r\n\r\n`, 400, 'InvalidInput'],
  ['a header name with a space', `GET /acct/c/b HTTP/1.1\r\n${host}a b: c\r\n\r\n`, 400, 'InvalidInput'],
  ['a NUL in a header', `GET /acct/c/b HTTP/1.1\r\n${host}a: \0\r\n\r\n`, 400, 'InvalidInput'],
  [
    'a length that is none',
    `PUT /acct/c/b HTTP/1.1\r\n${host}Content-Length: x\r\n\r\n`,
    400,
    'InvalidInput',
  ],
  ['a negative length', `PUT /acct/c/b HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`, 400, 'InvalidInput'],
  [
    'two lengths',
    `PUT /acct/c/b HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`,
    400,
    'InvalidInput',
  ],
  [
    'a length and chunks',
    `PUT /acct/c/b HTTP/1.1\r\n${host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    'InvalidInput',
  ],
  [
    'a header of 70 KiB',
    `GET /acct/c/b HTTP/1.1\r\n${host}a: ${'x'.repeat(70_000)}\r\n\r\n`,
    431,
    'InvalidInput',
  ],
  ['a URL of 70 KiB', `GET /acct/c/${'x'.repeat(70_000)} HTTP/1.1\r\n${host}\r\n`, 431, 'InvalidInput'],
];

for (const [name, bytes, status, code] of malformed) {
  test(`${name}: ${status} ${code}`, async (t) => {
    const { address } = await fakeServer(t);
    const wire = await Wire.open(address);
    const answer = await wire.send(bytes).answer();
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get('x-ms-error-code'), code);
    assert.match(answer.text, new RegExp(`<Error><Code>${code}</Code>`));
    assert.match(answer.headers.get('x-ms-request-id') ?? '', /^[\da-f-]{36}$/);
    wire.close();
  });
}

test('after what is no HTTP the connection is closed', async (t) => {
  const { address } = await fakeServer(t);
  const wire = await Wire.open(address);
  wire.send('GET /acct/c/b\r\n\r\n');
  assert.equal((await wire.answer()).status, 400);
  assert.equal(await wire.closed(), '');
});

test('60 KiB of headers are taken, two thousand of them too', async (t) => {
  const { address } = await fakeServer(t, {
    handlers: { Get: (call) => ({ status: 200, headers: [], body: String(call.rawHeaders.length / 2) }) },
  });
  const headers = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`x-ms-meta-a${n}`, 'x']));
  const answer = await ask(address, { target: '/acct/c/b', headers });
  assert.equal(answer.status, 200);
  assert.equal(answer.text, '2001');
  const large = await ask(address, { target: '/acct/c/b', headers: { a: 'x'.repeat(60_000) } });
  assert.equal(large.status, 200);
});

test('a request in pieces of one byte is a request', async (t) => {
  const { address } = await fakeServer(t);
  const wire = await Wire.open(address);
  for (const byte of `GET /acct/c/b HTTP/1.1\r\n${host}\r\n`) {
    wire.send(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await wire.answer()).status, 200);
  wire.close();
});

test('pipelined requests are answered in order, however long each takes', async (t) => {
  const release: (() => void)[] = [];
  const { address } = await fakeServer(t, {
    handlers: {
      Get: async (call) => {
        if (call.name === 'slow') await new Promise<void>((resolve) => release.push(resolve));
        return described(call);
      },
    },
  });
  const wire = await Wire.open(address);
  const get = (name: string) => `GET /acct/c/${name} HTTP/1.1\r\n${host}\r\n`;
  wire.send(get('slow') + get('fast') + get('last'));
  while (release.length === 0) await new Promise((resolve) => setImmediate(resolve));
  release[0]?.();
  const names = [];
  for (let n = 0; n < 3; n++) names.push(JSON.parse((await wire.answer()).text).name);
  assert.deepEqual(names, ['slow', 'fast', 'last']);
  wire.close();
});

test('a pipelined request begins when the answer before it is out: it sees what that one has done', async (t) => {
  const doings: string[] = [];
  const { address } = await fakeServer(t, {
    handlers: {
      Get: async (call) => {
        doings.push(`${call.name} begins`);
        for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
        doings.push(`${call.name} ends`);
        return described(call);
      },
    },
  });
  const wire = await Wire.open(address);
  wire.send(['a', 'b', 'c'].map((name) => `GET /acct/c/${name} HTTP/1.1\r\n${host}\r\n`).join(''));
  for (let n = 0; n < 3; n++) await wire.answer();
  assert.deepEqual(doings, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  wire.close();
});

test('who sends requests without end while the first is not answered is cut off', async (t) => {
  const release: (() => void)[] = [];
  const { address } = await fakeServer(t, {
    handlers: {
      Get: async (call) => {
        await new Promise<void>((resolve) => release.push(resolve));
        return described(call);
      },
    },
  });
  const wire = await Wire.open(address);
  wire.send(`GET /acct/c/b HTTP/1.1\r\n${host}\r\n`.repeat(1002));
  await assert.rejects(wire.answer());
  assert.equal(release.length, 1);
  release[0]?.();
});

test('garbage behind a request does not break into its answer', async (t) => {
  const release: (() => void)[] = [];
  const { address, finished } = await fakeServer(t, {
    handlers: {
      Get: async (call) => {
        await new Promise<void>((resolve) => release.push(resolve));
        return described(call);
      },
    },
  });
  const wire = await Wire.open(address);
  wire.send(`GET /acct/c/b HTTP/1.1\r\n${host}\r\nthis is no HTTP\r\n\r\n`);
  assert.equal(await wire.closed(), '');
  release[0]?.();
  while (finished.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(finished[0]?.isComplete, false);
});

test('a head that never ends is cut off', async (t) => {
  const { address } = await fakeServer(t, { listen: { headMs: 50 } });
  const wire = await Wire.open(address);
  const answer = await wire.send('GET /acct/c/b HTTP/1.1\r\nHost: ').answer();
  assert.equal(answer.status, 408);
  assert.equal(answer.headers.get('x-ms-error-code'), 'OperationTimedOut');
  assert.equal(await wire.closed(), '');
});

test('HTTP/1.0 and an absolute request line are understood', async (t) => {
  const { address } = await fakeServer(t);
  const old = await Wire.open(address);
  old.send('GET /acct/c/b HTTP/1.0\r\nHost: x\r\n\r\n');
  assert.equal((await old.answer()).status, 200);
  assert.equal(await old.closed(), '');
  const answer = await ask(address, { target: 'http://acct.blob.localhost/c/b' });
  assert.equal(JSON.parse(answer.text).style, 'host');
});

const fuzzSeed = 20260102;

test(`five hundred requests with bytes changed, cut and doubled: no bug, no hang (seed ${fuzzSeed})`, async (t) => {
  const { address, failures, finished } = await fakeServer(t, {
    handlers: { Put: async (call) => ({ status: 201, headers: [], body: await call.body.readAll(100) }) },
    listen: { headMs: 200, limits: { stallMs: 200 } },
  });
  const draw = seededRandom(fuzzSeed);
  const random = (below: number) => Math.floor(draw() * below);
  const valid = [
    `GET /acct/c/b%20c?comp=&prefix=a%2Fb&timeout=5 HTTP/1.1\r\n${host}x-ms-version: 2021-12-02\r\nRange: bytes=0-9\r\n\r\n`,
    `PUT /acct/c/b HTTP/1.1\r\n${host}Content-Length: 5\r\nx-ms-meta-a: b\r\nIf-Match: "x"\r\n\r\nhello`,
    `PUT /acct/c?restype=container HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 0\r\n\r\n`,
    `OPTIONS /acct/c HTTP/1.1\r\n${host}Origin: http://a.com\r\nAccess-Control-Request-Method: GET\r\n\r\n`,
  ].map((text) => Buffer.from(text));
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const wire = await Wire.open(address);
        wire.send(spoiled(valid[random(valid.length)] ?? Buffer.alloc(0), random)).finish();
        await wire.closed();
      }),
    );
  }
  assert.deepEqual(failures, []);
  assert.ok(finished.length > 100, `only ${finished.length} were requests at all`);
  assert.equal((await ask(address, { target: '/acct/c/b' })).status, 200);
});

function spoiled(bytes: Buffer, random: (below: number) => number): Buffer {
  let text = Buffer.from(bytes);
  for (let n = random(4); n > 0; n--) {
    const at = random(text.length);
    const change = random(3);
    if (change === 0) text[at] = random(256);
    else if (change === 1) text = Buffer.concat([text.subarray(0, at), text.subarray(at + random(8))]);
    else text = Buffer.concat([text.subarray(0, at), text.subarray(random(at + 1))]);
  }
  return text;
}
