import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CorsRule, checkCors } from './cors-rules.js';

const rule: CorsRule = {
  allowedOrigins: ['http://www.contoso.com'],
  allowedMethods: ['GET', 'PUT'],
  allowedHeaders: ['x-ms-meta-*', 'x-ms-blob-type'],
  exposedHeaders: [],
  maxAgeSeconds: 200,
};

const times = (count: number, text: string) => Array.from({ length: count }, () => text);

/** A rule whose texts have this length together: one digit of age, GET, and origins. */
const bytes = (size: number): CorsRule => ({
  allowedOrigins: [...times(16, 'x'.repeat(125)), 'x'.repeat(size - 16 * 125 - 4)],
  allowedMethods: ['GET'],
  allowedHeaders: [],
  exposedHeaders: [],
  maxAgeSeconds: 0,
});

const allowed: [string, CorsRule[]][] = [
  ['no rule', []],
  ['five rules', [rule, rule, rule, rule, rule]],
  ['every origin', [{ ...rule, allowedOrigins: ['*'] }]],
  ['no headers', [{ ...rule, allowedHeaders: [] }]],
  ['every header', [{ ...rule, allowedHeaders: ['*'] }]],
  ['64 origins', [{ ...rule, allowedOrigins: times(64, 'http://a') }]],
  ['64 headers and two prefixes', [{ ...rule, exposedHeaders: [...times(64, 'h'), 'a*', 'b*'] }]],
  ['an origin of 256 characters', [{ ...rule, allowedOrigins: ['x'.repeat(256)] }]],
  ['no age', [{ ...rule, maxAgeSeconds: 0 }]],
  ['68 years', [{ ...rule, maxAgeSeconds: 2 ** 31 - 1 }]],
  ['2 KiB', [bytes(2048)]],
  [
    'every method',
    [{ ...rule, allowedMethods: ['DELETE', 'GET', 'HEAD', 'MERGE', 'PATCH', 'POST', 'OPTIONS', 'PUT'] }],
  ],
];

for (const [name, rules] of allowed) {
  test(`CORS allows ${name}`, () => checkCors(rules));
}

const refused: [string, string, CorsRule[]][] = [
  ['six rules', 'InvalidXmlDocument', times(6, '').map(() => rule)],
  ['no origin', 'InvalidXmlDocument', [{ ...rule, allowedOrigins: [] }]],
  ['65 origins', 'InvalidXmlDocument', [{ ...rule, allowedOrigins: times(65, 'http://a') }]],
  ['an empty origin', 'InvalidXmlDocument', [{ ...rule, allowedOrigins: [''] }]],
  ['an origin of 257 characters', 'InvalidXmlDocument', [{ ...rule, allowedOrigins: ['x'.repeat(257)] }]],
  ['no method', 'InvalidXmlDocument', [{ ...rule, allowedMethods: [] }]],
  ['an unknown method', 'InvalidXmlNodeValue', [{ ...rule, allowedMethods: ['TRACE'] }]],
  ['a method in lower case', 'InvalidXmlNodeValue', [{ ...rule, allowedMethods: ['get'] }]],
  ['65 headers', 'InvalidXmlDocument', [{ ...rule, allowedHeaders: times(65, 'h') }]],
  ['three prefixes', 'InvalidXmlDocument', [{ ...rule, exposedHeaders: ['a*', 'b*', 'c*'] }]],
  ['a header of 257 characters', 'InvalidXmlDocument', [{ ...rule, allowedHeaders: ['x'.repeat(257)] }]],
  ['a negative age', 'InvalidXmlNodeValue', [{ ...rule, maxAgeSeconds: -1 }]],
  ['half a second', 'InvalidXmlNodeValue', [{ ...rule, maxAgeSeconds: 0.5 }]],
  ['an age that is no number', 'InvalidXmlNodeValue', [{ ...rule, maxAgeSeconds: Number.NaN }]],
  ['more than 68 years', 'InvalidXmlNodeValue', [{ ...rule, maxAgeSeconds: 2 ** 31 }]],
  ['more than 2 KiB', 'InvalidXmlDocument', [bytes(2049)]],
];

for (const [name, code, rules] of refused) {
  test(`CORS refuses ${name}`, () => assert.throws(() => checkCors(rules), { code }));
}
