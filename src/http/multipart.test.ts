import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  boundaryOf,
  multipartType,
  nestedPart,
  parseInnerRequest,
  parseMultipart,
  writeInnerAnswer,
  writeMultipart,
} from './multipart.js';

const seed = 20260808;

const types: [string | undefined, string | undefined][] = [
  ['multipart/mixed; boundary=batch_a1', 'batch_a1'],
  ['multipart/mixed;boundary=batch_a1', 'batch_a1'],
  ['Multipart/Mixed; Boundary=batch_a1', 'batch_a1'],
  ['multipart/mixed; boundary="batch a"', 'batch a'],
  ['multipart/mixed; boundary="===============1234=="', '===============1234=='],
  ['multipart/mixed; boundary================1234==', '===============1234=='],
  ['multipart/mixed; charset="utf-8"; boundary=batch_a1', 'batch_a1'],
  ['multipart/mixed;charset="utf-8";boundary=changeset_b', 'changeset_b'],
  ['multipart/mixed; boundary=batch_a1; charset=utf-8', 'batch_a1'],
  ['multipart/mixed', undefined],
  ['multipart/mixed; boundary=', undefined],
  [`multipart/mixed; boundary=${'x'.repeat(201)}`, undefined],
  ['multipart/form-data; boundary=a', undefined],
  ['application/json; x=multipart/mixed; boundary=a', undefined],
  ['', undefined],
  [undefined, undefined],
];
for (const [type, boundary] of types) {
  test(`the boundary of ${type} is ${boundary}`, () => {
    assert.equal(boundaryOf(type), boundary);
  });
}

function lines(...text: string[]): Buffer {
  return Buffer.from(text.join('\r\n'));
}

function parts(body: Buffer, boundary: string, most = 100) {
  const result = parseMultipart(body, boundary, most);
  assert.ok(result.ok);
  return result.value;
}

/** The requests of the one change set in a batch. */
function requests(body: Buffer, boundary: string) {
  const [changeset, ...rest] = parts(body, boundary, 1);
  assert.ok(changeset && rest.length === 0);
  const inner = boundaryOf(changeset.headers.get('content-type'));
  assert.ok(inner);
  return parts(changeset.body, inner).map((part) => {
    assert.equal(part.headers.get('content-type'), 'application/http');
    const request = parseInnerRequest(part.body);
    assert.ok(request.ok);
    return request.value;
  });
}

describe('what clients send', () => {
  const json = '{"PartitionKey":"p","RowKey":"r"}';

  test('JavaScript: a blank line too many before the body, none after the last header of a delete', () => {
    const body = lines(
      '--batch_1',
      'content-type: multipart/mixed; boundary=changeset_2',
      '',
      '',
      '--changeset_2',
      'content-type: application/http',
      'content-transfer-encoding: binary',
      '',
      'POST https://host/account/table?%24format=application%2Fjson HTTP/1.1',
      'prefer: return-no-content',
      'content-type: application/json;odata=nometadata',
      '',
      '',
      json,
      '--changeset_2',
      'content-type: application/http',
      'content-transfer-encoding: binary',
      '',
      "DELETE https://host/account/table(PartitionKey='p',RowKey='q') HTTP/1.1",
      'if-match: *',
      '',
      '',
      '--changeset_2--',
      '--batch_1--',
      '',
    );
    const [insert, remove, ...rest] = requests(body, 'batch_1');
    assert.equal(rest.length, 0);
    assert.equal(insert?.method, 'POST');
    assert.equal(insert?.url, 'https://host/account/table?%24format=application%2Fjson');
    assert.equal(insert?.headers.prefer, 'return-no-content');
    assert.equal(insert?.body.toString().trim(), json);
    assert.equal(remove?.method, 'DELETE');
    assert.equal(remove?.headers['if-match'], '*');
    assert.equal(remove?.body.toString().trim(), '');
  });

  test('JavaScript of old: lines that end in LF', () => {
    const body = Buffer.from(
      [
        '--batch_1',
        'content-type: multipart/mixed;charset="utf-8";boundary=changeset_2',
        '',
        '--changeset_2',
        'content-type: application/http',
        'content-transfer-encoding: binary',
        '',
        "MERGE https://host/table(PartitionKey='p',RowKey='r') HTTP/1.1",
        'if-match: *',
        'Content-ID: 1',
        '',
        json,
        '--changeset_2--',
        '--batch_1--',
      ].join('\n'),
    );
    const [merge] = requests(body, 'batch_1');
    assert.equal(merge?.method, 'MERGE');
    assert.equal(merge?.headers['content-id'], '1');
    assert.equal(merge?.body.toString(), json);
  });

  test('Python: an id and a length for each part', () => {
    const body = lines(
      '--batch_1',
      'Content-Type: multipart/mixed; boundary=changeset_2',
      '',
      '--changeset_2',
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      'Content-ID: 0',
      '',
      "PATCH http://127.0.0.1:10002/devstoreaccount1/t(PartitionKey='p',RowKey='r') HTTP/1.1",
      'x-ms-version: 2019-02-02',
      'DataServiceVersion: 3.0',
      'Content-Type: application/json',
      `Content-Length: ${json.length}`,
      'If-Match: *',
      '',
      json,
      '--changeset_2--',
      '',
      '--batch_1--',
      '',
    );
    const [patch] = requests(body, 'batch_1');
    assert.equal(patch?.body.toString(), json);
    assert.deepEqual(patch?.rawHeaders.slice(0, 2), ['x-ms-version', '2019-02-02']);
  });

  test('Go: headers sorted, Content-Transfer-Encoding first', () => {
    const body = lines(
      '--batch_1',
      'Content-Type: multipart/mixed; boundary=changeset_2',
      '',
      '--changeset_2',
      'Content-Transfer-Encoding: binary',
      'Content-Type: application/http',
      '',
      'POST https://host/table HTTP/1.1',
      'Accept: application/json;odata=minimalmetadata',
      'Content-Type: application/json',
      '',
      json,
      '--changeset_2--',
      '',
      '--batch_1--',
      '',
    );
    const [insert] = requests(body, 'batch_1');
    assert.equal(insert?.body.toString(), json);
  });

  test('a batch of blobs: parts without bodies, paths for URLs', () => {
    const body = lines(
      '--batch_1',
      'content-type: application/http',
      'content-transfer-encoding: binary',
      'Content-ID: 0',
      '',
      'DELETE /account/container/a%20b?snapshot=x HTTP/1.1',
      'x-ms-date: Thu, 14 Jun 2018 16:46:54 GMT',
      'authorization: SharedKey account:key',
      'content-length: 0',
      '',
      '--batch_1--',
      '',
    );
    const [part] = parts(body, 'batch_1');
    assert.equal(part?.headers.get('content-id'), '0');
    const request = parseInnerRequest(part?.body ?? Buffer.alloc(0));
    assert.ok(request.ok);
    assert.equal(request.value.url, '/account/container/a%20b?snapshot=x');
    assert.equal(request.value.headers.authorization, 'SharedKey account:key');
  });

  test('a preamble, blanks behind a delimiter and what follows the last are passed over', () => {
    const body = lines('hello', '--b \t', 'A: 1', '', 'one', '--b', '', 'two', '--b--  ', 'bye', '--b', 'x');
    assert.deepEqual(
      parts(body, 'b').map((part) => part.body.toString()),
      ['one', 'two'],
    );
  });

  test('a delimiter inside a line, or longer than the boundary, is none', () => {
    const body = lines('--b', '', 'x --b', '--bc', '--b--c', 'y', '--b--');
    assert.deepEqual(
      parts(body, 'b').map((part) => part.body.toString()),
      ['x --b\r\n--bc\r\n--b--c\r\ny'],
    );
  });
});

describe('what is refused', () => {
  const malformed: [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['no delimiter', lines('A: 1', '', 'x')],
    ['no last delimiter', lines('--b', 'A: 1', '', 'x')],
    ['another boundary', lines('--c', 'A: 1', '', 'x', '--c--')],
    ['a header without a colon', lines('--b', 'nonsense', '', 'x', '--b--')],
    ['a header name with a blank', lines('--b', 'A B: 1', '', 'x', '--b--')],
    ['too many headers', lines('--b', ...Array(129).fill('A: 1'), '', 'x', '--b--')],
    ['too large headers', lines('--b', `A: ${'x'.repeat(70_000)}`, '', 'x', '--b--')],
  ];
  for (const [name, body] of malformed) {
    test(name, () => {
      assert.deepEqual(parseMultipart(body, 'b', 100), { ok: false, code: 'InvalidInput' });
    });
  }
  for (const line of [
    '',
    'GET /',
    'GET / HTTP/2',
    'get / HTTP/1.1',
    'GET  HTTP/1.1',
    'GET /a b HTTP/1.1',
    'HTTP/1.1 200 OK',
  ]) {
    test(`the request line '${line}'`, () => {
      assert.equal(parseInnerRequest(lines(line, 'A: 1', '', '')).ok, false);
    });
  }

  test('parts past the most are cut off behind the first of them', () => {
    const body = lines(...Array.from({ length: 300 }, (_, i) => `--b\r\n\r\n${i}`), '--b--');
    assert.equal(parts(body, 'b', 100).length, 101);
    assert.equal(parts(body, 'b', 300).length, 300);
  });

  test('a body of nothing but beginnings of delimiters is read in no time', () => {
    const started = performance.now();
    parseMultipart(Buffer.from('--b-\n'.repeat(800_000)), 'b', 100);
    parseMultipart(Buffer.from('--b'.repeat(1_300_000)), 'b', 100);
    assert.ok(performance.now() - started < 2000);
  });
});

describe('what is written', () => {
  test('an answer in a change set in a batch, to the byte', () => {
    const answer = writeInnerAnswer({
      status: 204,
      headers: ['Content-ID', '1', 'X-Content-Type-Options', 'nosniff', 'ETag', `W/"datetime'2017'"`],
    });
    const part = {
      headers: ['Content-Type', 'application/http', 'Content-Transfer-Encoding', 'binary'],
      body: answer,
    };
    assert.equal(
      writeMultipart('batchresponse_R', [nestedPart('changesetresponse_S', [part])]).toString(),
      lines(
        '--batchresponse_R',
        'Content-Type: multipart/mixed; boundary=changesetresponse_S',
        '',
        '--changesetresponse_S',
        'Content-Type: application/http',
        'Content-Transfer-Encoding: binary',
        '',
        'HTTP/1.1 204 No Content',
        'Content-ID: 1',
        'X-Content-Type-Options: nosniff',
        `ETag: W/"datetime'2017'"`,
        '',
        '',
        '--changesetresponse_S--',
        '--batchresponse_R--',
        '',
      ).toString(),
    );
    assert.equal(multipartType('batchresponse_R'), 'multipart/mixed; boundary=batchresponse_R');
  });

  test('a header with a line end in it is a bug, not a second header', () => {
    assert.throws(() => writeInnerAnswer({ status: 200, headers: ['A', 'x\r\nB: y'] }), /line end/);
  });

  test(`is read back (seed ${seed})`, () => {
    const body = fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes));
    const header = fc.tuple(fc.stringMatching(/^[a-z][a-z-]{0,8}$/), fc.stringMatching(/^[!-~]{0,10}$/));
    const part = fc.record({ headers: fc.array(header, { maxLength: 3 }).map((list) => list.flat()), body });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (written) => {
        const read = parts(writeMultipart('boundary_x', written), 'boundary_x');
        assert.deepEqual(
          read.map((each) => each.body),
          written.map((each) => each.body),
        );
        written.forEach(({ headers }, i) => {
          const [name, value] = headers.slice(-2);
          if (name !== undefined) assert.equal(read[i]?.headers.get(name), value);
        });
      }),
      { seed },
    );
  });
});
