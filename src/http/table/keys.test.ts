import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { continuationToken, entityPath, parseContinuationToken, parseEntityKey } from './keys.js';

const seed = 20260809;

describe('keys in a URL', () => {
  const read: [string, string, string][] = [
    ["PartitionKey='p',RowKey='r'", 'p', 'r'],
    ["PartitionKey='p', RowKey='r'", 'p', 'r'],
    ["RowKey='r',PartitionKey='p'", 'p', 'r'],
    ["PartitionKey='',RowKey=''", '', ''],
    ["PartitionKey='o''clock',RowKey=''''", "o'clock", "'"],
    ["PartitionKey='a,RowKey=''b''',RowKey='c)'", "a,RowKey='b'", 'c)'],
    ["PartitionKey='é 😀',RowKey='%20'", 'é 😀', '%20'],
  ];
  for (const [text, partitionKey, rowKey] of read) {
    test(text, () => {
      assert.deepEqual(parseEntityKey(text), { ok: true, value: { partitionKey, rowKey } });
    });
  }
  const refused = [
    '',
    "'p'",
    "PartitionKey='p'",
    "RowKey='r'",
    "partitionkey='p',rowkey='r'",
    "PartitionKey='p',RowKey='r',X='y'",
    "PartitionKey='p'RowKey='r'",
    "PartitionKey='p',PartitionKey='r'",
    "PartitionKey='it's',RowKey='r'",
    'PartitionKey="p",RowKey="r"',
    "PartitionKey='p',RowKey='r",
  ];
  for (const text of refused) {
    test(`refused: ${text}`, () => {
      assert.deepEqual(parseEntityKey(text), { ok: false, code: 'InvalidInput' });
    });
  }

  test('written, percent-encoded and with quotes doubled', () => {
    assert.equal(
      entityPath('T', { partitionKey: "o'clock", rowKey: 'a b/é' }),
      "T(PartitionKey='o''clock',RowKey='a%20b%2F%C3%A9')",
    );
    assert.equal(
      entityPath('T', { partitionKey: '\ud800', rowKey: '' }),
      "T(PartitionKey='%EF%BF%BD',RowKey='')",
    );
  });

  test(`written, decoded and read again (seed ${seed})`, () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, text, (partitionKey, rowKey) => {
        const path = decodeURIComponent(entityPath('T', { partitionKey, rowKey }));
        assert.deepEqual(parseEntityKey(path.slice(2, -1)), { ok: true, value: { partitionKey, rowKey } });
      }),
      { seed },
    );
  });
});

describe('continuation tokens', () => {
  test('as the service writes them', () => {
    assert.equal(continuationToken('Smith'), '1!8!U21pdGg-');
    assert.equal(continuationToken(''), '1!0!');
    assert.deepEqual(parseContinuationToken('1!8!U21pdGg-'), { ok: true, value: 'Smith' });
  });

  test(`every key comes back, half surrogate pairs too (seed ${seed})`, () => {
    const text = fc
      .array(fc.constantFrom('a', 'é', '😀', '\ud800', '\udc00', '\0', '\ufeff'))
      .map((list) => list.join(''));
    fc.assert(
      fc.property(text, (key) => {
        assert.deepEqual(parseContinuationToken(continuationToken(key)), { ok: true, value: key });
      }),
      { seed },
    );
  });

  for (const text of [
    '',
    'Smith',
    '1!8',
    '1!7!U21pdGg-',
    '3!8!U21pdGg-',
    '1!8!U21pdGg=',
    '1!2!!!',
    '1!4!/4CA',
    '1!-1!a',
  ]) {
    test(`refused: ${text}`, () => {
      assert.deepEqual(parseContinuationToken(text), { ok: false, code: 'InvalidInput' });
    });
  }
});
