import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOf } from './auth/calls.suite.js';
import { expectedChecksums, expectedSourceChecksums, verifyBytes } from './checksums.js';

const path = 'PUT /devstoreaccount1/c/b';
const digits = Buffer.from('123456789');
const md5 = 'JfnnlDI7RTiF9RgfG2JNCw==';
const crc64 = 'iJh5CoYUi64=';
const sent = (headers: Record<string, string>) => expectedChecksums(callOf('blob', path, { headers }));

test('bytes that are what was announced', () => {
  verifyBytes(sent({}), digits);
  verifyBytes(sent({ 'Content-MD5': md5 }), digits);
  verifyBytes(sent({ 'x-ms-content-crc64': crc64 }), digits);
});

test('bytes that are not', () => {
  const wrongMd5 = Buffer.alloc(16).toString('base64');
  assert.throws(() => verifyBytes(sent({ 'Content-MD5': wrongMd5 }), digits), {
    code: 'Md5Mismatch',
    details: { UserSpecifiedMd5: wrongMd5, ServerCalculatedMd5: md5 },
  });
  const wrongCrc = Buffer.alloc(8).toString('base64');
  assert.throws(() => verifyBytes(sent({ 'x-ms-content-crc64': wrongCrc }), digits), {
    code: 'Crc64Mismatch',
    details: { UserSpecifiedCrc64: wrongCrc, ServerCalculatedCrc64: crc64 },
  });
});

test('checksums that are none', () => {
  for (const text of ['', 'x', md5.slice(0, -2), `${md5} `, Buffer.alloc(15).toString('base64'), `*${md5}`]) {
    assert.throws(() => sent({ 'Content-MD5': text }), { code: 'InvalidMd5' }, text);
  }
  for (const text of ['', 'x', Buffer.alloc(7).toString('base64')]) {
    assert.throws(() => sent({ 'x-ms-content-crc64': text }), { code: 'InvalidHeaderValue' }, text);
  }
  assert.throws(() => sent({ 'Content-MD5': md5, 'x-ms-content-crc64': crc64 }), {
    code: 'BothCrc64AndMd5HeaderPresent',
  });
});

test('those of a copy source have names of their own', () => {
  const call = callOf('blob', path, { headers: { 'x-ms-source-content-crc64': crc64, 'Content-MD5': md5 } });
  assert.equal(expectedSourceChecksums(call).crc64?.toString('base64'), crc64);
});
