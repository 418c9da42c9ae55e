import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ErrorCode } from '../../services/common/errors.js';
import type { EdmValue } from '../../services/table/edm.js';
import type { Entity, Property } from '../../services/table/entity.js';
import { readInsert, readTableName, readUpdate } from './entity-reader.js';
import { entitiesJson, entityJson, type JsonContext, tableJson, tablesJson } from './json.js';

const seed = 20260810;

function property(json: string): EdmValue | ErrorCode | undefined {
  const read = readInsert(Buffer.from(`{"PartitionKey":"p","RowKey":"r",${json}}`));
  return read.ok ? read.value.properties[0]?.[1] : read.code;
}

describe('a property as it is sent', () => {
  const binary: EdmValue = { type: 'Edm.Binary', value: new Uint8Array([0, 255]) };
  const guid: EdmValue = { type: 'Edm.Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' };
  const time: EdmValue = { type: 'Edm.DateTime', value: '2013-08-22T01:12:06.2608595Z' };
  const cases: [string, EdmValue | ErrorCode | undefined][] = [
    ['"a":"text"', { type: 'Edm.String', value: 'text' }],
    ['"a":""', { type: 'Edm.String', value: '' }],
    ['"a":"\\u00e9\\n\\"\\\\"', { type: 'Edm.String', value: 'é\n"\\' }],
    ['"a":"\\ud800"', { type: 'Edm.String', value: '\ud800' }],
    ['"a":"x","a@odata.type":"Edm.String"', { type: 'Edm.String', value: 'x' }],
    ['"a":true', { type: 'Edm.Boolean', value: true }],
    ['"a":"False","a@odata.type":"Edm.Boolean"', { type: 'Edm.Boolean', value: false }],
    ['"a":30', { type: 'Edm.Int32', value: 30 }],
    ['"a":-2147483648', { type: 'Edm.Int32', value: -2147483648 }],
    ['"a":"30","a@odata.type":"Edm.Int32"', { type: 'Edm.Int32', value: 30 }],
    ['"a":2147483648', { type: 'Edm.Double', value: 2147483648 }],
    ['"a":5454161346626', { type: 'Edm.Double', value: 5454161346626 }],
    ['"a":3.0', { type: 'Edm.Double', value: 3 }],
    ['"a":1.5e3', { type: 'Edm.Double', value: 1500 }],
    ['"a":1E3', { type: 'Edm.Double', value: 1000 }],
    ['"a":-0.0', { type: 'Edm.Double', value: 0 }],
    ['"a":3,"a@odata.type":"Edm.Double"', { type: 'Edm.Double', value: 3 }],
    ['"a":"1.5","a@odata.type":"Edm.Double"', { type: 'Edm.Double', value: 1.5 }],
    ['"a":"NaN","a@odata.type":"Edm.Double"', { type: 'Edm.Double', value: Number.NaN }],
    ['"a":"-Infinity","a@odata.type":"Edm.Double"', { type: 'Edm.Double', value: Number.NEGATIVE_INFINITY }],
    ['"a":"5","a@odata.type":"Edm.Int64"', { type: 'Edm.Int64', value: 5n }],
    ['"a@odata.type":"Edm.Int64","a":"9223372036854775807"', { type: 'Edm.Int64', value: 2n ** 63n - 1n }],
    ['"a":5,"a@odata.type":"Edm.Int64"', { type: 'Edm.Int64', value: 5n }],
    ['"a":"2013-08-22T01:12:06.2608595Z","a@odata.type":"Edm.DateTime"', time],
    ['"a":"2013-08-22T03:12:06.2608595+02:00","a@odata.type":"Edm.DateTime"', time],
    ['"a":"C9DA6455-213D-42C9-9A79-3E9149A57833","a@odata.type":"Edm.Guid"', guid],
    ['"a":"AP8=","a@odata.type":"Edm.Binary"', binary],
    ['"a":null', undefined],
    ['"a":null,"a@odata.type":"Edm.Int64"', undefined],
    ['"Timestamp":"whatever"', undefined],
    ['"odata.etag":"x","odata.type":5,"odata.metadata":null', undefined],
    ['"a@odata.type":"Edm.Int64"', undefined],
    ['"a@odata.other":"x"', undefined],
    ['"a":5,"a@odata.type":"Edm.String"', 'InvalidInput'],
    ['"a":true,"a@odata.type":"Edm.Int32"', 'InvalidInput'],
    ['"a":"x","a@odata.type":"Edm.Boolean"', 'InvalidInput'],
    ['"a":"constructor","a@odata.type":"Edm.Boolean"', 'InvalidInput'],
    ['"a":1,"a@odata.type":"Edm.Boolean"', 'InvalidInput'],
    ['"a":2147483648,"a@odata.type":"Edm.Int32"', 'InvalidInput'],
    ['"a":1.5,"a@odata.type":"Edm.Int32"', 'InvalidInput'],
    ['"a":"9223372036854775808","a@odata.type":"Edm.Int64"', 'InvalidInput'],
    ['"a":"1.5","a@odata.type":"Edm.Int64"', 'InvalidInput'],
    ['"a":1e999', 'InvalidInput'],
    ['"a":1e999,"a@odata.type":"Edm.Double"', 'InvalidInput'],
    ['"a":"yesterday","a@odata.type":"Edm.DateTime"', 'InvalidInput'],
    ['"a":5,"a@odata.type":"Edm.DateTime"', 'InvalidInput'],
    ['"a":"x","a@odata.type":"Edm.Guid"', 'InvalidInput'],
    ['"a":"?","a@odata.type":"Edm.Binary"', 'InvalidInput'],
    ['"a":"x","a@odata.type":"Edm.Decimal"', 'InvalidInput'],
    ['"a":"x","a@odata.type":"constructor"', 'InvalidInput'],
    ['"a":"x","a@odata.type":5', 'InvalidInput'],
    ['"a":null,"a@odata.type":"Edm.Decimal"', 'InvalidInput'],
    ['"a":[1]', 'InvalidInput'],
    ['"a":{}', 'InvalidInput'],
    ['"a":1,"a":2', 'DuplicatePropertiesSpecified'],
    ['"a":1,"a":null', 'DuplicatePropertiesSpecified'],
    ['"a":1,"a@odata.type":"Edm.Int32","a@odata.type":"Edm.Int32"', 'DuplicatePropertiesSpecified'],
    ['"RowKey":"s"', 'DuplicatePropertiesSpecified'],
  ];
  for (const [json, expected] of cases) test(json, () => assert.deepEqual(property(json), expected));

  test('a and A are two properties; __proto__ is one as well', () => {
    const read = readInsert(Buffer.from('{"PartitionKey":"p","RowKey":"r","a":1,"A":2,"__proto__":3}'));
    assert.ok(read.ok);
    assert.deepEqual(
      read.value.properties.map(([name]) => name),
      ['a', 'A', '__proto__'],
    );
  });
});

describe('a body', () => {
  const malformed = [
    '',
    ' ',
    '{',
    '}',
    '[]',
    '"x"',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1 "b":2}',
    '{a:1}',
    "{'a':1}",
  ];
  const more = [
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":tru}',
    '{"a":"x}',
    '{"a":"\\x"}',
    '{"a":"\n"}',
    '{"a":1}x',
    '{"a":NaN}',
  ];
  for (const text of [...malformed, ...more]) {
    test(`cannot be ${JSON.stringify(text)}`, () => {
      assert.deepEqual(readInsert(Buffer.from(text)), { ok: false, code: 'InvalidInput' });
    });
  }

  test('cannot be other than UTF-8, and has at most 2048 members', () => {
    assert.equal(readInsert(Buffer.from('{"a":"\xff"}', 'latin1')).ok, false);
    const members = Array.from({ length: 2049 }, (_, i) => `"m${i}":1`).join(',');
    assert.deepEqual(readInsert(Buffer.from(`{${members}}`)), { ok: false, code: 'InvalidInput' });
  });

  test('may have blanks, a mark of byte order, and end in backslashes', () => {
    const read = readInsert(Buffer.from('\ufeff\r\n { "PartitionKey" : "p\\\\" ,\t"RowKey":"\\\\\\"" } \n'));
    assert.deepEqual(read, { ok: true, value: { partitionKey: 'p\\', rowKey: '\\"', properties: [] } });
  });

  test('of an insert needs both keys, as texts', () => {
    const outcome = (text: string) => {
      const read = readInsert(Buffer.from(text));
      return read.ok ? 'ok' : read.code;
    };
    assert.equal(outcome('{}'), 'PropertiesNeedValue');
    assert.equal(outcome('{"PartitionKey":"p"}'), 'PropertiesNeedValue');
    assert.equal(outcome('{"PartitionKey":"p","RowKey":null}'), 'PropertiesNeedValue');
    assert.equal(outcome('{"PartitionKey":"p","RowKey":5}'), 'InvalidInput');
    assert.equal(outcome('{"PartitionKey":"","RowKey":""}'), 'ok');
  });

  test('of an update has the keys of the URL or none', () => {
    const key = { partitionKey: 'p', rowKey: 'r' };
    const outcome = (text: string) => readUpdate(Buffer.from(text), key);
    const expected = { ok: true, value: { ...key, properties: [['a', { type: 'Edm.Int32', value: 1 }]] } };
    assert.deepEqual(outcome('{"a":1}'), expected);
    assert.deepEqual(outcome('{"PartitionKey":"p","RowKey":"r","a":1}'), expected);
    assert.deepEqual(outcome('{"PartitionKey":"q","a":1}'), { ok: false, code: 'InvalidInput' });
  });

  test('of Create Table', () => {
    assert.deepEqual(readTableName(Buffer.from('{"TableName":"abc"}')), { ok: true, value: 'abc' });
    assert.deepEqual(readTableName(Buffer.from('{"odata.x":1,"TableName":"abc"}')), {
      ok: true,
      value: 'abc',
    });
    assert.deepEqual(readTableName(Buffer.from('{}')), { ok: false, code: 'PropertiesNeedValue' });
    assert.deepEqual(readTableName(Buffer.from('{"TableName":5}')), { ok: false, code: 'InvalidInput' });
    assert.deepEqual(readTableName(Buffer.from('{"TableName":"a","TableName":"b"}')), {
      ok: false,
      code: 'DuplicatePropertiesSpecified',
    });
  });
});

const properties: Property[] = [
  ['s', { type: 'Edm.String', value: 'é"' }],
  ['b', { type: 'Edm.Boolean', value: false }],
  ['i', { type: 'Edm.Int32', value: -5 }],
  ['l', { type: 'Edm.Int64', value: 2n ** 62n }],
  ['d', { type: 'Edm.Double', value: 3 }],
  ['e', { type: 'Edm.Double', value: 1e21 }],
  ['n', { type: 'Edm.Double', value: Number.NaN }],
  ['t', { type: 'Edm.DateTime', value: '2017-11-10T02:43:35.0000000Z' }],
  ['g', { type: 'Edm.Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' }],
  ['x', { type: 'Edm.Binary', value: new Uint8Array([0, 255]) }],
];
const entity: Entity = {
  partitionKey: "o'clock",
  rowKey: 'a b',
  stamp: Date.UTC(2017, 10, 10, 2, 43, 36) * 1000 + 275_490,
  properties,
};
const context = (level: JsonContext['level'], select?: string): JsonContext => ({
  endpoint: 'http://127.0.0.1:10002/devstoreaccount1',
  account: 'devstoreaccount1',
  level,
  select,
});

describe('an entity as it is told', () => {
  const system = `"PartitionKey":"o'clock","RowKey":"a b",`;
  const timestamp = `"Timestamp":"2017-11-10T02:43:36.27549Z"`;
  const etag = `"odata.etag":"W/\\"datetime'2017-11-10T02%3A43%3A36.27549Z'\\""`;
  const typed =
    `"s":"é\\"","b":false,"i":-5,"l@odata.type":"Edm.Int64","l":"4611686018427387904","d":3.0,"e":1e+21,` +
    `"n@odata.type":"Edm.Double","n":"NaN","t@odata.type":"Edm.DateTime","t":"2017-11-10T02:43:35Z",` +
    `"g@odata.type":"Edm.Guid","g":"c9da6455-213d-42c9-9a79-3e9149a57833",` +
    `"x@odata.type":"Edm.Binary","x":"AP8="`;
  const untyped = typed.replaceAll(/"\w@odata.type":"[\w.]+",/g, '');
  const base = 'http://127.0.0.1:10002/devstoreaccount1';

  test('without metadata', () => {
    assert.equal(entityJson(entity, 'T', context('nometadata')), `{${system}${timestamp},${untyped}}`);
  });

  test('with minimal metadata', () => {
    assert.equal(
      entityJson(entity, 'T', context('minimalmetadata')),
      `{"odata.metadata":"${base}/$metadata#T/@Element",${etag},${system}${timestamp},${typed}}`,
    );
  });

  test('with full metadata', () => {
    const path = `T(PartitionKey='o''clock',RowKey='a%20b')`;
    assert.equal(
      entityJson(entity, 'T', context('fullmetadata')),
      `{"odata.metadata":"${base}/$metadata#T/@Element","odata.type":"devstoreaccount1.T",` +
        `"odata.id":"${base}/${path}",${etag},"odata.editLink":"${path}",` +
        `${system}"Timestamp@odata.type":"Edm.DateTime",${timestamp},${typed}}`,
    );
  });

  test('in a set', () => {
    assert.equal(
      entitiesJson([entity, entity], 'T', context('nometadata')),
      `{"value":[${Array(2).fill(`{${system}${timestamp},${untyped}}`).join(',')}]}`,
    );
    assert.equal(
      entitiesJson([], 'T', context('minimalmetadata')),
      `{"odata.metadata":"${base}/$metadata#T","value":[]}`,
    );
  });

  const selections: [string, string][] = [
    ['i', '"i":-5'],
    ['i,missing', '"i":-5,"missing":null'],
    [' i , l ', '"i":-5,"l@odata.type":"Edm.Int64","l":"4611686018427387904"'],
    ['i,Timestamp,PartitionKey', `"PartitionKey":"o'clock",${timestamp},"i":-5`],
    ['i,i', '"i":-5'],
    ['', `${system}${timestamp},${typed}`],
    ['*', `${system}${timestamp},${typed}`],
  ];
  for (const [select, members] of selections) {
    test(`with $select=${select}`, () => {
      assert.equal(
        entityJson(entity, 'T', context('minimalmetadata', select)),
        `{"odata.metadata":"${base}/$metadata#T/@Element&$select=${select}",${etag},${members}}`,
      );
    });
  }

  test('tables', () => {
    const metadata = `"odata.metadata":"${base}/$metadata#Tables`;
    assert.equal(tableJson('T', context('nometadata')), '{"TableName":"T"}');
    assert.equal(tableJson('T', context('minimalmetadata')), `{${metadata}/@Element","TableName":"T"}`);
    assert.equal(
      tablesJson(['A', 'B'], context('minimalmetadata')),
      `{${metadata}","value":[{"TableName":"A"},{"TableName":"B"}]}`,
    );
    assert.equal(
      tablesJson(['A'], context('fullmetadata')),
      `{${metadata}","value":[{"odata.type":"devstoreaccount1.Tables","odata.id":"${base}/Tables('A')",` +
        `"odata.editLink":"Tables('A')","TableName":"A"}]}`,
    );
  });

  test(`what is told can be sent again and is the same (seed ${seed})`, () => {
    const text = fc
      .array(fc.constantFrom('a', '"', '\\', 'é', '😀', '\ud800', '\n', '\u2028'))
      .map((list) => list.join(''));
    const value: fc.Arbitrary<EdmValue> = fc.oneof(
      text.map((value): EdmValue => ({ type: 'Edm.String', value })),
      fc.boolean().map((value): EdmValue => ({ type: 'Edm.Boolean', value })),
      fc.integer().map((value): EdmValue => ({ type: 'Edm.Int32', value })),
      fc
        .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        .map((value): EdmValue => ({ type: 'Edm.Int64', value })),
      fc.double().map((value): EdmValue => ({ type: 'Edm.Double', value: value + 0 })),
      fc
        .date({ min: new Date('1601-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((date): EdmValue => ({ type: 'Edm.DateTime', value: date.toISOString().replace('Z', '1230Z') })),
      fc.uuid().map((value): EdmValue => ({ type: 'Edm.Guid', value })),
      fc.uint8Array().map((bytes): EdmValue => ({ type: 'Edm.Binary', value: new Uint8Array(bytes) })),
    );
    fc.assert(
      fc.property(
        text,
        text,
        fc.dictionary(fc.stringMatching(/^[A-Z]\w{0,5}$/), value),
        (partitionKey, rowKey, values) => {
          const sent = { partitionKey, rowKey, properties: Object.entries(values) };
          for (const level of ['minimalmetadata', 'fullmetadata'] as const) {
            const told = entityJson({ ...sent, stamp: 1 }, 'T', context(level));
            assert.deepEqual(readInsert(Buffer.from(told)), { ok: true, value: sent });
            JSON.parse(told);
          }
        },
      ),
      { seed, numRuns: 500 },
    );
  });
});
