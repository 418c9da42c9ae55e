import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../services/common/errors.js';
import { headerIn } from './answer.js';
import type { Call, ServiceName } from './call.js';
import { errorAnswer, HeaderedError, refusalOf, serverBusy } from './errors.js';

const now = Date.UTC(2019, 4, 9, 0, 41, 15, 300) + 0.8164;
const id = '5a423681-f01e-005d-20ff-053f2f000000';
const tail = `\nRequestId:${id}\nTime:2019-05-09T00:41:15.3008164Z`;

type About = { query?: Record<string, string>; accept?: string; version?: string };

function answerTo(error: StorageError, service: ServiceName = 'blob', about?: About) {
  const call: Pick<Call, 'query' | 'headers' | 'version'> | undefined = about && {
    query: new Map(Object.entries(about.query ?? {})),
    headers: about.accept === undefined ? {} : { accept: about.accept },
    version: about.version ?? '2021-12-02',
  };
  return errorAnswer(error, { service, id, now, call });
}

test('XML, with the message in the status line', () => {
  const message = 'The condition specified using HTTP conditional header(s) is not met.';
  assert.deepEqual(answerTo(new StorageError('ConditionNotMet')), {
    status: 412,
    reason: message,
    headers: ['x-ms-error-code', 'ConditionNotMet', 'Content-Type', 'application/xml'],
    body: `\ufeff<?xml version="1.0" encoding="utf-8"?><Error><Code>ConditionNotMet</Code><Message>${message}${tail}</Message></Error>`,
  });
});

test('details are elements behind the message, and cannot break out of it', () => {
  const { body } = answerTo(
    new StorageError('InvalidHeaderValue', {
      details: { HeaderName: 'x', HeaderValue: '<a>&\u0001', Reason: '' },
    }),
  );
  assert.ok(
    `${body}`.endsWith(
      '</Message><HeaderName>x</HeaderName><HeaderValue>&lt;a&gt;&amp;\ufffd</HeaderValue><Reason /></Error>',
    ),
  );
});

test('304 has a code and no body', () => {
  assert.deepEqual(answerTo(new StorageError('ConditionNotMet', { status: 304 })), {
    status: 304,
    headers: ['x-ms-error-code', 'ConditionNotMet'],
  });
});

test('a refusal brings its own headers', () => {
  const error = new HeaderedError('InvalidRange', ['Content-Range', 'bytes */5']);
  assert.deepEqual(answerTo(error).headers.slice(0, 4), [
    'x-ms-error-code',
    'InvalidRange',
    'Content-Range',
    'bytes */5',
  ]);
});

test('a table answers in JSON of the level that was asked for', () => {
  const error = new StorageError('ResourceNotFound');
  for (const [about, level] of [
    [undefined, 'minimalmetadata'],
    [{}, 'minimalmetadata'],
    [{ accept: 'application/json;odata=nometadata' }, 'nometadata'],
    [{ accept: 'application/json; odata = FullMetadata' }, 'fullmetadata'],
    [
      {
        accept: 'application/json;odata=nometadata',
        query: { $format: 'application/json;odata=fullmetadata' },
      },
      'fullmetadata',
    ],
    [{ accept: 'application/json;odata=nonsense' }, 'minimalmetadata'],
  ] as const) {
    const answer = answerTo(error, 'table', about);
    assert.equal(answer.status, 404);
    assert.equal(answer.reason, undefined);
    assert.equal(
      headerIn(answer.headers, 'Content-Type'),
      `application/json;odata=${level};streaming=true;charset=utf-8`,
    );
    assert.equal(headerIn(answer.headers, 'Cache-Control'), 'no-cache');
    assert.equal(headerIn(answer.headers, 'X-Content-Type-Options'), 'nosniff');
    assert.deepEqual(JSON.parse(`${answer.body}`), {
      'odata.error': {
        code: 'ResourceNotFound',
        message: { lang: 'en-US', value: `The specified resource does not exist.${tail}` },
      },
    });
  }
});

test('a transaction tells which of its operations failed', () => {
  const error = new StorageError('EntityAlreadyExists', { index: 3 });
  const { body } = answerTo(error, 'table', {});
  assert.match(
    JSON.parse(`${body}`)['odata.error'].message.value,
    /^3:The specified entity already exists\./,
  );
});

test('a table answers in XML where the operation speaks XML', () => {
  for (const comp of ['acl', 'properties', 'stats']) {
    const answer = answerTo(new StorageError('InvalidXmlDocument'), 'table', { query: { comp } });
    assert.match(`${answer.body}`, /<Error><Code>InvalidXmlDocument/);
  }
});

test('an old client that asks for Atom gets its error', () => {
  const error = new StorageError('TableNotFound');
  const old = answerTo(error, 'table', { accept: 'application/atom+xml', version: '2013-08-15' });
  assert.match(
    `${old.body}`,
    /<error xmlns="[^"]+\/metadata"><code>TableNotFound<\/code><message xml:lang="en-US">The table/,
  );
  const newer = answerTo(error, 'table', { accept: 'application/atom+xml', version: '2015-12-11' });
  assert.match(`${newer.body}`, /^\{"odata.error"/);
});

test('a status line carries visible ASCII alone', () => {
  const answer = answerTo(new StorageError('InvalidInput', { message: 'bad\r\nSet-Cookie: é' }));
  assert.equal(answer.reason, 'bad Set-Cookie:  ');
});

test('what an exception stands for', () => {
  const busy = new Error('lock');
  const translate = (error: unknown) => (error === busy ? serverBusy(error, 2) : undefined);
  const refusal = new StorageError('BlobNotFound');
  assert.equal(refusalOf(refusal, translate), refusal);
  const translated = refusalOf(busy, translate);
  assert.equal(translated.code, 'ServerBusy');
  assert.deepEqual(answerTo(translated).headers.slice(2, 4), ['Retry-After', '2']);
  assert.equal(answerTo(translated).status, 503);

  const bug = answerTo(refusalOf(new TypeError('secret detail'), translate));
  assert.equal(bug.status, 500);
  assert.match(`${bug.body}`, /<Code>InternalError<\/Code>/);
  assert.ok(!JSON.stringify(bug).includes('secret'));
});
