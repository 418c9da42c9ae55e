// The tables of blob.md section 3, every cell a test.
//
// The blob was last modified at noon and half a second. In the tables a header passes or fails by itself:
//
//                         pass                            fail
//   If-Match              its ETag                        another
//   If-None-Match         another                         its ETag
//   If-Modified-Since     a second before noon            noon
//   If-Unmodified-Since   noon                            a second before noon

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cells, rows } from '../../base/cells.suite.js';
import { formatHttpDate } from '../../base/times.js';
import {
  type Conditioned,
  type ConditionHeaders,
  type ConditionKind,
  checkConditions,
  failedCondition,
  noConditions,
  parseConditions,
} from './conditions.js';
import { StorageError } from './errors.js';
import { bareEtag, etag } from './etag.js';

const noon = Date.UTC(2026, 0, 1, 12);
const stamp = (noon + 500) * 1000;
const blob: Conditioned = { stamp, tags: [['status', 'done']] };
const own = etag(stamp);
const other = etag(stamp + 1);
const atNoon = formatHttpDate(noon);
const before = formatHttpDate(noon - 1000);

type Mark = string | undefined;

function headers(m: Mark, n: Mark, i: Mark, u: Mark): ConditionHeaders {
  const choose = (mark: Mark, pass: string, fail: string) =>
    mark === 'pass' ? pass : mark === 'fail' ? fail : undefined;
  return {
    ifMatch: choose(m, own, other),
    ifNoneMatch: choose(n, other, own),
    ifModifiedSince: choose(i, before, atNoon),
    ifUnmodifiedSince: choose(u, atNoon, before),
  };
}

/** '200', '412', '304', '409' or, from the parser, '400 Code'. */
function outcome(
  sent: ConditionHeaders,
  kind: ConditionKind,
  existing: Conditioned | undefined = blob,
  version?: string,
  accepts = 'MNIUT',
): string {
  try {
    const failed = failedCondition(parseConditions(sent, kind, accepts, version), kind, existing);
    return failed ? String(failed.status) : '200';
  } catch (error) {
    assert.ok(error instanceof StorageError, String(error));
    return `400 ${error.code}`;
  }
}

const readCombinations = `
  match   unmodified   none   modified   gives
  pass    -            -      -          200
  fail    -            -      -          412
  -       pass         -      -          200
  -       fail         -      -          412
  -       -            pass   -          200
  -       -            fail   -          304
  -       -            -      pass       200
  -       -            -      fail       304
  fail    -            -      pass       412
  fail    -            -      fail       412
  pass    -            -      fail       304
  -       -            fail   pass       200
  -       -            pass   fail       200
  -       -            fail   fail       304
  pass    fail         -      pass       412
  pass    fail         -      fail       412
  pass    pass         -      fail       304
  pass    pass         fail   pass       200
  pass    pass         pass   fail       200
  pass    fail         fail   fail       412
  fail    pass         pass   pass       412
  fail    fail         fail   fail       412
`;

for (const { match, unmodified, none, modified, gives } of rows(readCombinations)) {
  test(`read: match ${match}, unmodified ${unmodified}, none ${none}, modified ${modified}: ${gives}`, () => {
    assert.equal(outcome(headers(match, none, modified, unmodified), 'read'), gives);
  });
}

const marks = ['pass', 'fail', undefined];
const everyCombination = marks.flatMap((m) =>
  marks.flatMap((n) => marks.flatMap((i) => marks.map((u) => [m, n, i, u] as const))),
);

test('a read follows its expression in all 81 combinations', () => {
  for (const [m, n, i, u] of everyCombination) {
    const later = (n ?? i) === undefined || n === 'pass' || i === 'pass';
    const wanted = m === 'fail' || u === 'fail' ? '412' : later ? '200' : '304';
    assert.equal(outcome(headers(m, n, i, u), 'read'), wanted, `${m} ${n} ${i} ${u}`);
    assert.equal(outcome(headers(m, n, i, u), 'source'), wanted, `${m} ${n} ${i} ${u}`);
    assert.equal(outcome(headers(m, n, i, u), 'copySource'), wanted === '200' ? '200' : '412');
  }
});

test('a write takes one header or one of two pairs in all 81 combinations', () => {
  for (const kind of ['write', 'create', 'copy'] as const) {
    for (const [m, n, i, u] of everyCombination) {
      const mixed = (m ?? u) !== undefined && (n ?? i) !== undefined;
      const judged = mixed ? undefined : (m ?? n ?? i ?? u ?? 'pass');
      const wanted = mixed ? '400 MultipleConditionHeadersNotSupported' : judged === 'pass' ? '200' : '412';
      assert.equal(outcome(headers(m, n, i, u), kind), wanted, `${kind}: ${m} ${n} ${i} ${u}`);
    }
  }
});

test('a read before 2013-08-15 takes what a write takes, and still answers 304', () => {
  const old = '2013-08-14';
  const mixed = headers('pass', 'pass', undefined, undefined);
  assert.equal(outcome(mixed, 'read', blob, old), '400 MultipleConditionHeadersNotSupported');
  assert.equal(outcome(mixed, 'read', blob, '2013-08-15'), '200');
  assert.equal(outcome(headers(undefined, 'fail', 'pass', undefined), 'read', blob, old), '304');
  assert.equal(outcome(headers('pass', undefined, undefined, 'fail'), 'read', blob, old), '200');
  assert.equal(outcome(headers('fail', undefined, undefined, undefined), 'read', blob, old), '412');
});

const stars = `
                           read                         write   create   copy   source                       copySource
  If-Match: *              200                          200     200      200    200                          200
  If-None-Match: *         400 UnsatisfiableCondition   200     409      409    400 UnsatisfiableCondition   400 UnsatisfiableCondition
`;

for (const { row, column, cell } of cells(stars)) {
  test(`${row} on a ${column} of what exists gives ${cell}`, () => {
    const sent = row.startsWith('If-Match') ? { ifMatch: '*' } : { ifNoneMatch: '*' };
    assert.equal(outcome(sent, column as ConditionKind), cell);
  });
}

test('before 2016-05-31 a read does not see If-None-Match: *', () => {
  assert.equal(outcome({ ifNoneMatch: '*' }, 'read', blob, '2016-05-30'), '200');
  assert.equal(outcome({ ifNoneMatch: '*' }, 'read', blob, '2016-05-31'), '400 UnsatisfiableCondition');
  assert.equal(outcome({ ifNoneMatch: '*', ifModifiedSince: atNoon }, 'read', blob, '2015-12-11'), '304');
  assert.equal(outcome({ ifNoneMatch: '*', ifModifiedSince: atNoon }, 'read', blob, '2012-02-12'), '304');
});

const absent = `
                                create   copy
  If-Match: *                   412      412
  If-Match: "0x8D1"             412      412
  If-None-Match: *              200      200
  If-None-Match: "0x8D1"        200      200
  If-Modified-Since: date       200      200
  If-Unmodified-Since: date     200      200
  x-ms-if-tags: a = '1'         412      412
  x-ms-if-tags: a <> '1'        200      200
`;

for (const { row, column, cell } of cells(absent)) {
  test(`${row} on a ${column} of what does not exist gives ${cell}`, () => {
    const [name = '', value = ''] = row.split(': ');
    const field = {
      'If-Match': 'ifMatch',
      'If-None-Match': 'ifNoneMatch',
      'If-Modified-Since': 'ifModifiedSince',
      'If-Unmodified-Since': 'ifUnmodifiedSince',
      'x-ms-if-tags': 'ifTags',
    }[name];
    const sent = { [field ?? '']: value === 'date' ? atNoon : value };
    const kind = column as ConditionKind;
    const failed = failedCondition(parseConditions(sent, kind, 'MNIUT'), kind, undefined);
    assert.equal(failed ? String(failed.status) : '200', cell);
  });
}

const etags = `
  header                                      read   write
  If-Match: OWN                               200    200
  If-Match: "OWN"                             200    200
  If-Match: W/"OWN"                           412    412
  If-Match: "own"                             412    412
  If-Match: "*"                               412    412
  If-Match: nonsense                          412    412
  If-Match: ""                                412    412
  If-Match: "0x1", "OWN"                      200    400 MultipleConditionHeadersNotSupported
  If-Match: 0x1,OWN                           200    400 MultipleConditionHeadersNotSupported
  If-Match: "0x1","0x2"                       412    400 MultipleConditionHeadersNotSupported
  If-Match: ,                                 400 InvalidHeaderValue   400 InvalidHeaderValue
  If-None-Match: OWN                          304    412
  If-None-Match: "OWN"                        304    412
  If-None-Match: W/"OWN"                      200    200
  If-None-Match: "0x1", "OWN"                 304    400 MultipleConditionHeadersNotSupported
  If-None-Match: "0x1", "0x2"                 200    400 MultipleConditionHeadersNotSupported
  If-None-Match: "0x1", *                     400 UnsatisfiableCondition   400 MultipleConditionHeadersNotSupported
`;

for (const { header = '', ...wanted } of rows(etags)) {
  for (const kind of ['read', 'write'] as const) {
    test(`${header} on a ${kind} gives ${wanted[kind]}`, () => {
      const [name = '', ...rest] = header.split(': ');
      const value = rest
        .join(': ')
        .replace('OWN', bareEtag(stamp))
        .replace('own', bareEtag(stamp).toLowerCase());
      const sent = name === 'If-Match' ? { ifMatch: value } : { ifNoneMatch: value };
      assert.equal(outcome(sent, kind), wanted[kind]);
    });
  }
}

const seconds = `
                        11:59:59   12:00:00   12:00:01
  If-Modified-Since     200        304        304
  If-Unmodified-Since   412        200        200
`;

for (const { row, column, cell } of cells(seconds)) {
  test(`${row} ${column} against half a second past noon gives ${cell}`, () => {
    const date = `Thu, 01 Jan 2026 ${column} GMT`;
    const sent = row === 'If-Modified-Since' ? { ifModifiedSince: date } : { ifUnmodifiedSince: date };
    assert.equal(outcome(sent, 'read'), cell);
  });
}

const dates = `
  date                                                           read                     write
  null                                                           200                      400 InvalidHeaderValue
  noon GMT                                                       200                      400 InvalidHeaderValue
  Thu, 01 Jan 2026 11:00:00 GMT, Thu, 01 Jan 2026 11:00:00 GMT   400 InvalidHeaderValue   400 InvalidHeaderValue
  Thursday, 01-Jan-26 11:59:59 GMT                               412                      412
`;

for (const { date, ...wanted } of rows(dates)) {
  for (const kind of ['read', 'write'] as const) {
    test(`If-Unmodified-Since: ${date} on a ${kind} gives ${wanted[kind]}`, () => {
      assert.equal(outcome({ ifUnmodifiedSince: date }, kind), wanted[kind]);
    });
  }
}

const tagged = `
                                    read   write   create   copy   source   copySource
  status = 'done'                   200    200     200      200    200      200
  status = 'open'                   412    412     412      412    412      412
`;

for (const { row, column, cell } of cells(tagged)) {
  test(`tags ${row} on a ${column} gives ${cell}`, () => {
    assert.equal(outcome({ ifTags: row }, column as ConditionKind), cell);
  });
}

test('tags are judged after the other headers, and together with any of them', () => {
  const tags = { ifTags: "status = 'open'" };
  assert.equal(outcome({ ...headers(undefined, 'fail', undefined, undefined), ...tags }, 'read'), '304');
  assert.equal(outcome({ ...headers('pass', undefined, undefined, undefined), ...tags }, 'write'), '412');
});

test('malformed tags name their header', () => {
  const parse = (kind: ConditionKind) => () => parseConditions({ ifTags: 'x' }, kind, 'T');
  assert.throws(parse('write'), { details: { HeaderName: 'x-ms-if-tags', HeaderValue: 'x' } });
  assert.throws(parse('copySource'), { details: { HeaderName: 'x-ms-source-if-tags', HeaderValue: 'x' } });
});

const accepted = `
  kind     accepts   header   gives
  write    IU        M        400 ConditionHeadersNotSupported
  write    IU        N        400 ConditionHeadersNotSupported
  write    IU        U        412
  write    I         U        400 ConditionHeadersNotSupported
  write    MNIU      T        400 ConditionHeadersNotSupported
  read     T         M        200
  read     T         U        200
  read     MNIU      T        200
  create   -         N        400 ConditionHeadersNotSupported
`;

for (const { kind, accepts = '', header = '', gives } of rows(accepted)) {
  test(`a ${kind} that takes ${accepts} and is sent ${header} gives ${gives}`, () => {
    const all = { ...headers('fail', 'fail', 'fail', 'fail'), ifTags: "status = 'open'" };
    const sent = {
      ...(header === 'M' && { ifMatch: all.ifMatch }),
      ...(header === 'N' && { ifNoneMatch: all.ifNoneMatch }),
      ...(header === 'U' && { ifUnmodifiedSince: all.ifUnmodifiedSince }),
      ...(header === 'T' && { ifTags: all.ifTags }),
    };
    assert.equal(outcome(sent, kind as ConditionKind, blob, undefined, accepts), gives);
  });
}

const codes = `
               ifMatch                  ifNoneMatch
  read         ConditionNotMet          ConditionNotMet
  write        ConditionNotMet          ConditionNotMet
  create       ConditionNotMet          ConditionNotMet
  copy         TargetConditionNotMet    TargetConditionNotMet
  copySource   SourceConditionNotMet    SourceConditionNotMet
  source       CannotVerifyCopySource   CannotVerifyCopySource
`;

for (const { row, column, cell } of cells(codes)) {
  test(`a ${row} whose ${column} fails throws ${cell}`, () => {
    const kind = row as ConditionKind;
    const sent = column === 'ifMatch' ? { ifMatch: other } : { ifNoneMatch: own };
    const reads = kind === 'read' || kind === 'source';
    assert.throws(() => checkConditions(parseConditions(sent, kind, 'MN'), kind, blob), {
      code: cell,
      status: reads && column === 'ifNoneMatch' ? 304 : 412,
    });
  });
}

test('a source that fails says so in the words of the source', () => {
  assert.throws(() => checkConditions(parseConditions({ ifMatch: other }, 'source', 'M'), 'source', blob), {
    message: 'The condition specified using HTTP conditional header(s) is not met.',
  });
});

test('an empty ETag header is refused: it was meant as a guard', () => {
  for (const kind of ['read', 'write'] as const) {
    assert.throws(() => parseConditions({ ifMatch: ' ' }, kind, 'M'), {
      code: 'InvalidHeaderValue',
      details: { HeaderName: 'if-match', HeaderValue: ' ' },
    });
  }
});

test('no header, no work', () => {
  assert.equal(parseConditions({}, 'write', ''), noConditions);
  assert.equal(failedCondition(noConditions, 'create', undefined), undefined);
});

test('whatever text comes, parsing gives conditions or a refusal', () => {
  const text = fc.option(fc.oneof(fc.string(), fc.constantFrom('*', own, 'W/"a"', atNoon)), {
    nil: undefined,
  });
  const kinds = fc.constantFrom<ConditionKind>('read', 'write', 'create', 'copy', 'source', 'copySource');
  fc.assert(
    fc.property(kinds, text, text, text, text, text, (kind, ifMatch, ifNoneMatch, date, date2, ifTags) => {
      const sent = { ifMatch, ifNoneMatch, ifModifiedSince: date, ifUnmodifiedSince: date2, ifTags };
      outcome(sent, kind);
    }),
    { seed: 2, numRuns: 2000 },
  );
});
