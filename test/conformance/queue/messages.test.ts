// Messages: put, get, peek, update, delete, clear; receipts, visibility and expiry with a clock that is set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signSas } from '#src/http/auth/sign.js';
import { awaitMessages } from '#src/services/queue/messages.js';
import { setDeadLetter } from '#src/services/queue/queues.js';
import type { QueueService } from '#src/services/queue/service.js';
import {
  givenQueue,
  messageBody,
  messagesIn,
  receipt,
  type ShownMessage,
  TestQueue,
} from '../../support/queues.js';
import { gives, refuses } from '../../support/server.js';
import { Wire } from '../../support/wire.js';

const texts = (messages: readonly ShownMessage[]) => messages.map((message) => message['MessageText']);

test('Put Message tells id, times and receipt, and no text; before 2016-05-31 nothing', async (t) => {
  const { queue } = await givenQueue(t);
  const [message] = messagesIn(await gives(queue.put('hello'), 201));
  assert.deepEqual(Object.keys(message ?? {}), [
    'MessageId',
    'InsertionTime',
    'ExpirationTime',
    'PopReceipt',
    'TimeNextVisible',
  ]);
  const old = await gives(queue.put('hello', '', { 'x-ms-version': '2015-12-11' }), 201);
  assert.equal(old.text, '');
});

test('Get Messages: oldest first, once each, in the documented order of elements', async (t) => {
  const { queue } = await givenQueue(t, ['a', 'b', 'c']);
  const [first, ...others] = await queue.take('numofmessages=2');
  assert.deepEqual(Object.keys(first ?? {}), [
    'MessageId',
    'InsertionTime',
    'ExpirationTime',
    'PopReceipt',
    'TimeNextVisible',
    'DequeueCount',
    'MessageText',
  ]);
  assert.deepEqual(texts([first ?? {}, ...others]), ['a', 'b']);
  assert.deepEqual(texts(await queue.take('numofmessages=32')), ['c']);
  const empty = await gives(queue.get(), 200);
  assert.match(empty.text, /<QueueMessagesList \/>$/);
});

test('a message is hidden for its time-out, comes back, and counts how often it was handed out', async (t) => {
  const { server, queue } = await givenQueue(t, ['a']);
  assert.equal((await queue.take('visibilitytimeout=10'))[0]?.['DequeueCount'], '1');
  server.pass(9);
  assert.deepEqual(await queue.take(), []);
  server.pass(2);
  const [again] = await queue.take('visibilitytimeout=1');
  assert.equal(again?.['DequeueCount'], '2');
  server.pass(2);
  assert.equal((await queue.peek())[0]?.['DequeueCount'], '2');
});

test('Put Message with a visibility time-out is seen when it has passed', async (t) => {
  const { server, queue } = await givenQueue(t);
  await gives(queue.put('later', 'visibilitytimeout=60'), 201);
  await gives(queue.put('now'), 201);
  assert.deepEqual(texts(await queue.take('numofmessages=5&visibilitytimeout=600')), ['now']);
  server.pass(61);
  assert.deepEqual(texts(await queue.take('numofmessages=5')), ['later']);
});

test('an expired message is absent everywhere, whatever its visibility', async (t) => {
  const { server, queue } = await givenQueue(t);
  await gives(queue.put('brief', 'messagettl=10'), 201);
  await gives(queue.put('long'), 201);
  const [brief] = await queue.take('visibilitytimeout=5');
  assert.equal(brief?.['MessageText'], 'brief');
  server.pass(11);
  assert.deepEqual(texts(await queue.peek('numofmessages=32')), ['long']);
  await refuses(queue.delete(brief ?? {}), 404, 'MessageNotFound');
  await refuses(queue.update(brief ?? {}, 'visibilitytimeout=0'), 404, 'MessageNotFound');
  assert.deepEqual(texts(await queue.take('numofmessages=32')), ['long']);
  assert.equal(await queue.count(), 1);
});

test('a message that never expires says so', async (t) => {
  const { server, queue } = await givenQueue(t);
  const [message] = messagesIn(await gives(queue.put('ever', 'messagettl=-1'), 201));
  assert.equal(message?.['ExpirationTime'], 'Fri, 31 Dec 9999 23:59:59 GMT');
  server.pass(400 * 24 * 3600);
  assert.deepEqual(texts(await queue.take()), ['ever']);
});

test('Peek Messages changes nothing and tells no receipt', async (t) => {
  const { queue } = await givenQueue(t, ['a', 'b']);
  const peeked = await queue.peek('numofmessages=32');
  assert.deepEqual(Object.keys(peeked[0] ?? {}), [
    'MessageId',
    'InsertionTime',
    'ExpirationTime',
    'DequeueCount',
    'MessageText',
  ]);
  assert.deepEqual(texts(peeked), ['a', 'b']);
  assert.equal(peeked[0]?.['DequeueCount'], '0');
  assert.deepEqual(texts(await queue.take('numofmessages=32')), ['a', 'b']);
  assert.deepEqual(await queue.peek(), []);
});

test('Update Message: new receipt and visibility; the text is replaced or stays', async (t) => {
  const { server, queue } = await givenQueue(t, ['a']);
  const [message = {}] = await queue.take('visibilitytimeout=30');
  const updated = await gives(queue.update(message, 'visibilitytimeout=100', 'changed'), 204);
  const next = { ...message, PopReceipt: updated.headers.get('x-ms-popreceipt') ?? '' };
  assert.ok(updated.headers.get('x-ms-time-next-visible'));
  server.pass(60);
  assert.deepEqual(await queue.take(), []);
  await gives(queue.update(next, 'visibilitytimeout=0'), 204);
  const [again] = await queue.take();
  assert.equal(again?.['MessageText'], 'changed');
  assert.equal(again?.['DequeueCount'], '2');
  assert.equal(again?.['InsertionTime'], message['InsertionTime']);
});

// Section 7 of the specification: which receipt is good after which event.
for (const [event, first, second] of [
  ['nothing', 204, 0],
  ['get', 404, 204],
  ['update', 404, 204],
  ['peek', 204, 0],
  ['time-out', 204, 0],
  ['time-out, get', 404, 204],
  ['clear', 404, 0],
] as const) {
  test(`the receipt of a put, after ${event}: ${first}; the newer one: ${second || '-'}`, async (t) => {
    const { server, queue } = await givenQueue(t);
    const [put = {}] = messagesIn(await gives(queue.put('a'), 201));
    let newer: ShownMessage | undefined;
    for (const step of event.split(', ')) {
      if (step === 'get') [newer] = await queue.take('visibilitytimeout=5');
      if (step === 'update') {
        const { headers } = await gives(queue.update(put, 'visibilitytimeout=0'), 204);
        newer = { ...put, PopReceipt: headers.get('x-ms-popreceipt') ?? '' };
      }
      if (step === 'peek') await queue.peek();
      if (step === 'time-out') server.pass(100);
      if (step === 'clear') await gives(queue.ask('DELETE', '/messages'), 204);
    }
    if (first === 204) await gives(queue.delete(put), 204);
    else await refuses(queue.delete(put), 404, 'MessageNotFound');
    if (newer !== undefined) await gives(queue.delete(newer), second);
    await refuses(queue.delete(put), 404, 'MessageNotFound');
  });
}

test('a receipt is good only with the id of its own message', async (t) => {
  const { queue } = await givenQueue(t, ['a', 'b']);
  const [a = {}, b = {}] = await queue.take('numofmessages=2');
  await refuses(queue.delete({ ...a, PopReceipt: b['PopReceipt'] ?? '' }), 404, 'MessageNotFound');
  await refuses(queue.delete({ ...a, MessageId: 'nonsense' }), 404, 'MessageNotFound');
  await gives(queue.delete(a), 204);
});

for (const [what, method, path, status, code] of [
  ['no receipt', 'DELETE', '/messages/x', 400, 'MissingRequiredQueryParameter'],
  ['no visibility', 'PUT', '/messages/x?popreceipt=AAAA', 400, 'InvalidQueryParameterValue'],
  ['an impossible receipt', 'DELETE', '/messages/x?popreceipt=nonsense', 400, 'InvalidQueryParameterValue'],
  ['none asked for', 'GET', '/messages?numofmessages=0', 400, 'OutOfRangeQueryParameterValue'],
  ['33 asked for', 'GET', '/messages?numofmessages=33', 400, 'OutOfRangeQueryParameterValue'],
  ['33 to peek', 'GET', '/messages?peekonly=true&numofmessages=33', 400, 'OutOfRangeQueryParameterValue'],
  ['a visibility of 0', 'GET', '/messages?visibilitytimeout=0', 400, 'OutOfRangeQueryParameterValue'],
  [
    'a visibility beyond 7 days',
    'GET',
    '/messages?visibilitytimeout=604801',
    400,
    'OutOfRangeQueryParameterValue',
  ],
  [
    'a visibility that is no number',
    'GET',
    '/messages?visibilitytimeout=x',
    400,
    'InvalidQueryParameterValue',
  ],
] as const) {
  test(`${what}: ${status} ${code}`, async (t) => {
    const { queue } = await givenQueue(t, ['a']);
    await refuses(queue.ask(method, path), status, code);
    assert.deepEqual(texts(await queue.take()), ['a']);
  });
}

for (const [what, query, status, code] of [
  ['a time to live of 0', 'messagettl=0', 400, 'InvalidQueryParameterValue'],
  ['a time to live of -2', 'messagettl=-2', 400, 'OutOfRangeQueryParameterValue'],
  [
    'a visibility as long as the time to live',
    'messagettl=10&visibilitytimeout=10',
    400,
    'InvalidQueryParameterValue',
  ],
  [
    'a visibility beyond 7 days',
    'messagettl=-1&visibilitytimeout=604801',
    400,
    'OutOfRangeQueryParameterValue',
  ],
] as const) {
  test(`Put Message with ${what}: ${status} ${code}`, async (t) => {
    const { queue } = await givenQueue(t);
    await refuses(queue.put('x', query), status, code);
    assert.equal(await queue.count(), 0);
  });
}

for (const [what, body, status, code] of [
  ['no XML', 'hello', 400, 'InvalidXmlDocument'],
  ['another root', '<Message><MessageText>x</MessageText></Message>', 400, 'InvalidXmlDocument'],
  ['no text element', '<QueueMessage></QueueMessage>', 400, 'MissingRequiredXmlNode'],
  ['a control character', messageBody('a\u0001b'), 400, 'InvalidXmlDocument'],
  [
    'an entity of its own',
    '<!DOCTYPE x [<!ENTITY a "b">]><QueueMessage><MessageText>&a;</MessageText></QueueMessage>',
    400,
    'InvalidXmlDocument',
  ],
  ['65,537 bytes', messageBody('x'.repeat(65_537)), 413, 'RequestBodyTooLarge'],
  ['too many bytes in UTF-8', messageBody('é'.repeat(32_769)), 413, 'RequestBodyTooLarge'],
] as const) {
  test(`a body with ${what}: ${status} ${code}`, async (t) => {
    const { queue } = await givenQueue(t);
    await refuses(queue.ask('POST', '/messages', {}, body), status, code);
    assert.equal(await queue.count(), 0);
  });
}

test('65,536 bytes, markup, white space and an empty text come back as they were', async (t) => {
  const sent = ['x'.repeat(65_536), '&lt;b&gt; &amp; &#10; &quot;', '  a\n b ', '', 'zażółć 🙂'];
  const { queue } = await givenQueue(t, sent);
  assert.deepEqual(texts(await queue.take('numofmessages=32')), [
    'x'.repeat(65_536),
    '&lt;b&gt; &amp; \n "',
    '  a\n b ',
    '',
    'zażółć 🙂',
  ]);
});

test('an update that reaches beyond the expiry is refused, and the message stays as it was', async (t) => {
  const { queue } = await givenQueue(t);
  await gives(queue.put('brief', 'messagettl=10'), 201);
  const [message = {}] = await queue.take('visibilitytimeout=5');
  await refuses(queue.update(message, 'visibilitytimeout=100'), 400, 'InvalidQueryParameterValue');
  await gives(queue.delete(message), 204);
});

test('Clear Messages: all are gone, visible or not, and their receipts with them', async (t) => {
  const { queue } = await givenQueue(t, ['a', 'b', 'c']);
  const [message = {}] = await queue.take();
  await gives(queue.ask('DELETE', '/messages'), 204);
  assert.equal(await queue.count(), 0);
  assert.deepEqual(await queue.take(), []);
  await refuses(queue.delete(message), 404, 'MessageNotFound');
  await gives(queue.put('d'), 201);
  assert.deepEqual(texts(await queue.take()), ['d']);
});

test('two updates, or an update and a delete, with one receipt: exactly one succeeds', async (t) => {
  const { queue } = await givenQueue(
    t,
    Array.from({ length: 20 }, (_, n) => `m${n}`),
  );
  for (const message of await queue.take('numofmessages=20')) {
    const answers = await Promise.all([
      queue.update(message, 'visibilitytimeout=50'),
      queue.delete(message),
      queue.update(message, 'visibilitytimeout=60'),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 404, 404]);
  }
});

test('64 consumers over 2,000 messages: none is handed out twice within its time', async (t) => {
  const { queue } = await givenQueue(t);
  const total = 2_000;
  await Promise.all(
    Array.from({ length: 16 }, async (_, who) => {
      for (let n = 0; n < total / 16; n++) await gives(queue.put(`${who}-${n}`), 201);
    }),
  );
  assert.equal(await queue.count(), total);
  const taken: string[] = [];
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      for (;;) {
        const messages = await queue.take('numofmessages=7&visibilitytimeout=600');
        if (messages.length === 0) return;
        taken.push(...messages.map((message) => message['MessageText'] ?? ''));
      }
    }),
  );
  assert.equal(taken.length, total);
  assert.equal(new Set(taken).size, total);
});

test('a put against the deletion of its queue: it happened before, or is told 404', async (t) => {
  const { server } = await givenQueue(t);
  for (let round = 0; round < 20; round++) {
    const queue = new TestQueue(server, `race-${round}`);
    await gives(queue.create(), 201);
    const [deleted, ...puts] = await Promise.all([
      queue.ask('DELETE'),
      ...Array.from({ length: 5 }, () => queue.put('x')),
    ]);
    assert.equal(deleted?.status, 204);
    for (const put of puts) assert.ok(put.status === 201 || put.status === 404, String(put.status));
    await gives(queue.create(), 201);
    assert.deepEqual(await queue.take(), []);
  }
});

test('x-lazuli-wait: a get waits for a message that comes, and returns without one when its time is over', async (t) => {
  const { queue } = await givenQueue(t);
  const waiting = queue.get('', { 'x-lazuli-wait': '20' });
  setTimeout(() => void queue.put('at last'), 50);
  assert.deepEqual(texts(messagesIn(await gives(waiting, 200))), ['at last']);
  const none = await gives(queue.get('', { 'x-lazuli-wait': '1' }), 200);
  assert.deepEqual(messagesIn(none), []);
  await refuses(queue.get('', { 'x-lazuli-wait': '21' }), 400, 'InvalidHeaderValue');
});

test('a message that was handed out too often goes to the dead-letter queue, if one is set', async (t) => {
  const { server, queue } = await givenQueue(t, ['poison']);
  const dead = new TestQueue(server, 'dead');
  await gives(dead.create(), 201);
  const { store } = server.running.services.get('queue') as QueueService;
  await setDeadLetter(store, [server.account.name, 'work'], { afterDequeues: 2, target: 'dead' });
  for (let n = 0; n < 2; n++) {
    assert.equal((await queue.take('visibilitytimeout=1')).length, 1);
    server.pass(2);
  }
  assert.deepEqual(await queue.take(), []);
  assert.equal(await queue.count(), 0);
  assert.deepEqual(texts(await dead.take()), ['poison']);
});

test('an update whose body comes in chunks is refused: its text is not taken for none', async (t) => {
  const { queue, server } = await givenQueue(t, ['first']);
  const [message] = await queue.take();
  assert.ok(message);
  const sas = signSas(
    { service: 'queue', account: server.account.name },
    { sv: '2021-12-02', ss: 'q', srt: 'o', sp: 'u', se: '2099-01-01T00:00:00Z' },
    Buffer.from(server.account.keys[0], 'base64'),
  );
  const path = `/${server.account.name}/work/messages/${message['MessageId']}`;
  const wire = await Wire.open(server.address);
  wire.send(
    `PUT ${path}?${receipt(message)}&visibilitytimeout=0&${sas} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
      'x-ms-version: 2021-12-02\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  );
  assert.equal((await wire.answer('PUT')).headers.get('x-ms-error-code'), 'MissingContentLengthHeader');
  wire.close();
  await gives(queue.delete(message), 204); // its receipt is as good as before
});

test('who went away while it waited for a message gets none', async (t) => {
  const { queue, server } = await givenQueue(t);
  const { store } = server.running.services.get('queue') as QueueService;
  let isGone = false;
  const wait = { most: 1, visibilityMs: 60_000, nonce: () => 1, waitMs: 20_000, isGone: () => isGone };
  const waiting = awaitMessages(store, [server.account.name, 'work'], wait);
  await gives(queue.get(), 200); // the one that waits has looked by now
  isGone = true;
  await gives(queue.put('m'), 201);
  assert.deepEqual(await waiting, []);
  assert.deepEqual(texts(await queue.take()), ['m']);
});

test('what has expired gives its space back, although nobody asks for it', async (t) => {
  const { queue, server } = await givenQueue(t);
  for (let n = 0; n < 20; n++) await gives(queue.put(`${n}`, `messagettl=${n < 15 ? 10 : 1000}`), 201);
  await gives(queue.put('hidden', 'messagettl=20&visibilitytimeout=15'), 201);
  server.pass(30);
  await server.running.sweep();
  assert.equal(await queue.count(), 5);
  assert.equal((await queue.take('numofmessages=32')).length, 5);
});
