import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHttpDate } from '../../base/times.js';
import { StorageError } from '../../services/common/errors.js';
import type { ServiceName } from '../call.js';
import { account, callOf, type Extra, key, now, otherKey } from './calls.suite.js';
import { sign } from './hmac.js';
import { checkSharedKey, type Scheme, stringToSign } from './shared-key.js';
import { signRequest } from './sign.js';

const date = formatHttpDate(now);
const dated = { 'x-ms-date': date, 'x-ms-version': '2025-11-05' };

function refusedWith(code: string, detail?: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof StorageError);
    assert.equal(error.code, code);
    if (detail !== undefined) assert.match(Object.values(error.details).join('\n'), detail);
    return true;
  };
}

/** The text of a request, after the lines that are always there. */
function textOf(service: ServiceName, scheme: Scheme, request: string, extra: Extra): string[] {
  return stringToSign(scheme, callOf(service, request, extra)).split('\n');
}

const versions = [
  ['2014-02-14', '0', '0'],
  ['2015-02-21', '0', ''],
  ['2025-11-05', '0', ''],
  ['2014-02-14', '7', '7'],
  ['2025-11-05', '7', '7'],
] as const;

for (const [version, sent, signed] of versions) {
  test(`Content-Length ${sent} is signed as '${signed}' in version ${version}`, () => {
    const headers = { 'Content-Length': sent, 'x-ms-date': date, 'x-ms-version': version };
    assert.equal(textOf('blob', 'SharedKey', `PUT /${account}/c/b`, { headers })[3], signed);
  });
}

test('an empty x-ms- header is signed from version 2016-05-31 on', () => {
  const empty = { 'x-ms-meta-a': '', 'x-ms-date': date };
  const request = `PUT /${account}/c/b`;
  const text = (version: string) =>
    textOf('blob', 'SharedKey', request, { headers: { ...empty, 'x-ms-version': version } }).join('\n');
  assert.match(text('2016-05-31'), /\nx-ms-meta-a:\n/);
  assert.doesNotMatch(text('2015-12-11'), /x-ms-meta-a/);
});

test('before 2009-09-19 the text of SharedKey is the one of SharedKeyLite', () => {
  const call = callOf('blob', `GET /${account}/c?restype=container&comp=list`, {
    headers: { 'x-ms-date': date, 'x-ms-version': '2009-07-17' },
  });
  assert.equal(stringToSign('SharedKey', call), stringToSign('SharedKeyLite', call));
});

test('Date is signed only where there is no x-ms-date, a table signs either', () => {
  const both = { Date: 'Mon, 01 Jan 2024 00:00:00 GMT', ...dated };
  assert.equal(textOf('blob', 'SharedKey', `GET /${account}/c/b`, { headers: both })[6], '');
  assert.equal(textOf('blob', 'SharedKeyLite', `GET /${account}/c/b`, { headers: both })[3], '');
  assert.equal(textOf('blob', 'SharedKey', `GET /${account}/c/b`, { headers: { Date: date } })[6], date);
  assert.equal(textOf('table', 'SharedKey', `GET /${account}/t`, { headers: both })[3], date);
  assert.equal(textOf('table', 'SharedKeyLite', `GET /${account}/t`, { headers: { Date: date } })[0], date);
});

const resources: [what: string, service: ServiceName, scheme: Scheme, request: string, resource: string][] = [
  [
    'the root of a service',
    'blob',
    'SharedKey',
    `GET /${account}/?comp=list`,
    `/${account}/${account}/\ncomp:list`,
  ],
  [
    'the root without a slash',
    'blob',
    'SharedKey',
    `GET /${account}?comp=list`,
    `/${account}/${account}\ncomp:list`,
  ],
  [
    'percent-encoding stays',
    'blob',
    'SharedKey',
    `GET /${account}/c/a%20%2B%2fb`,
    `/${account}/${account}/c/a%20%2B%2fb`,
  ],
  [
    'parameters by name, decoded',
    'blob',
    'SharedKey',
    `GET /${account}/c/b?Timeout=20&comp=a%2Bb+c&Blockid=%3D`,
    `/${account}/${account}/c/b\nblockid:=\ncomp:a+b+c\ntimeout:20`,
  ],
  [
    'a repeated parameter',
    'blob',
    'SharedKey',
    `GET /${account}/c/b?include=snapshots&INCLUDE=metadata&x`,
    `/${account}/${account}/c/b\ninclude:metadata,snapshots\nx:`,
  ],
  [
    'host-style',
    'queue',
    'SharedKey',
    `GET http://${account}.queue.localhost/q/messages?numofmessages=3`,
    `/${account}/q/messages\nnumofmessages:3`,
  ],
  [
    'the secondary by its host',
    'blob',
    'SharedKey',
    `GET http://${account}-secondary.blob.localhost/c/b`,
    `/${account}/c/b`,
  ],
  [
    'lite has comp alone',
    'file',
    'SharedKeyLite',
    `GET /${account}/s?restype=share&comp=stats`,
    `/${account}/${account}/s?comp=stats`,
  ],
  [
    'a table has comp alone',
    'table',
    'SharedKey',
    `GET /${account}/t(PartitionKey='a',RowKey='b')?$select=x&comp=acl`,
    `/${account}/${account}/t(PartitionKey='a',RowKey='b')?comp=acl`,
  ],
];

for (const [what, service, scheme, request, resource] of resources) {
  test(`the resource that is signed: ${what}`, () => {
    const text = stringToSign(scheme, callOf(service, request, { headers: dated }));
    assert.ok(text.endsWith(`\n${resource}`), text);
  });
}

for (const service of ['blob', 'queue', 'table', 'file'] as const) {
  for (const scheme of ['SharedKey', 'SharedKeyLite'] as const) {
    for (const [which, by] of [
      ['first', key],
      ['second', otherKey],
    ] as const) {
      test(`${service}: ${scheme} by the ${which} key is accepted, altered it is not`, () => {
        const request = `PUT /${account}/name?comp=acl`;
        const call = callOf(service, request, { headers: dated });
        const authorization = signRequest(scheme, call, by);
        checkSharedKey(call, authorization, [key, otherKey], now);
        const other = callOf(service, `PUT /${account}/nome?comp=acl`, { headers: dated });
        assert.throws(
          () => checkSharedKey(other, authorization, [key, otherKey], now),
          refusedWith('AuthenticationFailed', /Server used following string to sign: '.*nome/s),
        );
      });
    }
  }
}

test('what was signed counts, not what X-HTTP-Method makes of it', () => {
  const headers = { ...dated, 'X-HTTP-Method': 'MERGE' };
  const call = callOf('table', `POST /${account}/t(PartitionKey='a',RowKey='b')`, { headers });
  assert.equal(call.method, 'MERGE');
  assert.match(stringToSign('SharedKey', call), /^POST\n/);
});

// Dates

const minute = 60_000;
for (const [offset, accepted] of [
  [0, true],
  [-15 * minute, true],
  [15 * minute, true],
  [-15 * minute - 1000, false],
  [15 * minute + 1000, false],
] as const) {
  for (const name of ['x-ms-date', 'Date']) {
    test(`a ${name} ${offset / 1000} seconds from now is ${accepted ? 'accepted' : 'refused'}`, () => {
      const headers = { [name]: formatHttpDate(now + offset), 'x-ms-version': '2025-11-05' };
      const call = callOf('blob', `GET /${account}/c/b`, { headers });
      const check = () => checkSharedKey(call, signRequest('SharedKey', call, key), [key], now);
      if (accepted) check();
      else assert.throws(check, refusedWith('AuthenticationFailed', /15 minutes/));
    });
  }
}

for (const bad of [undefined, '', 'yesterday', 'Fri, 1 May 2026 12:00:00 GMT', '2026-05-01T12:00:00Z']) {
  test(`the date ${bad} is refused`, () => {
    const call = callOf('blob', `GET /${account}/c/b`, {
      headers: bad === undefined ? {} : { 'x-ms-date': bad },
    });
    assert.throws(
      () => checkSharedKey(call, signRequest('SharedKey', call, key), [key], now),
      refusedWith('AuthenticationFailed', /Date header in the request is incorrect/),
    );
  });
}

// The Authorization header

const malformed = [
  'SharedKey',
  'SharedKey ',
  'SharedKey devstoreaccount1',
  'SharedKey devstoreaccount1:',
  'SharedKeyX a:b',
  'sharedkey devstoreaccount1:AAAA',
  'SharedKey a b:c',
];
for (const authorization of malformed) {
  test(`Authorization '${authorization}' is no such header`, () => {
    const call = callOf('blob', `GET /${account}/c/b`, { headers: dated });
    assert.throws(
      () => checkSharedKey(call, authorization, [key], now),
      refusedWith('InvalidAuthenticationInfo'),
    );
  });
}

test('another account in the header than in the address is refused', () => {
  const call = callOf('blob', `GET /${account}/c/b`, { headers: dated });
  const signature = sign(key, stringToSign('SharedKey', call));
  for (const other of ['someoneelse', `${account}-secondary`]) {
    assert.throws(
      () => checkSharedKey(call, `SharedKey ${other}:${signature}`, [key], now),
      refusedWith('AuthenticationFailed'),
    );
  }
  assert.throws(
    () => checkSharedKey(call, `SharedKey ${account}:${signature}`, undefined, now),
    refusedWith('AuthenticationFailed'),
  );
});

test('a signature that is no signature is refused without comparing', () => {
  const call = callOf('blob', `GET /${account}/c/b`, { headers: dated });
  for (const signature of ['AAAA', '****', `${'A'.repeat(43)}=A`.repeat(9)]) {
    assert.throws(
      () => checkSharedKey(call, `SharedKey ${account}:${signature}`, [key], now),
      refusedWith('AuthenticationFailed'),
    );
  }
});

// Headers given twice

for (const name of ['x-ms-meta-a', 'X-Ms-Date', 'Content-MD5', 'Range', 'If-Match']) {
  test(`${name} given twice is refused with 400`, () => {
    const rawHeaders = [...Object.entries(dated).flat(), name, '1', name.toLowerCase(), '2'];
    const call = callOf('blob', `GET /${account}/c/b`, { rawHeaders });
    assert.throws(
      () => checkSharedKey(call, `SharedKey ${account}:${'A'.repeat(43)}=`, [key], now),
      refusedWith('InvalidHeaderValue', new RegExp(name, 'i')),
    );
  });
}

// Clients that write the text otherwise

/** A request with these headers, signed over the plain text with `change` made to it. */
function acceptedAs(
  headers: Record<string, string>,
  change: (plain: string) => string,
  path = `/${account}/c/b`,
) {
  const call = callOf('blob', `PUT ${path}`, { headers: { ...dated, ...headers } });
  const plain = stringToSign('SharedKey', call);
  const text = change(plain);
  assert.notEqual(text, plain);
  checkSharedKey(call, `SharedKey ${account}:${sign(key, text)}`, [key], now);
}

test('headers sorted by the culture of the service: hyphens count last', () => {
  acceptedAs({ 'x-ms-meta-a-c': '1', 'x-ms-meta-ab': '2' }, (text) =>
    text.replace('x-ms-meta-a-c:1\nx-ms-meta-ab:2\n', 'x-ms-meta-ab:2\nx-ms-meta-a-c:1\n'),
  );
});

test('headers sorted with the underscore before digits', () => {
  acceptedAs({ 'x-ms-meta-a_b': '1', 'x-ms-meta-a1': '2' }, (text) =>
    text.replace('x-ms-meta-a1:2\nx-ms-meta-a_b:1\n', 'x-ms-meta-a_b:1\nx-ms-meta-a1:2\n'),
  );
});

test('white space folded, but not between quotes', () => {
  acceptedAs({ 'x-ms-meta-a': 'one \t two "three   four"' }, (text) =>
    text.replace('one \t two "three   four"', 'one two "three   four"'),
  );
});

test('header bytes meant as UTF-8, which node reads as Latin-1', () => {
  const sent = Buffer.from('größe', 'utf8').toString('latin1');
  acceptedAs({ 'x-ms-blob-content-disposition': sent }, (text) => text.replace(sent, 'größe'));
});

test('the secondary named in the path, signed as if it were the primary', () => {
  acceptedAs({}, (text) => text.replace('-secondary', ''), `/${account}-secondary/c/b`);
});

test('the secondary named in the path, signed as it is', () => {
  const call = callOf('blob', `GET /${account}-secondary/c/b`, { headers: dated });
  assert.match(stringToSign('SharedKey', call), new RegExp(`/${account}/${account}-secondary/c/b$`));
  checkSharedKey(call, signRequest('SharedKey', call, key), [key], now);
});

test('thousands of headers with a wrong signature are refused in a moment', () => {
  const headers: Record<string, string> = { ...dated };
  for (let i = 0; i < 6000; i++) headers[`x-ms-${i}-_`] = '  ';
  const call = callOf('blob', `GET /${account}/c/b`, { headers });
  const before = performance.now();
  assert.throws(
    () => checkSharedKey(call, `SharedKey ${account}:${'A'.repeat(43)}=`, [key], now),
    refusedWith('AuthenticationFailed'),
  );
  assert.ok(performance.now() - before < 500);
});
