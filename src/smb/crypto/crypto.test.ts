import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cmac, cmacKey } from './cmac.js';
import { emptyHash, sessionKeys } from './keys.js';
import { md4 } from './md4.js';
import { rc4 } from './rc4.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

// RFC 1320, appendix A.5.
const md4Vectors = [
  ['', '31d6cfe0d16ae931b73c59d7e0c089c0'],
  ['a', 'bde52cb31de33e46245e05fbdbd6fb24'],
  ['abc', 'a448017aaf21d8525fc10ae87aa6729d'],
  ['message digest', 'd9130a8164549fe818874806e1c7014b'],
  ['abcdefghijklmnopqrstuvwxyz', 'd79e1c308aa5bbcdeea8ed63df412da9'],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', '043f8582f241db351ce627e153e7f0e4'],
  [
    '12345678901234567890123456789012345678901234567890123456789012345678901234567890',
    'e33b4ddc9c38f2199c3e7b164fcc0536',
  ],
] as const;

for (const [text, digest] of md4Vectors) {
  test(`MD4 of ${JSON.stringify(text)}`, () => assert.equal(md4(Buffer.from(text)).toString('hex'), digest));
}

test('RC4 of "Plaintext" with "Key"', () => {
  assert.equal(rc4(Buffer.from('Key'), Buffer.from('Plaintext')).toString('hex'), 'bbf316e8d940af0ad3');
});

// RFC 4493, section 4.
const key = cmacKey(hex('2b7e1516 28aed2a6 abf71588 09cf4f3c'));
const text = hex(
  '6bc1bee2 2e409f96 e93d7e11 7393172a ae2d8a57 1e03ac9c 9eb76fac 45af8e51' +
    '30c81c46 a35ce411 e5fbc119 1a0a52ef f69f2445 df4f9b17 ad2b417b e66c3710',
);
const cmacVectors = [
  [0, 'bb1d6929e95937287fa37d129b756746'],
  [16, '070a16b46b4d4144f79bdd9dd04a287c'],
  [40, 'dfa66747de9ae63030ca32611497c827'],
  [64, '51f0bebf7e3b9d92fc49741779363cfe'],
] as const;

for (const [length, mac] of cmacVectors) {
  test(`AES-CMAC of ${length} bytes, whole and cut anywhere`, () => {
    assert.equal(cmac(key, [text.subarray(0, length)]).toString('hex'), mac);
    for (let cut = 0; cut <= length; cut++) {
      const pieces = [text.subarray(0, cut), text.subarray(cut, length)];
      assert.equal(cmac(key, pieces).toString('hex'), mac, `cut at ${cut}`);
    }
  });
}

test('keys of 3.0 from a published session key', () => {
  const keys = sessionKeys(0x0300, hex('7CD451825D0450D235424E44BA6E78CC'), emptyHash, 'AES-128-CCM');
  assert.equal(keys.signing.toString('hex'), '0b7e9c5cac36c0f6ea9ab275298cedce');
  assert.equal(keys.decryption?.toString('hex'), 'fad27796665b313ebb578f388632b4f7');
  assert.equal(keys.encryption?.toString('hex'), 'b0f0427f7ceb416d1d9dcc0cd4f99447');
  assert.equal(keys.application.toString('hex'), 'bb23a4575aa26c721af525af15a87b4f');
});
