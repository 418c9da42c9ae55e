import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import { type Entity, type Property, propertyOf } from './entity.js';
import { matches, parseFilter } from './filter.js';

const properties: Property[] = [
  ['text', { type: 'Edm.String', value: "o'clock" }],
  ['empty', { type: 'Edm.String', value: '' }],
  ['yes', { type: 'Edm.Boolean', value: true }],
  ['no', { type: 'Edm.Boolean', value: false }],
  ['int', { type: 'Edm.Int32', value: 30 }],
  ['long', { type: 'Edm.Int64', value: 30n }],
  ['big', { type: 'Edm.Int64', value: 2n ** 62n }],
  ['half', { type: 'Edm.Double', value: 1.5 }],
  ['whole', { type: 'Edm.Double', value: 30 }],
  ['nan', { type: 'Edm.Double', value: Number.NaN }],
  ['inf', { type: 'Edm.Double', value: Number.POSITIVE_INFINITY }],
  ['time', { type: 'Edm.DateTime', value: '2008-07-10T00:00:00.0000000Z' }],
  ['guid', { type: 'Edm.Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' }],
  ['bytes', { type: 'Edm.Binary', value: new Uint8Array([1, 2, 3]) }],
  ['größe', { type: 'Edm.Int32', value: 1 }],
  ['nothing', { type: 'Edm.String', value: 'a property may be named so' }],
];
const entity: Entity = {
  partitionKey: '003',
  rowKey: 'row',
  stamp: Date.UTC(2026, 0, 1) * 1000,
  properties,
};

function outcome(filter: string): string {
  const parsed = parseFilter(filter);
  if (!parsed.ok) return parsed.code;
  return matches(parsed.value, (name) => propertyOf(entity, name)) ? 'yes' : 'no';
}

const filters = `
  filter                                                  holds
  PartitionKey eq '003'                                   yes
  '003' eq PartitionKey                                   yes
  PartitionKey eq '3'                                     no
  partitionkey eq '003'                                   no
  RowKey gt 'ro'                                          yes
  RowKey lt 'ro'                                          no
  'ro' lt RowKey                                          yes
  'row' le RowKey                                         yes
  'row' lt RowKey                                         no
  Timestamp ge datetime'2026-01-01T00:00:00Z'             yes
  Timestamp gt datetime'2026-01-01T00:00:00Z'             no
  Timestamp lt datetime'2026-01-01T01:00:00+01:00'        no
  Timestamp gt datetime'0001-01-01T00:00:00Z'             yes
  text eq 'o''clock'                                      yes
  text eq 'O''clock'                                      no
  text ne 'x'                                             yes
  empty eq ''                                             yes
  empty ge ''                                             yes
  yes eq true                                             yes
  yes ne false                                            yes
  no lt true                                              yes
  no eq false                                             yes
  yes                                                     yes
  no                                                      no
  not no                                                  yes
  not yes                                                 no
  text                                                    no
  missing                                                 no
  not missing                                             yes
  true                                                    yes
  false                                                   no
  int eq 30                                               yes
  int eq 30L                                              yes
  int eq 30.0                                             yes
  int eq +30                                              yes
  int gt -31                                              yes
  long eq 30                                              yes
  long eq 30L                                             yes
  long lt 30.5                                            yes
  whole eq 30                                             yes
  whole eq 30L                                            yes
  half gt 1                                               yes
  half lt 2L                                              yes
  half eq 1.5                                             yes
  half eq 15e-1                                           yes
  half eq 1.5d                                            yes
  half eq .5                                              no
  big eq 4611686018427387904L                             yes
  big gt 4611686018427387903L                             yes
  big lt 4611686018427387905L                             yes
  nan eq NaN                                              no
  nan ne NaN                                              yes
  nan lt 1                                                no
  nan ge 1                                                no
  inf gt 1e300                                            yes
  inf eq INF                                              yes
  inf gt -INF                                             yes
  time eq datetime'2008-07-10T00:00:00Z'                  yes
  time eq datetime'2008-07-10T02:00:00+02:00'             yes
  time lt datetime'2008-07-10T00:00:00.0000001Z'          yes
  guid eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'      yes
  guid ne guid'c9da6455-213d-42c9-9a79-3e9149a57834'      yes
  bytes eq X'010203'                                      yes
  bytes eq binary'010203'                                 yes
  bytes lt X'0103'                                        yes
  bytes gt X'0102'                                        yes
  bytes eq X''                                            no
  größe eq 1                                              yes
  nothing ne 'x'                                          yes
  missing eq ''                                           no
  missing ne ''                                           no
  missing lt 'z'                                          no
  missing ge ''                                           no
  not (missing ne '')                                     yes
  not (missing eq '')                                     yes
  not (empty ne '')                                       yes
  not (text ne '')                                        no
  half ne ''                                              yes
  half eq ''                                              no
  half lt ''                                              yes
  half gt ''                                              no
  time ne ''                                              yes
  time lt ''                                              yes
  time gt ''                                              no
  text gt 5                                               yes
  text lt 5                                               no
  text eq 5                                               no
  text ne 5                                               yes
  yes eq 'true'                                           no
  toString eq 'x'                                         no
  constructor ne 'x'                                      no
  int eq 30 and text eq 'x'                               no
  int eq 30 or text eq 'x'                                yes
  text eq 'x' or int eq 30 and yes                        yes
  (text eq 'x' or int eq 30) and no                       no
  int eq 30 or text eq 'x' and no                         yes
  not int eq 31                                           yes
  not not int eq 30                                       yes
  not (int eq 30 and yes)                                 no
  not (int eq 30) or yes                                  yes
  ((((int eq 30))))                                       yes
  (int eq 30)and(yes)                                     yes
  (int eq 30) and (not no)                                yes
`;
describe('a filter holds', () => {
  for (const { filter = '', holds } of rows(filters)) {
    test(`${filter}: ${holds}`, () => assert.equal(outcome(filter), holds));
  }
  test('without anything in it', () => assert.deepEqual(['', '  '].map(outcome), ['yes', 'yes']));
  test('with blanks around', () => assert.equal(outcome('  int   eq  30\t'), 'yes'));
});

const repeated = (count: number, word: string) => Array(count).fill("RowKey eq 'row'").join(` ${word} `);
const nested = (count: number) => `${'('.repeat(count)}int eq 30${')'.repeat(count)}`;

describe('a filter is refused', () => {
  const malformed = [
    'int eq',
    'eq 30',
    'int 30',
    'int = 30',
    'int EQ 30',
    'int eq 30 AND yes',
    'int eq 30 yes',
    'int eq 30 and',
    'and int eq 30',
    'not',
    '()',
    '(int eq 30',
    'int eq 30)',
    ')int eq 30(',
    "text eq 'open",
    "text eq 'a'b'",
    'text eq "x"',
    'int eq null',
    'null eq int',
    'null',
    'missing eq null',
    'int ne null',
    'int eq text',
    '30 eq 30',
    "'a'",
    '30',
    'int eq 2147483648',
    'big eq 5454161346626',
    'big eq 9223372036854775808L',
    'int eq 1.5L',
    'int eq 30x',
    'int eq 1.2.3',
    'int eq 0x1e',
    'int eq 5 add 3',
    'int add 5 eq 8',
    "time eq datetime'yesterday'",
    "time eq datetime'2008-13-01T00:00:00Z'",
    "time eq DateTime'2008-07-10T00:00:00Z'",
    "guid eq guid'c9da6455'",
    "bytes eq X'0'",
    "bytes eq X'zz'",
    "bytes eq base64'AA=='",
    'PartitionKey eq 3',
    'RowKey lt 5L',
    "RowKey eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'",
    "Timestamp gt '2026-01-01'",
    'Timestamp gt 0',
    "startswith(RowKey,'a')",
    "substringof('a',RowKey)",
    "tolower(RowKey) eq 'a'",
    'int eq 30;',
    '$int eq 30',
    'in-t eq 30',
    "and eq 'x'",
    'eq eq 5',
    repeated(501, 'or'),
    repeated(501, 'and'),
    nested(502),
    `${'not '.repeat(600)}yes`,
    `text eq '${'x'.repeat(33_000)}'`,
  ];
  for (const filter of malformed) {
    test(`${filter.slice(0, 60)}${filter.length > 60 ? ` ... (${filter.length})` : ''}`, () => {
      assert.equal(outcome(filter), 'InvalidInput');
    });
  }
});

describe('a large filter is taken', () => {
  test('with 500 comparisons', () => assert.equal(outcome(repeated(500, 'or')), 'yes'));
  test('500 deep', () => assert.equal(outcome(nested(500)), 'yes'));
  test('as clients nest them', () => {
    let filter = '(int eq 30)';
    for (let i = 0; i < 200; i++) filter = `(${filter} and (int ne ${i + 100}))`;
    assert.equal(outcome(filter), 'yes');
  });
});

test('the same text gives the same filter, and hundreds of others push it out', () => {
  const parse = (text: string) => {
    const parsed = parseFilter(text);
    return parsed.ok ? parsed.value : undefined;
  };
  const first = parse('int eq 1');
  assert.equal(parse('int eq 1'), first);
  for (let i = 0; i < 300; i++) parse(`other eq ${i}`);
  const again = parse('int eq 1');
  assert.notEqual(again, first);
  assert.deepEqual(again, first);
});
