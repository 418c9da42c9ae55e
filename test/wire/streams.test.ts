// Answers that are sent piece by piece: whole or visibly broken, never more than the client takes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '#src/http/answer.js';
import { StorageError } from '#src/services/common/errors.js';
import { fakeServer } from '../support/fake-service.js';
import { ask, Wire } from '../support/wire.js';

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

function answerOf(body: AsyncIterable<Buffer>, length?: number): Answer {
  return { status: 200, headers: length === undefined ? [] : ['Content-Length', String(length)], body };
}

async function* pieces(count: number, size: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(size, n);
}

test('a stream comes whole, with a length and without', async (t) => {
  const sizes = [
    [0, 0],
    [1, 1],
    [100, 10_000],
    [3, 5 * 1024 * 1024],
  ] as const;
  for (const [count, size] of sizes) {
    const { address } = await fakeServer(t, {
      handlers: {
        Get: (call) => answerOf(pieces(count, size), call.name === 'chunked' ? undefined : count * size),
      },
    });
    const wire = await Wire.open(address);
    const known = await wire.request({ target: '/acct/c/known' }).answer();
    assert.equal(known.headers.get('content-length'), String(count * size));
    const chunked = await wire.request({ target: '/acct/c/chunked' }).answer();
    assert.equal(chunked.headers.get('transfer-encoding'), 'chunked');
    for (const { body } of [known, chunked]) {
      assert.equal(body.length, count * size);
      assert.equal(body.at(-1), count === 0 ? undefined : count - 1);
    }
    wire.close();
  }
});

test('HEAD sends the headers of a stream, does not read it, and lets it go', async (t) => {
  const begun: string[] = [];
  const released: string[] = [];
  const body = (name: string): AsyncIterable<Buffer> => ({
    [Symbol.asyncIterator]: () => {
      let left = 1;
      return {
        next: async () => {
          begun.push(name);
          return left-- > 0 ? { done: false, value: Buffer.from('bytes') } : { done: true, value: undefined };
        },
        return: async () => {
          released.push(name);
          return { done: true, value: undefined };
        },
      };
    },
  });
  const { address } = await fakeServer(t, { handlers: { Get: (call) => answerOf(body(call.method), 5) } });
  const wire = await Wire.open(address);
  const answer = await wire.request({ method: 'HEAD', target: '/acct/c/b' }).answer('HEAD');
  assert.equal(answer.headers.get('content-length'), '5');
  assert.deepEqual([begun, released], [[], ['HEAD']]);
  assert.equal((await wire.request({ target: '/acct/c/b' }).answer()).text, 'bytes');
  assert.deepEqual(
    [begun, released],
    [
      ['GET', 'GET'],
      ['HEAD', 'GET'],
    ],
  );
  wire.close();
});

test('an error before the first piece is an answer of its own', async (t) => {
  const failing = (error: Error): AsyncIterable<Buffer> => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
  });
  const damaged = () => failing(new Error('a checksum does not match'));
  const refused = () => failing(new StorageError('BlobNotFound'));
  const { address, failures } = await fakeServer(t, {
    handlers: { Get: (call) => answerOf(call.name === 'refused' ? refused() : damaged(), 10) },
  });
  const wire = await Wire.open(address);
  assert.equal((await wire.request({ target: '/acct/c/damaged' }).answer()).status, 500);
  assert.equal((await wire.request({ target: '/acct/c/refused' }).answer()).status, 404);
  assert.equal(failures.length, 1);
  wire.close();
});

test('an error in the middle breaks the connection: a part is never taken for the whole', async (t) => {
  const bug = new Error('a checksum does not match');
  async function* damaged(): AsyncGenerator<Buffer> {
    yield Buffer.from('first');
    throw bug;
  }
  const { address, failures, finished } = await fakeServer(t, {
    handlers: { Get: (call) => answerOf(damaged(), call.name === 'known' ? 10 : undefined) },
  });
  for (const name of ['known', 'chunked']) {
    await assert.rejects(ask(address, { target: `/acct/c/${name}` }), /the connection was closed/);
  }
  while (finished.length < 2) await tick();
  assert.deepEqual(failures, [bug, bug]);
  assert.ok(finished.every(({ isComplete }) => !isComplete));
});

test('a client that goes away ends the reading, and what was read is let go', async (t) => {
  let read = 0;
  let released = false;
  async function* endless(): AsyncGenerator<Buffer> {
    try {
      while (true) {
        read++;
        yield Buffer.alloc(100_000);
      }
    } finally {
      released = true;
    }
  }
  const { address, finished, failures } = await fakeServer(t, {
    handlers: { Get: () => answerOf(endless()) },
  });
  const wire = await Wire.open(address);
  wire.pause().request({ target: '/acct/c/b' });
  let before = -1;
  while (read !== before || read === 0) {
    before = read;
    for (let n = 0; n < 10; n++) await tick();
  }
  assert.ok(read < 200, `${read} pieces were read for a client that takes none`);
  assert.equal(released, false);
  wire.abort();
  while (finished.length === 0) await tick();
  assert.equal(released, true);
  assert.deepEqual(failures, []);
});

test('a client that takes nothing for too long is cut off', async (t) => {
  const { address, finished } = await fakeServer(t, {
    handlers: { Get: () => answerOf(pieces(1000, 100_000), 100_000_000) },
    listen: { limits: { stallMs: 60 } },
  });
  const wire = await Wire.open(address);
  wire.pause().request({ target: '/acct/c/b' });
  while (finished.length === 0) await tick();
  assert.equal(finished[0]?.isComplete, false);
  wire.close();
});

test('a whole body that the client does not take is cut off too', async (t) => {
  const { address, finished } = await fakeServer(t, {
    handlers: { Get: () => ({ status: 200, headers: [], body: Buffer.alloc(50_000_000) }) },
    listen: { limits: { stallMs: 60 } },
  });
  const wire = await Wire.open(address);
  wire.pause().request({ target: '/acct/c/b' });
  while (finished.length === 0) await tick();
  assert.equal(finished[0]?.isComplete, false);
  wire.close();
});

test('a large body in memory comes whole', async (t) => {
  const text = 'é'.repeat(1_000_000);
  const { address } = await fakeServer(t, {
    handlers: { Get: () => ({ status: 200, headers: [], body: text }) },
  });
  const answer = await ask(address, { target: '/acct/c/b' });
  assert.equal(answer.headers.get('content-length'), '2000000');
  assert.equal(answer.text, text);
});

test('of many who download, none is served so long that a small request has to wait for all', async (t) => {
  const readers = 200;
  let made = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for (;;) {
      made++;
      yield Buffer.alloc(64 * 1024);
    }
  }
  const { address } = await fakeServer(t, {
    handlers: {
      Get: (call) =>
        call.name === 'small' ? { status: 200, headers: [], body: 'small' } : answerOf(counted(), 2 ** 40),
    },
  });
  const wires = await Promise.all(Array.from({ length: readers }, () => Wire.open(address)));
  for (const wire of wires) wire.drop().request({ target: '/acct/c/large' });
  while (made < 3 * readers) await tick();
  const wire = await Wire.open(address);
  const between: number[] = [];
  for (let count = 0; count < 5; count++) {
    const before = made;
    assert.equal((await wire.request({ target: '/acct/c/small' }).answer()).text, 'small');
    between.push(made - before);
  }
  for (const one of [...wires, wire]) one.close();
  t.diagnostic(`pieces sent meanwhile: ${between}`);
  assert.ok(Math.min(...between) < readers, `${between} pieces were sent meanwhile`);
});
