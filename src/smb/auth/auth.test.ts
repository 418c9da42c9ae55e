import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { element, readElement, readElements } from '../../base/der.js';
import { FailedLogons, logonDelayMs } from './failed-logons.js';
import { readAuthenticate, readNegotiate } from './ntlm.js';
import { offerToken, readToken, responseToken } from './spnego.js';

test('an element is read as it was written, short and long', () => {
  for (const size of [0, 1, 127, 128, 255, 256, 5000]) {
    const content = Buffer.alloc(size, 7);
    const made = element(0x04, content);
    assert.deepEqual(readElement(made), { tag: 0x04, content, whole: made });
    assert.equal(readElement(made.subarray(0, -1)), undefined);
  }
});

test('lengths that are endless or leave the buffer are no elements', () => {
  for (const hex of ['30', '3080', '30850000000001', '3084ffffffff', '1f0100', '308200']) {
    assert.equal(readElement(Buffer.from(hex, 'hex')), undefined, hex);
  }
  assert.equal(readElements(Buffer.from('0500', 'hex').subarray(0, 1)), undefined);
});

test('tokens of any bytes are refused or read, never thrown at (seed 9)', () => {
  const lead = fc.constantFrom('60', 'a1', '4e544c4d53535000', '4e544c4d5353500003000000', '');
  fc.assert(
    fc.property(lead, fc.uint8Array({ maxLength: 200 }), (start, rest) => {
      const token = Buffer.concat([Buffer.from(start, 'hex'), rest]);
      readToken(token);
      readNegotiate(token);
      readAuthenticate(token);
    }),
    { seed: 9, numRuns: 2000 },
  );
});

test('our own tokens can be read', () => {
  const offer = readToken(offerToken());
  assert(offer?.form === 'init' && offer.offersNtlm && offer.prefersNtlm && offer.token === undefined);
  const [token, mechListMic] = [Buffer.from('token'), Buffer.from('mic')];
  const answer = readToken(responseToken({ state: 'incomplete', nameMechanism: true, token, mechListMic }));
  assert.deepEqual(answer, { form: 'response', token, mechListMic });
});

test('the tenth failure within a minute delays, an older one is forgotten, another address is free', () => {
  const logons = new FailedLogons();
  for (let count = 0; count < 9; count++) logons.fail('a', count * 1000);
  assert.equal(logons.delayMs('a', 9000), 0);
  logons.fail('a', 9000);
  assert.equal(logons.delayMs('a', 9000), logonDelayMs);
  assert.equal(logons.delayMs('b', 9000), 0);
  assert.equal(logons.delayMs('a', 60_001), 0);
});
