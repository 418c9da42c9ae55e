import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import type { ErrorCode } from '../common/errors.js';
import type { EdmValue } from './edm.js';
import {
  checkEntity,
  checkKey,
  type Entity,
  type EntityInput,
  entityBytes,
  entityEtag,
  limits,
  matchesStamp,
  mergeProperties,
  type Property,
  parseMatch,
  propertyOf,
  timestampOf,
} from './entity.js';
import { entityCodec } from './entity-codec.js';

const text = (value: string): EdmValue => ({ type: 'Edm.String', value });
const entity = (properties: readonly Property[], partitionKey = 'p', rowKey = 'r'): EntityInput => ({
  partitionKey,
  rowKey,
  properties,
});
const outcome = (input: EntityInput): ErrorCode | 'ok' => {
  const result = checkEntity(input);
  return result.ok ? 'ok' : result.code;
};
const many = (count: number): Property[] => Array.from({ length: count }, (_, i) => [`p${i}`, text('')]);

describe('the limits of an entity', () => {
  const cases: [string, EntityInput, ErrorCode | 'ok'][] = [
    ['empty keys', entity([], '', ''), 'ok'],
    ['keys of 1024 characters', entity([], 'p'.repeat(1024), 'r'.repeat(1024)), 'ok'],
    ['a partition key of 1025', entity([], 'p'.repeat(1025)), 'KeyValueTooLarge'],
    ['a row key of 1025', entity([], 'p', 'r'.repeat(1025)), 'KeyValueTooLarge'],
    ['252 properties', entity(many(252)), 'ok'],
    ['253 properties', entity(many(253)), 'TooManyProperties'],
    ['a name of 255 characters', entity([['n'.repeat(255), text('')]]), 'ok'],
    ['a name of 256 characters', entity([['n'.repeat(256), text('')]]), 'PropertyNameTooLong'],
    ['a text of 32 K characters', entity([['a', text('x'.repeat(32_768))]]), 'ok'],
    ['a text of one more', entity([['a', text('x'.repeat(32_769))]]), 'PropertyValueTooLarge'],
    ['64 KiB of bytes', entity([['a', { type: 'Edm.Binary', value: new Uint8Array(65_536) }]]), 'ok'],
    [
      'one more',
      entity([['a', { type: 'Edm.Binary', value: new Uint8Array(65_537) }]]),
      'PropertyValueTooLarge',
    ],
    ['the year 1601', entity([['a', { type: 'Edm.DateTime', value: '1601-01-01T00:00:00.0000000Z' }]]), 'ok'],
    [
      'before',
      entity([['a', { type: 'Edm.DateTime', value: '1600-12-31T23:59:59.9999999Z' }]]),
      'OutOfRangeInput',
    ],
  ];
  for (const [name, input, expected] of cases) test(name, () => assert.equal(outcome(input), expected));

  test('1 MiB and not a byte more', () => {
    const filler = Array.from({ length: 15 }, (_, i): Property => [`f${i}`, text('x'.repeat(32_768))]);
    const rest =
      limits.entityBytes - entityBytes(entity(filler)) - entityBytes(entity([['last', text('')]])) + 8;
    const last = (length: number) => entity([...filler, ['last', text('x'.repeat(length))]]);
    assert.equal(entityBytes(last(rest / 2)), limits.entityBytes);
    assert.equal(outcome(last(rest / 2)), 'ok');
    assert.equal(outcome(last(rest / 2 + 1)), 'EntityTooLarge');
  });

  for (const name of ['a', '_', '_a1', 'größe', 'Ⅷ', 'a_b', 'A\u0301', 'PartitionKey2']) {
    test(`a property can be named ${name}`, () => assert.equal(outcome(entity([[name, text('')]])), 'ok'));
  }
  for (const name of ['', '1a', 'a-b', 'a.b', 'a b', 'a:b', 'a@b', "a'", '$a', 'a\0', '😀']) {
    test(`a property cannot be named '${name}'`, () => {
      assert.equal(outcome(entity([[name, text('')]])), 'PropertyNameInvalid');
    });
  }
  for (const character of ['/', '\\', '#', '?', '\0', '\x1f', '\x7f', '\x9f', '\t', '\n']) {
    test(`a key cannot hold ${JSON.stringify(character)}`, () => {
      for (const key of [
        { partitionKey: `a${character}`, rowKey: 'r' },
        { partitionKey: 'p', rowKey: `${character}a` },
      ]) {
        assert.deepEqual(checkKey(key), { ok: false, code: 'OutOfRangeInput' });
      }
    });
  }
  for (const character of [' ', "'", '"', '%', '+', '\u00a0', 'é', '😀', '\ud800']) {
    test(`a key can hold ${JSON.stringify(character)}`, () => {
      assert.equal(checkKey({ partitionKey: character, rowKey: character }).ok, true);
    });
  }
});

test('a merge overwrites in place, adds at the end and removes nothing', () => {
  const stored: Property[] = [
    ['a', text('1')],
    ['b', text('2')],
    ['c', text('3')],
  ];
  const sent: Property[] = [
    ['d', text('4')],
    ['b', { type: 'Edm.Int32', value: 5 }],
  ];
  assert.deepEqual(mergeProperties(stored, sent), [
    ['a', text('1')],
    ['b', { type: 'Edm.Int32', value: 5 }],
    ['c', text('3')],
    ['d', text('4')],
  ]);
  assert.deepEqual(mergeProperties(stored, []), stored);
});

const stamp = Date.UTC(2017, 10, 10, 2, 43, 36) * 1000 + 275_490;
const stored: Entity = { ...entity([['a', text('x')]]), stamp };

test('properties of the system are properties', () => {
  assert.deepEqual(propertyOf(stored, 'PartitionKey'), text('p'));
  assert.deepEqual(propertyOf(stored, 'RowKey'), text('r'));
  assert.deepEqual(propertyOf(stored, 'Timestamp'), {
    type: 'Edm.DateTime',
    value: '2017-11-10T02:43:36.2754900Z',
  });
  assert.deepEqual(propertyOf(stored, 'a'), text('x'));
  assert.equal(propertyOf(stored, 'A'), undefined);
  assert.equal(propertyOf(stored, 'toString'), undefined);
});

test('Timestamp and ETag are of the same moment', () => {
  assert.equal(timestampOf(stamp), '2017-11-10T02:43:36.27549Z');
  assert.equal(entityEtag(stamp), `W/"datetime'2017-11-10T02%3A43%3A36.27549Z'"`);
});

const matching = `
  header                                          is
  *                                               match
  W/"datetime'2017-11-10T02%3A43%3A36.27549Z'"    match
  W/"datetime'2017-11-10T02%3a43%3a36.27549Z'"    match
  W/"datetime'2017-11-10T02:43:36.27549Z'"        match
  W/"datetime'2017-11-10T02%3A43%3A36.27548Z'"    other
  W/"wrong"                                       other
  W/""                                            other
  "datetime'2017-11-10T02%3A43%3A36.27549Z'"      InvalidInput
  test                                            InvalidInput
  0x22                                            InvalidInput
  W/"a", W/"b"                                    InvalidInput
  W/wrong                                         InvalidInput
  "*"                                             InvalidInput
`;
for (const { header = '', is } of rows(matching)) {
  test(`If-Match: ${header} is ${is}`, () => {
    const match = parseMatch(header);
    assert.equal(match.ok ? (matchesStamp(match.value, stamp) ? 'match' : 'other') : match.code, is);
  });
}

test('the store gives an entity back as it was', () => {
  const properties: Property[] = [
    ['s', text('é')],
    ['b', { type: 'Edm.Boolean', value: false }],
    ['i', { type: 'Edm.Int32', value: -5 }],
    ['l', { type: 'Edm.Int64', value: 2n ** 62n }],
    ['d', { type: 'Edm.Double', value: 3 }],
    ['nan', { type: 'Edm.Double', value: Number.NaN }],
    ['t', { type: 'Edm.DateTime', value: '2017-11-10T02:43:36.2754900Z' }],
    ['g', { type: 'Edm.Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' }],
    ['x', { type: 'Edm.Binary', value: new Uint8Array([0, 255]) }],
    ['half', text('\ud800')],
  ];
  assert.deepEqual(entityCodec.decode(entityCodec.encode({ stamp, properties })), { stamp, properties });
});
