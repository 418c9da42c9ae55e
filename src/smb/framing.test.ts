import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Frames, framePrefix } from './framing.js';
import { Hangup } from './status.js';

test('messages come out as they went in, however the bytes are cut (seed 11)', () => {
  const messages = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 8 });
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (sent, cuts) => {
      const stream = Buffer.concat(
        sent.flatMap((message) => [framePrefix(message.length), Buffer.from(message)]),
      );
      const frames = new Frames(1000);
      const received: Buffer[] = [];
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const size = cuts[turn % cuts.length] ?? 1;
        received.push(...frames.push(stream.subarray(at, at + size)));
        at += size;
      }
      assert.deepEqual(
        received.map((message) => [...message]),
        sent.map((message) => [...message]),
      );
    }),
    { seed: 11 },
  );
});

test('keep-alives are skipped', () => {
  const frames = new Frames(100);
  const stream = Buffer.concat([
    framePrefix(0),
    Buffer.from([0x85, 0, 0, 0]),
    framePrefix(2),
    Buffer.from('ab'),
  ]);
  assert.deepEqual([...frames.push(stream)].map(String), ['ab']);
});

test('another type or a message that is too long ends the connection', () => {
  assert.throws(() => [...new Frames(100).push(Buffer.from([1, 0, 0, 4]))], Hangup);
  assert.throws(() => [...new Frames(100).push(framePrefix(101))], Hangup);
});
