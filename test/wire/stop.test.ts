// A server that stops: what it took is finished, what it did not take is not begun.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { described, fakeServer } from '../support/fake-service.js';
import { ask, Wire } from '../support/wire.js';

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

test('an answer under way is finished and says that the connection ends', async (t) => {
  let release: () => void = () => {};
  const { address, listener } = await fakeServer(t, {
    handlers: {
      Get: async (call) => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return described(call);
      },
    },
  });
  const busy = await Wire.open(address);
  const idle = await Wire.open(address);
  idle.request({ target: '/acct?comp=list' });
  await idle.answer();
  const fresh = await Wire.open(address);
  busy.request({ target: '/acct/c/b' });
  const released = release;
  while (release === released) await tick();
  const stopped = listener.stop(10_000);
  assert.equal(await idle.closed(), '');
  await assert.rejects(Wire.open(address));
  release();
  const answer = await busy.answer();
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('connection'), 'close');
  await stopped;
  assert.equal(await busy.closed(), '');
  assert.equal(await fresh.closed(), '');
});

test('what is not done in time is cut off', async (t) => {
  const { address, listener } = await fakeServer(t, { handlers: { Get: () => new Promise(() => {}) } });
  const wire = await Wire.open(address);
  wire.request({ target: '/acct/c/b' });
  await tick();
  await listener.stop(20);
  assert.equal(await wire.closed(), '');
});

test('stopping twice is stopping once', async (t) => {
  const { listener } = await fakeServer(t);
  await Promise.all([listener.stop(), listener.stop()]);
});

test('an address that is taken is told', async (t) => {
  const { address } = await fakeServer(t);
  await assert.rejects(fakeServer(t, { listen: { port: address.port } }), { code: 'EADDRINUSE' });
});

test('an idle connection is kept for a while and then closed', async (t) => {
  const { address } = await fakeServer(t, { listen: { keepAliveMs: 50 } });
  const wire = await Wire.open(address);
  const answer = await wire.request({ target: '/acct/c/b' }).answer();
  assert.equal(answer.headers.get('connection'), 'keep-alive');
  assert.equal(await wire.closed(), '');
});

const file = (name: string) => readFileSync(join(import.meta.dirname, '../../../test/fixtures/tls', name));

for (const [name, tls] of [
  ['a certificate and its key', { cert: file('cert.pem'), key: file('key.pem') }],
  ['a .pfx with a password', { pfx: file('both.pfx'), passphrase: 'secret' }],
] as const) {
  test(`HTTPS with ${name}`, async (t) => {
    const { address } = await fakeServer(t, { listen: { tls } });
    const answer = await ask({ ...address, tls: true }, { target: '/acct/c/b' });
    assert.match(JSON.parse(answer.text).endpoint, /^https:\/\//);
  });
}

test('a wrong password is told when the server starts, not when a client comes', async (t) => {
  const tls = { pfx: file('both.pfx'), passphrase: 'wrong' };
  await assert.rejects(fakeServer(t, { listen: { tls } }), /mac verify failure/);
});

test('any host of this machine will do', async (t) => {
  const { address } = await fakeServer(t, { listen: { host: '::1' } });
  const answer = await ask({ ...address, host: '::1' }, { target: '/acct/c/b', headers: { Host: '[::1]' } });
  assert.equal(answer.status, 200);
});
