import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import type { CorsRule } from '../services/common/cors-rules.js';
import { headerIn } from './answer.js';
import { corsHeaders, preflight } from './cors.js';

function rule(origins: string, changes: Partial<CorsRule> = {}): CorsRule {
  return {
    allowedOrigins: origins.split(','),
    allowedMethods: ['GET', 'PUT'],
    allowedHeaders: ['x-ms-meta-a', 'x-ms-blob*'],
    exposedHeaders: ['x-ms-request-id', 'x-ms-meta*'],
    maxAgeSeconds: 200,
    ...changes,
  };
}

// The published table, section 11.3 of the reference.
const actual = `
  origin           rules            vary     allowed          exposed
  -                -                -        -                -
  -                http://a.com     Origin   -                -
  -                *                -        *                yes
  http://a.com     -                -        -                -
  http://a.com     http://a.com     Origin   http://a.com     yes
  http://b.com     http://a.com     Origin   -                -
  http://b.com     *                -        *                yes
`;

for (const row of rows(actual)) {
  test(`origin ${row.origin} with rules ${row.rules}`, () => {
    const rules = row.rules === '-' ? [] : [rule(row.rules ?? '')];
    const origin = row.origin === '-' ? undefined : row.origin;
    const sent = ['x-ms-request-id', '1', 'ETag', 'x', 'x-ms-meta-q', 'z'];
    const headers = corsHeaders(rules, 'GET', origin, sent);
    assert.equal(headerIn(headers, 'Vary') ?? '-', row.vary);
    assert.equal(headerIn(headers, 'Access-Control-Allow-Origin') ?? '-', row.allowed);
    assert.equal(
      headerIn(headers, 'Access-Control-Expose-Headers'),
      row.exposed === 'yes' ? 'x-ms-request-id,x-ms-meta-q' : undefined,
    );
  });
}

test('a method that no rule allows gets no headers, and only reads vary', () => {
  assert.deepEqual(corsHeaders([rule('http://a.com')], 'DELETE', 'http://a.com', []), []);
  assert.equal(headerIn(corsHeaders([rule('http://a.com')], 'PUT', 'http://a.com', []), 'Vary'), undefined);
});

const origins = `
  rule                   origin                     matches
  *                      http://a.com               yes
  http://a.com           http://a.com               yes
  http://a.com           http://A.com               no
  http://a.com           https://a.com              no
  http://a.com           http://a.com:80            no
  http://*.a.com         http://x.a.com             yes
  http://*.a.com         http://x.y.a.com           yes
  http://*.a.com         http://a.com               no
  http://*.a.com         http://evil-a.com          no
  http://*.a.com         https://x.a.com            no
  http://*.a.com         http://x.a.com.evil.com    no
`;

for (const row of rows(origins)) {
  test(`rule ${row.rule} for ${row.origin}: ${row.matches}`, () => {
    const headers = corsHeaders([rule(row.rule ?? '')], 'GET', row.origin, []);
    assert.equal(headerIn(headers, 'Access-Control-Allow-Origin') !== undefined, row.matches === 'yes');
  });
}

const ask = (origin?: string, method?: string, headers?: string) => ({
  headers: {
    ...(origin === undefined ? {} : { origin }),
    ...(method === undefined ? {} : { 'access-control-request-method': method }),
    ...(headers === undefined ? {} : { 'access-control-request-headers': headers }),
  },
});

test('a preflight that a rule allows', () => {
  const answer = preflight([rule('http://a.com')], ask('http://a.com', 'PUT', 'X-MS-Meta-A, x-ms-blob-type'));
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.headers, [
    'Access-Control-Allow-Origin',
    'http://a.com',
    'Access-Control-Allow-Methods',
    'PUT',
    'Access-Control-Allow-Headers',
    'X-MS-Meta-A, x-ms-blob-type',
    'Access-Control-Max-Age',
    '200',
    'Access-Control-Allow-Credentials',
    'true',
    'Vary',
    'Origin',
  ]);
});

test('any origin is told as a star, without credentials', () => {
  const { headers } = preflight([rule('*')], ask('http://a.com', 'GET'));
  assert.equal(headerIn(headers, 'Access-Control-Allow-Origin'), '*');
  assert.equal(headerIn(headers, 'Access-Control-Allow-Headers'), undefined);
  assert.equal(headerIn(headers, 'Access-Control-Allow-Credentials'), undefined);
});

test('the first rule for origin and method decides, a later one is not tried', () => {
  const rules = [rule('http://a.com', { allowedHeaders: [] }), rule('*')];
  assert.throws(() => preflight(rules, ask('http://a.com', 'PUT', 'x-ms-meta-a')), {
    code: 'CorsPreflightFailure',
  });
  preflight(rules, ask('http://b.com', 'PUT', 'x-ms-meta-a'));
});

test('preflights that are refused', () => {
  const rules = [rule('http://a.com')];
  assert.throws(() => preflight([], ask('http://a.com', 'GET')), { code: 'CorsPreflightFailure' });
  assert.throws(() => preflight(rules, ask('http://b.com', 'GET')), { code: 'CorsPreflightFailure' });
  assert.throws(() => preflight(rules, ask('http://a.com', 'DELETE')), { code: 'CorsPreflightFailure' });
  assert.throws(() => preflight(rules, ask('http://a.com', 'GET', 'x-other')), {
    code: 'CorsPreflightFailure',
  });
  assert.throws(() => preflight(rules, ask(undefined, 'GET')), {
    code: 'InvalidHeaderValue',
    details: { HeaderName: 'origin', HeaderValue: '' },
  });
  assert.throws(() => preflight(rules, ask('http://a.com')), {
    code: 'InvalidHeaderValue',
    details: { HeaderName: 'access-control-request-method', HeaderValue: '' },
  });
});
