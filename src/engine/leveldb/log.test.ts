import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBatchAfter, readBatch, readBatchHead } from './batch.js';
import { MalformedError } from './cursor.js';
import { laterRecord, readLog } from './log.js';
import { batchOf, fragment, makeLevel } from './made.suite.js';

function read(content: Buffer) {
  const records: { start: number; end: number; payload: Buffer }[] = [];
  const end = readLog(content, (record) => {
    records.push(record);
    return undefined;
  });
  return { records, end };
}

test('a log that LevelDB wrote, with records over several blocks, is read as it was written', async () => {
  const values = ['small', 'b'.repeat(40_000), 'c'.repeat(32_768 - 7), 'd'.repeat(200_000), ''];
  const files = await makeLevel(values.map((value, index) => [[`key ${index}`, value] as const]));
  const log = files.get('000003.log');
  assert.ok(log);
  const { records, end } = read(log);
  assert.deepEqual(end, { kind: 'whole' });
  const found: [string, string | undefined][] = [];
  records.forEach(({ payload }, index) => {
    assert.deepEqual(readBatchHead(payload), { sequence: index + 1, count: 1 });
    readBatch(payload, ({ key, value }) => found.push([key.toString(), value?.toString()]));
  });
  assert.deepEqual(
    found,
    values.map((value, index) => [`key ${index}`, value]),
  );
});

test('puts and removals of one batch', async () => {
  const files = await makeLevel([
    [
      ['a', '1'],
      ['b', undefined],
      ['c', '3'],
    ],
  ]);
  const found: (string | undefined)[] = [];
  for (const { payload } of read(files.get('000003.log') ?? Buffer.alloc(0)).records) {
    readBatch(payload, ({ key, value }) => found.push(key.toString(), value?.toString()));
  }
  assert.deepEqual(found, ['a', '1', 'b', undefined, 'c', '3']);
});

const one = batchOf(1, 'a', '1');
const two = batchOf(2, 'b', '2');
const [whole, next] = [fragment(1, one), fragment(1, two)];

// What a log may look like, and where and why it cannot be read further.
const ends: [string, Buffer[], number | 'whole', RegExp?][] = [
  ['nothing', [], 'whole'],
  ['two records', [whole, next], 'whole'],
  ['a record in three pieces', [fragment(2, one), fragment(3, two), fragment(4, one)], 'whole'],
  ['half a header', [whole, next.subarray(0, 5)], whole.length, /ends in a record/],
  ['half a record', [whole, next.subarray(0, 20)], whole.length, /ends in a record/],
  ['zeros', [whole, Buffer.alloc(4096)], whole.length, /zeros/],
  ['an unknown type', [whole, fragment(5, two)], whole.length, /unknown type/],
  ['a length beyond its block', [whole, fragment(1, Buffer.alloc(40_000))], whole.length, /too long/],
  ['a middle without a beginning', [whole, fragment(3, two)], whole.length, /in its middle/],
  ['a beginning without an end', [whole, fragment(2, two)], whole.length, /ends in a record/],
  ['a record inside another', [fragment(2, two), whole], 0, /has no end/],
];

for (const [name, pieces, offset, reason] of ends) {
  test(`a log that ends in ${name}`, () => {
    const { end } = read(Buffer.concat(pieces));
    if (offset === 'whole') assert.deepEqual(end, { kind: 'whole' });
    else {
      assert.ok(end.kind === 'broken');
      assert.equal(end.offset, offset);
      assert.match(end.reason, reason ?? /./);
    }
  });
}

test('a later record is found wherever it begins, a piece of one is not', () => {
  const after = (bytes: Buffer) => isBatchAfter(1, bytes);
  for (const hole of [1, 7, 100, 513, 5000]) {
    const content = Buffer.concat([whole, Buffer.alloc(hole, 0xa5), next]);
    assert.equal(laterRecord(content, whole.length, after), whole.length + hole);
  }
  const pieces = Buffer.concat([whole, Buffer.alloc(50), fragment(3, two), fragment(4, two)]);
  assert.equal(laterRecord(pieces, whole.length, after), undefined);
});

test('a record of an older log inside a value is not taken for a later one', () => {
  const old = fragment(1, batchOf(7, 'old', 'record'));
  const torn = fragment(1, Buffer.concat([batchOf(1001, 'k', 'v'), old])).subarray(0, -1);
  const content = Buffer.concat([fragment(1, batchOf(1000, 'a', 'b')), torn]);
  const start = content.length - torn.length;
  assert.equal(
    laterRecord(content, start, (bytes) => isBatchAfter(1000, bytes)),
    undefined,
  );
});

test('a batch that does not hold what it says is malformed', () => {
  const wrongCount = Buffer.from(one);
  wrongCount.writeUInt32LE(2, 8);
  for (const bad of [one.subarray(0, 5), one.subarray(0, -1), wrongCount, Buffer.concat([one, one])]) {
    assert.throws(() => readBatch(bad, () => {}), MalformedError);
  }
});
