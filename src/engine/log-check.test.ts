import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWhole } from '../base/files.js';
import { seededRandom } from '../base/random.js';
import type { DurableMark } from './durable-mark.js';
import { DamageError } from './errors.js';
import { readBatchHead } from './leveldb/batch.js';
import { batchOf, flipped, fragment, type MadeFiles, makeLevel, onDisk } from './leveldb/made.suite.js';
import { checkRecords, cutTornEnds } from './log-check.js';

const made = await makeLevel(
  [[['a', '1']], [['b', '2']]],
  [[['c', '3']]],
  [[['d', '4'.repeat(3000)]], [['e', '5'.repeat(100)]], [['f', '6'.repeat(400)]]],
);
const logName = [...made.keys()].find((name) => name.endsWith('.log')) as string;
const manifestName = [...made.keys()].find((name) => name.startsWith('MANIFEST')) as string;
const tableNames = [...made.keys()].filter((name) => name.endsWith('.ldb'));
const log = made.get(logName) as Buffer;
const whole: DurableMark = { logNumber: Number.parseInt(logName, 10), size: log.length };

/** Where the records of the log begin, and its end. */
const borders = await (async () => {
  const starts: number[] = [];
  await checkRecords(await onDisk(made), '/store', whole, (_, record) => starts.push(record.start));
  return [...starts, log.length];
})();
const lastStart = borders.at(-2) as number;

/** All of each header and of the numbers behind it, and some of the rest. */
const bitsOfLog = Array.from(log.keys())
  .filter((byte) => byte % 61 === 0 || borders.some((border) => border <= byte && byte < border + 24))
  .flatMap((byte) => [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => byte * 8 + bit));

function changed(name: string, content: Buffer | undefined): MadeFiles {
  const files = new Map(made);
  if (content === undefined) files.delete(name);
  else files.set(name, content);
  return files;
}

/** Which writes are read from the logs, and what is left of the files after torn ends were cut off. */
async function outcome(files: MadeFiles, mark?: DurableMark) {
  const disk = await onDisk(files);
  const sequences: number[] = [];
  const visit = (_: string, { payload }: { payload: Buffer }) =>
    sequences.push(readBatchHead(payload).sequence);
  const { tables, tornEnds } = await checkRecords(disk, '/store', mark, visit);
  await cutTornEnds(disk, tornEnds);
  const log = await readWhole(disk, `/store/${logName}`);
  return { sequences, tables: tables.map(({ path }) => path).sort(), logBytes: log?.length, disk };
}

const sound = await outcome(made, whole);

async function refuses(files: MadeFiles, mark: DurableMark | undefined, message: RegExp): Promise<void> {
  await assert.rejects(outcome(files, mark), (error) => {
    assert.ok(error instanceof DamageError, String(error));
    assert.match(error.message, message);
    assert.match(error.message, /Restore a backup/);
    return true;
  });
}

test('a sound store: its tables, and the writes that are in none', () => {
  assert.deepEqual(sound.sequences, [4, 5, 6]);
  assert.equal(sound.tables.length, 2);
  assert.equal(sound.logBytes, log.length);
});

test('every flipped bit in the log is found, and file and offset are named', async () => {
  for (const bit of bitsOfLog) {
    const start = borders.findLast((border) => border <= bit >> 3) as number;
    await refuses(changed(logName, flipped(log, bit)), whole, new RegExp(`${logName} at offset ${start}: `));
  }
});

test('without a mark every flipped bit before the last record is found, and in it looks like a torn end', async () => {
  for (const bit of bitsOfLog.filter((bit) => bit < lastStart * 8)) {
    await refuses(changed(logName, flipped(log, bit)), undefined, new RegExp(logName));
  }
  const { sequences, logBytes } = await outcome(changed(logName, flipped(log, log.length * 8 - 1)));
  assert.deepEqual(sequences, [4, 5]);
  assert.equal(logBytes, lastStart);
});

test('every flipped bit in CURRENT is found', async () => {
  const current = made.get('CURRENT') as Buffer;
  for (let bit = 0; bit < current.length * 8; bit++) {
    await refuses(changed('CURRENT', flipped(current, bit)), whole, /\/CURRENT: /);
  }
});

test('every flipped bit in the MANIFEST is found', async () => {
  const manifest = made.get(manifestName) as Buffer;
  for (let bit = 0; bit < manifest.length * 8; bit++) {
    await refuses(changed(manifestName, flipped(manifest, bit)), whole, new RegExp(manifestName));
  }
});

test('a log that was cut off anywhere in its last record is cut back to the one before', async () => {
  const mark = { ...whole, size: lastStart };
  for (let size = lastStart; size < log.length; size++) {
    const { sequences, logBytes } = await outcome(changed(logName, log.subarray(0, size)), mark);
    assert.deepEqual(sequences, [4, 5]);
    assert.equal(logBytes, lastStart);
  }
});

test('a log shorter than it was on disk is refused', async () => {
  for (const border of borders.slice(0, -1)) {
    await refuses(
      changed(logName, log.subarray(0, border)),
      whole,
      new RegExp(`${logName} at offset ${border}: it ends there, and ${log.length} bytes of it were on disk`),
    );
  }
});

test('whatever an unsynced write leaves behind the last synced one is a torn end', async () => {
  const random = seededRandom(5);
  const mark = { ...whole, size: lastStart };
  const tails: [string, Buffer][] = [
    ['zeros', Buffer.alloc(5000)],
    ['noise', Buffer.from(Array.from({ length: 5000 }, () => random() * 256))],
    ['what older writes left there', log.subarray(0, lastStart)],
  ];
  for (const [name, tail] of tails) {
    for (const shown of [mark, undefined]) {
      const files = changed(logName, Buffer.concat([log.subarray(0, lastStart), tail]));
      const { sequences, logBytes } = await outcome(files, shown);
      assert.deepEqual([name, ...sequences], [name, 4, 5]);
      assert.equal(logBytes, lastStart);
    }
  }
});

test('sectors of a long write that was never synced may be there in any order', async () => {
  const random = seededRandom(6);
  const long = await makeLevel([[['a', '1']], [['b', Array.from({ length: 200_000 }, () => 'x').join('')]]]);
  const name = [...long.keys()].find((name) => name.endsWith('.log')) as string;
  const content = long.get(name) as Buffer;
  for (let trial = 0; trial < 100; trial++) {
    const torn = Buffer.from(content);
    for (let sector = 512; sector < torn.length; sector += 512) {
      if (random() < 0.3) torn.fill(random() < 0.5 ? 0 : 0xe5, sector, Math.min(sector + 512, torn.length));
    }
    const sequences: number[] = [];
    const disk = await onDisk(new Map([...long, [name, torn]]));
    const { tornEnds } = await checkRecords(disk, '/store', undefined, (_, { payload }) =>
      sequences.push(readBatchHead(payload).sequence),
    );
    assert.deepEqual(sequences, [1]);
    assert.equal(tornEnds.length, 1);
  }
});

test('a hole in the log with a write behind it is damage, whatever it holds', async () => {
  const [, second = 0, third = 0] = borders;
  for (const filler of [0, 0xa5]) {
    const holed = Buffer.from(log).fill(filler, second, third);
    await refuses(
      changed(logName, holed),
      undefined,
      new RegExp(`${logName} at offset ${second}: .*goes on`),
    );
  }
  const without = Buffer.concat([log.subarray(0, second), log.subarray(third)]);
  await refuses(changed(logName, without), undefined, /write 5 is not there/);
});

test('a torn log may be followed by an empty one, and by no write', async () => {
  const later = `${String(whole.logNumber + 1).padStart(6, '0')}.log`;
  const torn = changed(logName, log.subarray(0, -3));
  const { sequences } = await outcome(new Map([...torn, [later, Buffer.alloc(0)]]));
  assert.deepEqual(sequences, [4, 5]);
  const write = fragment(1, batchOf(7, 'k', 'v'));
  await refuses(
    new Map([...torn, [later, write]]),
    undefined,
    new RegExp(`${logName} at offset ${lastStart}: the file ends in a record`),
  );
  const both = await outcome(new Map([...made, [later, write]]), whole);
  assert.deepEqual(both.sequences, [4, 5, 6, 7]);
});

test('a file that is missing or has another size is named', async () => {
  const [table = ''] = tableNames;
  const content = made.get(table) as Buffer;
  await refuses(changed(table, undefined), whole, new RegExp(`${table}: it is missing`));
  await refuses(
    changed(table, content.subarray(1)),
    whole,
    new RegExp(`${table}: it has .* bytes instead of`),
  );
  await refuses(changed(logName, undefined), whole, new RegExp(`${logName}: it is missing`));
  await refuses(changed(logName, undefined), undefined, new RegExp(`${logName}: it is missing`));
  await refuses(changed(manifestName, undefined), whole, /CURRENT: it names .*, which is not there/);
  await refuses(changed('CURRENT', undefined), whole, /CURRENT: it is missing, and the folder has held data/);
  await refuses(changed('CURRENT', undefined), undefined, /CURRENT: it is missing/);
});

test('a log with acknowledged writes that no table has is missed, one that became a table is not', async () => {
  await refuses(made, { logNumber: whole.logNumber + 4, size: 10 }, /it is missing, and held acknowledged/);
  await outcome(made, { logNumber: whole.logNumber - 1, size: 1e9 });
});

test('a folder that LevelDB has just begun, or that is empty or absent, is new', async () => {
  const begun: MadeFiles = new Map([
    ['MANIFEST-000001', Buffer.from('half')],
    ['LOCK', Buffer.alloc(0)],
    ['000001.dbtmp', Buffer.alloc(0)],
  ]);
  for (const files of [begun, new Map()]) assert.deepEqual((await outcome(files)).tables, []);
  assert.deepEqual(await checkRecords(await onDisk(new Map()), '/none', undefined), {
    tables: [],
    tornEnds: [],
  });
  await refuses(new Map(), whole, /the folder has held data/);
});

test('a MANIFEST with a torn end that replaced nothing yet is cut back', async () => {
  const manifest = made.get(manifestName) as Buffer;
  for (const tail of [
    Buffer.alloc(300),
    fragment(1, Buffer.alloc(80)).subarray(0, 50),
    Buffer.alloc(9, 0xee),
  ]) {
    const { disk, sequences } = await outcome(changed(manifestName, Buffer.concat([manifest, tail])), whole);
    assert.deepEqual(sequences, [4, 5, 6]);
    assert.deepEqual(await readWhole(disk, `/store/${manifestName}`), manifest);
  }
});
