import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import { matchesTags, parseTagCondition, parseTagSearch, type Tags } from './tags-filter.js';

const tags: Tags = [
  ['status', 'done'],
  ['Priority', '05'],
  ['a b', "it's"],
  ['AND', '1'],
];

const conditions = `
  filter                                               holds
  status = 'done'                                      yes
  status='done'                                        yes
  status = 'Done'                                      no
  Status = 'done'                                      no
  "status" = 'done'                                    yes
  "a b" = 'it''s'                                      yes
  "AND" = '1'                                          yes
  status <> 'done'                                     no
  status <> 'open'                                     yes
  status > 'doma'                                      yes
  status > 'done'                                      no
  status >= 'done'                                     yes
  status < 'e'                                         yes
  status <= 'done'                                     yes
  status < 'done'                                      no
  Priority < '1'                                       yes
  missing = ''                                         no
  missing < 'z'                                        no
  missing >= ''                                        no
  missing <> 'x'                                       yes
  status = 'done' AND Priority = '05'                  yes
  status = 'done' and Priority = '06'                  no
  status = 'open' OR Priority = '05'                   yes
  status = 'open' or Priority = '06'                   no
  status = 'done' OR status = 'x' AND status = 'y'     yes
  (status = 'done' OR status = 'x') AND status = 'y'   no
  ((status = 'done'))                                  yes
`;

for (const { filter = '', holds } of rows(conditions)) {
  test(`${filter}: ${holds}`, () => {
    assert.equal(matchesTags(parseTagCondition('x-ms-if-tags', filter), tags) ? 'yes' : 'no', holds);
  });
}

const clauses = (count: number, word: string) => Array(count).fill("a = '1'").join(` ${word} `);
const malformed = [
  '',
  ' ',
  'status',
  'status =',
  "= 'done'",
  "status 'done'",
  'status = done',
  'status = "done"',
  "'status' = 'done'",
  "status = 'done",
  "status == 'done'",
  "status = 'done' AND",
  "status = 'done' status = 'done'",
  "NOT status = 'done'",
  "(status = 'done'",
  "status = 'done')",
  "st-atus = 'done'",
  '"" = \'done\'',
  "status = 'a'; DROP",
  "@container = 'c'",
  clauses(12, 'AND'),
  clauses(12, 'OR'),
  `${'('.repeat(17)}a = '1'${')'.repeat(17)}`,
];

for (const filter of malformed) {
  test(`a condition cannot be: ${filter.slice(0, 40)}`, () => {
    assert.throws(() => parseTagCondition('x-ms-if-tags', filter), {
      code: 'InvalidHeaderValue',
      details: { HeaderName: 'x-ms-if-tags', HeaderValue: filter },
    });
  });
}

test('sixteen parentheses are allowed', () => {
  const filter = `${'('.repeat(16)}a = '1'${')'.repeat(16)}`;
  assert.ok(matchesTags(parseTagCondition('x-ms-if-tags', filter), [['a', '1']]));
});

test('ten logical operators are allowed', () => {
  assert.ok(matchesTags(parseTagCondition('x-ms-if-tags', clauses(11, 'AND')), [['a', '1']]));
});

test('a search is a container and comparisons that must all hold', () => {
  assert.deepEqual(parseTagSearch(`@container = 'photos' AND "year" >= '2020' and year < '2022'`), {
    container: 'photos',
    all: [
      { name: 'year', operator: '>=', value: '2020' },
      { name: 'year', operator: '<', value: '2022' },
    ],
  });
  assert.deepEqual(parseTagSearch("a = '1'"), {
    container: undefined,
    all: [{ name: 'a', operator: '=', value: '1' }],
  });
});

const searches = `
  where                                              reason
  a = '1' OR b = '2'                                 OR is not supported
  a <> '1'                                           <> is not supported
  (a = '1')                                          parentheses are not supported
  @container > 'c' AND a = '1'                       @container can be compared once, with =
  @container = 'c' AND @container = 'd' AND a='1'    @container can be compared once, with =
  @container = 'c'                                   no tag is compared
  a =                                                the end where a value is wanted
  a = b                                              'b' where a value is wanted
  a = '1' b                                          more than one expression
  a ? '1'                                            a character that has no meaning here
`;

for (const { where = '', reason } of rows(searches)) {
  test(`a search cannot be: ${where}`, () => {
    assert.throws(() => parseTagSearch(where), {
      code: 'InvalidQueryParameterValue',
      details: { QueryParameterName: 'where', QueryParameterValue: where, Reason: reason },
    });
  });
}
