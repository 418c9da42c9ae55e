import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from './redact.js';

const cases: [what: string, text: string, shown: string][] = [
  ['an address', '/c/b?sv=2020&sig=a%2Bb%3D&se=1', '/c/b?sv=2020&sig=REDACTED&se=1'],
  ['with its letters encoded', '/c/b?s%69g=abc&x=%53ig%3Dabc', '/c/b?s%69g=REDACTED&x=%53ig%3DREDACTED'],
  ['in capitals', '/c/b?SIG=abc', '/c/b?SIG=REDACTED'],
  [
    'a copy source inside a parameter',
    'x=https%3A%2F%2Fa%3Fsig%3Dabc%26b',
    'x=https%3A%2F%2Fa%3Fsig%3DREDACTED',
  ],
  [
    'a string to sign',
    'x-ms-copy-source:https://a?sig=abc&b=c\n/a/b\nse:1\nsig:a+b/c=\nsp:r',
    'x-ms-copy-source:https://a?sig=REDACTED&b=c\n/a/b\nse:1\nsig:REDACTED\nsp:r',
  ],
  [
    'a token',
    'x-ms-copy-source-authorization:Bearer ey.J0-_.x\nnext',
    'x-ms-copy-source-authorization:Bearer REDACTED\nnext',
  ],
  ['a shared key header', 'Authorization: SharedKey acct:abc+/=', 'Authorization: SharedKey acct:REDACTED'],
  ['a lite header', 'SharedKeyLite acct:abc', 'SharedKeyLite acct:REDACTED'],
  [
    'what a 403 tells',
    "The MAC signature found in the HTTP request 'abc=' is not",
    "The MAC signature found in the HTTP request 'REDACTED' is not",
  ],
  [
    'a connection string',
    'AccountName=a;AccountKey=abc==;BlobEndpoint=x',
    'AccountName=a;AccountKey=REDACTED;BlobEndpoint=x',
  ],
  [
    'a customer key',
    'x-ms-encryption-key:abc=\nx-ms-version:1',
    'x-ms-encryption-key:REDACTED\nx-ms-version:1',
  ],
  ['words that only look like it', '/signature/design?signal=1&presig', '/signature/design?signal=1&presig'],
];

for (const [what, text, shown] of cases) {
  test(`${what} is shown without its secret`, () => assert.equal(redact(text), shown));
}
