import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../base/random.js';
import { MalformedError } from './cursor.js';
import { flipped, makeLevel } from './made.suite.js';
import { unsnappy } from './snappy.js';
import { checkDataBlocks, checkFrame, type ReadAt, tableEntries, userKey } from './table.js';

const reader =
  (content: Buffer): ReadAt =>
  (offset, length) =>
    content.subarray(offset, offset + length);

function check(content: Buffer): void {
  const frame = checkFrame(reader(content), content.length);
  for (const _ of checkDataBlocks(reader(content), content.length, frame));
}

async function madeTable(rows: (readonly [string, string])[]): Promise<Buffer> {
  const files = await makeLevel(
    rows.map((row) => [row]),
    [],
  );
  const content = files.get([...files.keys()].find((name) => name.endsWith('.ldb')) ?? '');
  assert.ok(content);
  return content;
}

const random = seededRandom(3);
const rows = Array.from({ length: 400 }, (_, index) => {
  const value = index % 3 === 0 ? 'the same again and again '.repeat(20) : `${random()}${random()}`;
  return [`key ${String(index).padStart(4, '0')}`, value] as const;
});

test('a table that LevelDB wrote, packed blocks and others, gives what was written', async () => {
  const large = [...rows, ['large', 'x'.repeat(300_000)] as const];
  const content = await madeTable(large);
  check(content);
  const frame = checkFrame(reader(content), content.length);
  assert.ok(frame.dataBlocks.length > 5);
  const found = [...tableEntries(reader(content), content.length, frame)].map(
    ({ internalKey, value }) => [userKey(internalKey).toString(), value.toString()] as const,
  );
  assert.deepEqual(found, large);
});

test('every flipped bit in a table is found', async () => {
  const content = await madeTable(rows.slice(0, 20));
  assert.ok(content.length > 300 && content.length < 4000);
  for (let bit = 0; bit < content.length * 8; bit++) {
    assert.throws(() => check(flipped(content, bit)), MalformedError, `bit ${bit}`);
  }
});

test('a table that is cut off or grown anywhere is found', async () => {
  const content = await madeTable(rows.slice(0, 20));
  for (let size = 0; size < content.length; size++) {
    assert.throws(() => check(content.subarray(0, size)), MalformedError);
  }
  assert.throws(() => check(Buffer.concat([content, Buffer.alloc(1)])), MalformedError);
  assert.throws(() => check(Buffer.concat([content, content])), MalformedError);
});

test('snappy: literals and copies, near, far and overlapping', () => {
  const cases: [number[], string][] = [
    [[0], ''],
    [[3, 0x08, 97, 98, 99], 'abc'],
    [[9, 0x08, 97, 98, 99, 0x09, 3], 'abcabcabc'],
    [[8, 0x08, 97, 98, 99, 0x12, 3, 0], 'abcabcab'],
    [[5, 0x00, 97, 0x0f, 1, 0, 0, 0], 'aaaaa'],
    [[3, 0xf0, 2, 97, 98, 99], 'abc'],
  ];
  for (const [packed, text] of cases) assert.equal(unsnappy(Buffer.from(packed)).toString(), text);
});

test('snappy: no input but a good one gives an answer or anything but a MalformedError', () => {
  for (let trial = 0; trial < 5_000; trial++) {
    const packed = Buffer.from(Array.from({ length: random() * 12 }, () => random() * 256));
    try {
      unsnappy(packed);
    } catch (error) {
      assert.ok(error instanceof MalformedError, `${packed.toString('hex')}: ${error}`);
    }
  }
});
