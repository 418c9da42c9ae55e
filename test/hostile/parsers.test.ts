// Every parser of what comes from outside or from the disk, with input that was right and was spoilt, and with input
// that goes on for ever: it gives a value or refuses by an error that it is known for, and takes its time with neither.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DamageError } from '#src/base/errors.js';
import { parseHttpDate, parseIsoTime } from '#src/base/times.js';
import { defaultCodec } from '#src/collections/codec.js';
import { decodeMark, encodeMark } from '#src/engine/durable-mark.js';
import { decodeKey, encodeKey, utf16 } from '#src/engine/keys.js';
import { readBatch, readBatchHead } from '#src/engine/leveldb/batch.js';
import { MalformedError } from '#src/engine/leveldb/cursor.js';
import { readLog } from '#src/engine/leveldb/log.js';
import { batchOf, fragment, makeLevel } from '#src/engine/leveldb/made.suite.js';
import { ManifestReader } from '#src/engine/leveldb/manifest.js';
import { unsnappy } from '#src/engine/leveldb/snappy.js';
import { checkDataBlocks, checkFrame, tableEntries } from '#src/engine/leveldb/table.js';
import { decodeRecord, encodeRecord } from '#src/engine/record.js';
import { checkHeader, encodeHeader } from '#src/extents/layout.js';
import { parseIpRange } from '#src/http/auth/ip-range.js';
import { readChoices } from '#src/http/blob/block-blobs.js';
import { readTags } from '#src/http/blob/tags-xml.js';
import { boundaryOf, parseInnerRequest, parseMultipart } from '#src/http/multipart.js';
import { readProperties } from '#src/http/service-properties.js';
import { decodeMessage, encodeMessage } from '#src/http/structured-body.js';
import { readInsert } from '#src/http/table/entity-reader.js';
import { parseContinuationToken, parseEntityKey } from '#src/http/table/keys.js';
import { decodePath, parseQuery } from '#src/http/uri.js';
import { parseXml } from '#src/http/xml-parser.js';
import { StorageError } from '#src/services/common/errors.js';
import { parseTags } from '#src/services/common/tags.js';
import { matchesTags, parseTagCondition, parseTagSearch } from '#src/services/common/tags-filter.js';
import { makeDescriptor, readDescriptor } from '#src/services/file/descriptor.js';
import { parseSddl } from '#src/services/file/sddl.js';
import { decodeReceipt, encodeReceipt } from '#src/services/queue/receipts.js';
import { entityCodec } from '#src/services/table/entity-codec.js';
import { matches, parseFilter } from '#src/services/table/filter.js';
import { planFilter } from '#src/services/table/filter-plan.js';
import { Spoiler } from './spoil.js';
import { effort, seed } from './target.js';
import { bodies, values } from './words.js';

const runs = 1500 * effort;
/** Longer than a busy machine takes for anything that grows with its input alone. */
const slowestMs = 2000;

// biome-ignore lint/suspicious/noExplicitAny: classes of errors, whatever they are made of
type ErrorClass = new (...args: any[]) => Error;

interface Parser {
  readonly samples: readonly (string | Buffer)[];
  /** Of bytes, each character is one. */
  readonly parse: (input: string, bytes: Buffer) => unknown;
  readonly refuses?: readonly ErrorClass[];
}

const asBytes = (text: string) => Buffer.from(text, 'latin1');
const xmlBodies = bodies.filter((body) => body.startsWith('<'));
const someEntity = { stamp: 1, properties: [['a', { type: 'Edm.Int32', value: 1 }]] } as const;
const value = {
  a: [1, 'text', null, true, 1.5, 2n ** 70n],
  b: new Map([['k', new Date(0)]]),
  c: Buffer.from('x'),
};
const entityKey = encodeKey([
  'account',
  5,
  utf16('a\uffff'),
  Buffer.from('x'),
  [1, ['deep']],
  -1.5,
  2n ** 70n,
  true,
]);
const level = await makeLevel(
  [Array.from({ length: 40 }, (_, at) => [`key ${at}`, 'value '.repeat(at)] as const)],
  [[['key 1', undefined]], [['late', 'x']]],
);
const filesLike = (pattern: RegExp) =>
  [...level].filter(([name, { length }]) => pattern.test(name) && length > 0).map(([, content]) => content);

async function structured(text: string): Promise<Buffer> {
  async function* pieces() {
    yield Buffer.from(text);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of encodeMessage(pieces(), text.length)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** All of a table, as `verify` and a start read it. */
function readTable(bytes: Buffer): number {
  const read = (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const frame = checkFrame(read, bytes.length);
  for (const _ of checkDataBlocks(read, bytes.length, frame));
  return [...tableEntries(read, bytes.length, frame)].length;
}

function readManifest(bytes: Buffer): unknown {
  const reader = new ManifestReader();
  readLog(bytes, ({ payload }) => {
    reader.apply(payload);
    return undefined;
  });
  return reader.state();
}

const parsers: Readonly<Record<string, Parser>> = {
  'OData filters': {
    samples: [
      "PartitionKey eq 'a' and RowKey gt 'b' or not (n le 5L)",
      "d ge datetime'2025-01-01T00:00:00Z' and g ne guid'11111111-2222-3333-4444-555555555555'",
      "x eq X'00ff' and y lt -1.5e10 and (z eq true or z eq false) and s eq 'it''s'",
      '((((((((a eq 1))))))))',
    ],
    parse(text) {
      const parsed = parseFilter(text);
      if (!parsed.ok) return;
      planFilter(parsed.value);
      return matches(parsed.value, () => ({ type: 'Edm.Int32', value: 1 }));
    },
  },
  'conditions on tags': {
    samples: [`"a" = 'b' AND ("c" >= 'd' OR "e" <> 'f')`, `a='b'`],
    parse: (text) => matchesTags(parseTagCondition('x-ms-if-tags', text), [['a', 'b']]),
    refuses: [StorageError],
  },
  'searches by tags': {
    samples: [`@container = 'box' AND "a" = 'b' AND "c" >= 'd'`],
    parse: (text) => parseTagSearch(text),
    refuses: [StorageError],
  },
  'tags of a header': {
    samples: ['a=b&c=d%20e&f='],
    parse: (text) => parseTags(text),
    refuses: [StorageError],
  },
  'XML documents': { samples: xmlBodies, parse: (_, bytes) => parseXml(bytes), refuses: [StorageError] },
  'block lists': { samples: xmlBodies, parse: (_, bytes) => readChoices(bytes), refuses: [StorageError] },
  'tags in XML': { samples: xmlBodies, parse: (_, bytes) => readTags(bytes), refuses: [StorageError] },
  'service properties': {
    samples: xmlBodies,
    parse: (_, bytes) =>
      (['blob', 'queue', 'table', 'file'] as const).map((name) => readProperties(name, parseXml(bytes))),
    refuses: [StorageError],
  },
  'batch bodies': {
    samples: bodies.filter((body) => body.startsWith('--')),
    parse(_, bytes) {
      const parts = parseMultipart(bytes, 'b', 300);
      for (const part of parts.ok ? parts.value : []) {
        parseInnerRequest(part.body);
        parseMultipart(part.body, boundaryOf(part.headers.get('content-type')) ?? 'c', 300);
      }
    },
  },
  'content types': {
    samples: ['multipart/mixed; boundary=b', 'multipart/mixed;boundary="a b"'],
    parse: (text) => boundaryOf(text),
  },
  'entities in JSON': {
    samples: bodies.filter((body) => body.startsWith('{')),
    parse: (_, bytes) => readInsert(bytes),
  },
  'keys of entities': {
    samples: ["PartitionKey='p',RowKey='it''s'", "RowKey='r',PartitionKey=''"],
    parse: (text) => parseEntityKey(text),
  },
  'continuation tokens': { samples: ['1!8!cGFydA--', '1!0!'], parse: (text) => parseContinuationToken(text) },
  'pop receipts': {
    samples: [encodeReceipt({ nextVisible: 1e12, seq: 5, nonce: 7 })],
    parse: (text) => decodeReceipt(text),
  },
  paths: { samples: ['/a%20b/c%2Fd/%E2%82%AC'], parse: (text) => decodePath(text), refuses: [StorageError] },
  queries: {
    samples: ['a=b&c=%20&restype=container&&=x'],
    parse: (text) => parseQuery(text),
    refuses: [StorageError],
  },
  dates: { samples: ['Thu, 01 Jan 2026 00:00:00 GMT'], parse: (text) => parseHttpDate(text) },
  times: { samples: ['2026-01-01T00:00:00.1234567Z', '2026-01-01'], parse: (text) => parseIsoTime(text) },
  'IP ranges': { samples: ['10.0.0.1-10.0.0.9', '::ffff:10.0.0.1'], parse: (text) => parseIpRange(text) },
  'structured bodies': {
    samples: [await structured('hello'), await structured('x'.repeat(3000))],
    parse: (_, bytes) => decodeMessage(bytes, 5),
    refuses: [StorageError],
  },
  'security descriptors': {
    samples: ['O:SYG:BAD:P(A;OICI;FA;;;SY)(D;;0x1200a9;;;S-1-5-21-1-2-3-500)', 'D:NO_ACCESS_CONTROL'],
    parse: (text) => parseSddl(text),
  },
  'security descriptors as bytes': {
    samples: ['O:SYG:BAD:P(A;OICI;FA;;;SY)(D;;0x1200a9;;;S-1-5-21-1-2-3-500)'].map((text) => {
      const parsed = parseSddl(text);
      assert.ok(parsed.ok);
      return makeDescriptor(parsed.value);
    }),
    parse: (_, bytes) => readDescriptor(bytes),
  },
  'stored keys': {
    samples: [entityKey, encodeKey(['a', 1])],
    parse: (_, bytes) => decodeKey(bytes),
    refuses: [DamageError],
  },
  'stored values': {
    samples: [defaultCodec.encode(value), defaultCodec.encode(['a'.repeat(300), -5, 2 ** 40])].map((one) =>
      Buffer.from(one),
    ),
    parse: (_, bytes) => defaultCodec.decode(bytes),
    refuses: [DamageError],
  },
  'stored entities': {
    samples: [Buffer.from(entityCodec.encode(someEntity))],
    parse: (_, bytes) => entityCodec.decode(bytes),
    refuses: [DamageError],
  },
  'records of the engine': {
    samples: [encodeRecord(entityKey, Buffer.from('value'), 7)],
    parse: (_, bytes) => decodeRecord(entityKey, bytes, 'here'),
    refuses: [DamageError],
  },
  'marks of the log': {
    samples: [encodeMark({ logNumber: 5, size: 1000 })],
    parse: (_, bytes) => decodeMark(bytes),
  },
  'heads of segments': {
    samples: [encodeHeader(5)],
    parse: (_, bytes) => checkHeader(bytes, 5, 'path'),
    refuses: [DamageError],
  },
  'batches of LevelDB': {
    samples: [batchOf(5, 'key', 'value')],
    parse(_, bytes) {
      readBatchHead(bytes);
      readBatch(bytes, () => {});
    },
    refuses: [MalformedError],
  },
  'logs of LevelDB': {
    samples: [...filesLike(/\.log$/), fragment(1, batchOf(1, 'a', 'b'))],
    parse: (_, bytes) => readLog(bytes, () => undefined),
    refuses: [MalformedError],
  },
  'manifests of LevelDB': {
    samples: filesLike(/^MANIFEST/),
    parse: (_, bytes) => readManifest(bytes),
    refuses: [MalformedError],
  },
  'tables of LevelDB': {
    samples: filesLike(/\.ldb$/),
    parse: (_, bytes) => readTable(bytes),
    refuses: [MalformedError],
  },
  'blocks of Snappy': {
    samples: [Buffer.from('\x14\x24hello he\x01\x06hello!', 'latin1')],
    parse: (_, bytes) => unsnappy(bytes),
    refuses: [MalformedError],
  },
};

/** What grows: parts of samples, brackets, words, many times over. */
function* endless(samples: readonly string[]): Generator<string> {
  const words = [
    '(',
    '[',
    '{',
    '<a>',
    '<',
    'not ',
    ' and ',
    "'",
    '""',
    '%',
    '&',
    '=',
    ',',
    '\r\n',
    '--b\r\n',
    ' ',
    '\0',
    '\xff',
    '9',
  ];
  for (const word of words) {
    for (const sample of ['', samples[0] ?? '']) {
      yield sample + word.repeat(20_000);
      yield word.repeat(20_000) + sample;
    }
  }
  for (const sample of samples) yield sample.repeat(Math.ceil(200_000 / (sample.length + 1)));
}

/** What is wrong with how it ended, if anything. */
function complaint({ parse, refuses = [] }: Parser, input: string): string | undefined {
  const started = performance.now();
  try {
    parse(input, asBytes(input));
  } catch (error) {
    if (!refuses.some((one) => error instanceof one))
      return `${error instanceof Error ? error.stack : String(error)}`.slice(0, 600);
  }
  const ms = performance.now() - started;
  return ms > slowestMs ? `it took ${ms.toFixed(0)} ms` : undefined;
}

for (const [name, parser] of Object.entries(parsers)) {
  test(`${name}: ${runs} spoilt (seed ${seed})`, () => {
    const samples = parser.samples.map((sample) =>
      typeof sample === 'string' ? sample : sample.toString('latin1'),
    );
    assert.ok(samples.length > 0);
    const spoiler = new Spoiler(seed);
    const wrong: string[] = [];
    const look = (input: string) => {
      const why = complaint(parser, input);
      if (why !== undefined) wrong.push(`${JSON.stringify(input.slice(0, 200))} (${input.length}): ${why}`);
    };
    for (const sample of [...samples, '']) look(sample);
    for (let byte = 0; byte < 256; byte++) look(String.fromCharCode(byte));
    for (let run = 0; run < runs && wrong.length < 5; run++)
      look(spoiler.spoil(spoiler.pick(samples), values));
    for (const input of endless(samples)) look(input);
    assert.deepEqual(wrong.slice(0, 5), []);
  });
}

test('a parser that fails in a way of its own, or never ends, is found', () => {
  const broken: Parser = { samples: [], parse: () => (undefined as unknown as string).length };
  assert.match(complaint(broken, 'ab') ?? '', /TypeError/);
  assert.match(complaint({ ...broken, refuses: [DamageError] }, 'ab') ?? '', /TypeError/);
  const slow: Parser = {
    samples: [],
    parse() {
      for (const until = performance.now() + slowestMs + 10; performance.now() < until; );
    },
  };
  assert.match(complaint(slow, '') ?? '', /it took/);
});
