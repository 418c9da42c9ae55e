// Bodies of requests: exact lengths, limits, clients that wait, stall, break off or send too much.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientGoneError } from '#src/http/body.js';
import type { Call } from '#src/http/call.js';
import { StorageError } from '#src/services/common/errors.js';
import { fakeServer } from '../support/fake-service.js';
import { ask, Wire } from '../support/wire.js';

const put = '/acct/c/b';
const head = (more: string) => `PUT ${put} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const told = (text: string) => ({ status: 201, headers: [], body: text });

/** Reads all with a limit of ten bytes. */
const readTen = async (call: Call) => told(`read ${await call.body.readAll(10)}`);

const stream = async (call: Call) => {
  call.body.requireLength(1e9);
  let length = 0;
  for await (const chunk of call.body) length += chunk.length;
  return told(`streamed ${length}`);
};

const refuse = () => {
  throw new StorageError('LeaseIdMissing');
};

test('a body is read whole, also when it is empty or not there', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: readTen } });
  assert.equal(
    (await ask(address, { method: 'PUT', target: put, body: '0123456789' })).text,
    'read 0123456789',
  );
  assert.equal((await ask(address, { method: 'PUT', target: put, body: '' })).text, 'read ');
  const without = await ask(address, { method: 'PUT', target: put, headers: { 'Content-Length': null } });
  assert.equal(without.text, 'read ');
});

test('one byte above the limit is 413 with the limit, before anything is read', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: readTen } });
  const answer = await ask(address, { method: 'PUT', target: put, body: '0123456789x' });
  assert.equal(answer.status, 413);
  assert.equal(answer.headers.get('x-ms-error-code'), 'RequestBodyTooLarge');
  assert.match(answer.text, /<MaxLimit>10<\/MaxLimit>/);
});

test('without a length there is no upload: 411', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: stream } });
  const wire = await Wire.open(address);
  const missing = await wire.send(head('')).answer();
  assert.equal(missing.status, 411);
  assert.equal(missing.headers.get('x-ms-error-code'), 'MissingContentLengthHeader');
  const chunked = await wire.send(`${head('Transfer-Encoding: chunked\r\n')}3\r\nabc\r\n`).answer();
  assert.equal(chunked.status, 411);
  wire.close();
});

test('a body is streamed with what comes in one piece or in many', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: stream } });
  const body = Buffer.alloc(3 * 1024 * 1024, 'x');
  assert.equal((await ask(address, { method: 'PUT', target: put, body })).text, `streamed ${body.length}`);
  const wire = await Wire.open(address);
  wire.send(head('Content-Length: 5\r\n'));
  for (const piece of ['a', 'bc', 'de']) {
    wire.send(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await wire.answer()).text, 'streamed 5');
  wire.close();
});

test('a reader that is slow holds the client back', async (t) => {
  let release: () => void = () => {};
  const waits = new Promise<void>((resolve) => {
    release = resolve;
  });
  let seen = 0;
  const { address } = await fakeServer(t, {
    handlers: {
      Put: async (call) => {
        for await (const chunk of call.body) {
          seen += chunk.length;
          await waits;
        }
        return told(String(seen));
      },
    },
  });
  const wire = await Wire.open(address);
  const size = 64 * 1024 * 1024;
  wire.send(head(`Content-Length: ${size}\r\n`)).send(Buffer.alloc(size));
  while (seen === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(wire.unsentBytes > size / 2, `only ${wire.unsentBytes} bytes wait at the client`);
  release();
  assert.equal((await wire.answer()).text, String(size));
  wire.close();
});

test('100 Continue is sent when the body is wanted, and not before', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: readTen, Tags: refuse } });
  const wire = await Wire.open(address);
  const expect = 'Expect: 100-continue\r\nContent-Length: 3\r\nx-ms-version: 2021-12-02\r\n';
  assert.equal((await wire.send(head(expect)).answer()).status, 100);
  assert.equal((await wire.send('abc').answer()).text, 'read abc');

  const refused = await wire.send(head(expect).replace(put, `${put}?comp=tags`)).answer();
  assert.equal(refused.status, 412);
  assert.equal(refused.headers.get('connection'), 'close');
  assert.equal(await wire.closed(), '');
});

test('a refusal of a short body leaves the connection in use', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: refuse } });
  const wire = await Wire.open(address);
  for (let n = 0; n < 3; n++) {
    wire.request({ method: 'PUT', target: put, body: Buffer.alloc(100_000) });
    assert.equal((await wire.answer()).status, 412);
  }
  wire.close();
});

test('a refusal of a long body reaches a client that sends on and on', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: refuse } });
  const wire = await Wire.open(address);
  wire.send(head(`Content-Length: ${100 * 1024 * 1024}\r\n`)).send(Buffer.alloc(8 * 1024 * 1024));
  const answer = await wire.answer();
  assert.equal(answer.status, 412);
  assert.equal(answer.headers.get('connection'), 'close');
  assert.match(answer.text, /LeaseIdMissing/);
  wire.close();
});

test('a client that sends its long refused body to the end is read to the end, then closed', async (t) => {
  const { address } = await fakeServer(t, { handlers: { Put: refuse } });
  const body = Buffer.alloc(16 * 1024 * 1024);
  const wire = await Wire.open(address);
  wire.request({ method: 'PUT', target: put, body });
  assert.equal((await wire.answer()).status, 412);
  assert.equal(await wire.closed(), '');
  assert.equal(wire.unsentBytes, 0);
});

test('a refused client that neither sends nor closes is closed after a while', async (t) => {
  const { address } = await fakeServer(t, {
    handlers: { Put: refuse },
    listen: { limits: { lingerMs: 20 } },
  });
  const wire = await Wire.open(address);
  assert.equal((await wire.send(head(`Content-Length: ${1e9}\r\n`)).answer()).status, 412);
  assert.equal(await wire.closed(), '');
});

test('a handler that stops reading in the middle leaves the connection in use', async (t) => {
  const { address } = await fakeServer(t, {
    handlers: {
      Put: async (call) => {
        for await (const _ of call.body) throw new StorageError('Md5Mismatch');
        return told('nothing');
      },
    },
  });
  const wire = await Wire.open(address);
  for (let n = 0; n < 2; n++) {
    wire.request({ method: 'PUT', target: put, body: Buffer.alloc(700_000) });
    assert.equal((await wire.answer()).headers.get('x-ms-error-code'), 'Md5Mismatch');
  }
  wire.close();
});

for (const [name, handler] of [
  ['read whole', (call: Call) => call.body.readAll(1e9).then(() => told('stored'))],
  ['streamed', stream],
] as const) {
  test(`an upload that breaks off is never taken for a whole one: ${name}`, async (t) => {
    const outcomes: unknown[] = [];
    let begun = 0;
    const { address, failures, finished } = await fakeServer(t, {
      handlers: {
        Put: async (call) => {
          begun++;
          const outcome = await handler(call).catch((error: unknown) => error);
          outcomes.push(outcome);
          if (outcome instanceof Error) throw outcome;
          return told('stored');
        },
      },
    });
    for (const end of ['abort', 'close'] as const) {
      const wire = await Wire.open(address);
      wire.send(head('Content-Length: 1000\r\n')).send('only this');
      while (begun < finished.length + 1) await new Promise((resolve) => setTimeout(resolve, 1));
      wire[end]();
      while (finished.length < begun) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.equal(begun, 2);
    assert.ok(outcomes.every((outcome) => outcome instanceof ClientGoneError));
    assert.ok(finished.every(({ isComplete }) => !isComplete));
    assert.deepEqual(failures, []);
  });
}

test('a client that stalls in its body is told 500 OperationTimedOut and closed', async (t) => {
  for (const handler of [stream, (call: Call) => call.body.readAll(1e9).then(() => told('stored'))]) {
    const { address } = await fakeServer(t, {
      handlers: { Put: handler },
      listen: { limits: { stallMs: 80 } },
    });
    const wire = await Wire.open(address);
    const answer = await wire
      .send(head(`Content-Length: ${1e8}\r\n`))
      .send('some')
      .answer();
    assert.equal(answer.status, 500);
    assert.equal(answer.headers.get('x-ms-error-code'), 'OperationTimedOut');
    assert.equal(answer.headers.get('connection'), 'close');
    wire.close();
  }
});

test('a handler that takes its time is no stall', async (t) => {
  const { address } = await fakeServer(t, {
    handlers: {
      Put: async (call) => {
        await call.body.readAll(10);
        await new Promise((resolve) => setTimeout(resolve, 150));
        return told('done');
      },
    },
    listen: { limits: { stallMs: 30 } },
  });
  assert.equal((await ask(address, { method: 'PUT', target: put, body: 'x' })).text, 'done');
});
