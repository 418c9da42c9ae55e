// Entities, one at a time: every write against what is there, ETags, types, metadata levels, refusals.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '#src/base/cells.suite.js';
import { gives } from '../../support/server.js';
import { etagOf, givenTable, type Json, refusesTable } from '../../support/tables.js';

const keys = { PartitionKey: 'p', RowKey: 'r' };

// Section 5 and 7 of the specification: a write against an entity that is there with this ETag, or is not.
const outcomes = `
                    absent                 there
  insert            201                    409 EntityAlreadyExists
  PUT               204                    204
  PUT *             404 ResourceNotFound   204
  PUT current       404 ResourceNotFound   204
  PUT other         404 ResourceNotFound   412 UpdateConditionNotSatisfied
  MERGE             204                    204
  MERGE *           404 ResourceNotFound   204
  MERGE current     404 ResourceNotFound   204
  MERGE other       404 ResourceNotFound   412 UpdateConditionNotSatisfied
  PATCH             204                    204
  PATCH *           404 ResourceNotFound   204
  PATCH other       404 ResourceNotFound   412 UpdateConditionNotSatisfied
  DELETE            400 InvalidInput       400 InvalidInput
  DELETE *          404 ResourceNotFound   204
  DELETE current    404 ResourceNotFound   204
  DELETE other      404 ResourceNotFound   412 UpdateConditionNotSatisfied
`;

for (const { row, column, cell } of cells(outcomes)) {
  test(`${row} of an entity that is ${column}: ${cell}`, async (t) => {
    const { table } = await givenTable(t);
    let etag = `W/"datetime'2020-01-01T00%3A00%3A00Z'"`;
    if (column === 'there') etag = etagOf(await gives(table.insert({ ...keys, old: 1 }), 201));
    const [method = '', match] = row.split(' ');
    const headers = { '*': '*', current: etag, other: `W/"datetime'2021-01-01T00%3A00%3A00Z'"` };
    const sent = match === undefined ? undefined : headers[match as keyof typeof headers];
    const answer =
      method === 'insert'
        ? table.insert({ ...keys, fresh: 2 })
        : table.write(method, 'p', 'r', method === 'DELETE' ? undefined : { fresh: 2 }, sent);
    const [status, code] = cell.split(' ');
    if (code !== undefined) {
      await refusesTable(answer, Number(status), code);
      if (column === 'there')
        assert.equal((await table.read('p', 'r'))['odata.etag'], etag, 'nothing changed');
      return;
    }
    const got = await gives(answer, Number(status));
    if (method === 'DELETE') {
      assert.equal(got.headers.get('etag'), undefined);
      await refusesTable(table.get('p', 'r'), 404, 'ResourceNotFound');
      return;
    }
    const stored = await table.read('p', 'r');
    assert.notEqual(etagOf(got), etag);
    assert.equal(stored['odata.etag'], etagOf(got));
    const merged = column === 'there' && (method === 'MERGE' || method === 'PATCH');
    assert.equal(stored['old'], merged ? 1 : undefined);
    assert.equal(stored['fresh'], 2);
  });
}

for (const text of ['test', '0x22', 'W/"a", W/"b"', '"strong"']) {
  test(`If-Match: ${text} is 400 InvalidInput`, async (t) => {
    const { table } = await givenTable(t, [keys]);
    await refusesTable(table.write('PUT', 'p', 'r', {}, text), 400, 'InvalidInput');
  });
}

test('the ETag is the Timestamp; it rises with every write, also across delete and insert', async (t) => {
  const { table } = await givenTable(t);
  const seen: string[] = [];
  for (let n = 0; n < 5; n++) {
    seen.push(etagOf(await gives(table.insert(keys), 201)));
    for (let m = 0; m < 5; m++) seen.push(etagOf(await gives(table.write('PUT', 'p', 'r', { m }), 204)));
    const { Timestamp } = await table.read('p', 'r');
    assert.equal(seen.at(-1), `W/"datetime'${String(Timestamp).replaceAll(':', '%3A')}'"`);
    await gives(table.write('DELETE', 'p', 'r', undefined, '*'), 204);
  }
  const stamps = seen.map((etag) =>
    /'(.*)Z'/.exec(etag)?.[1]?.replace(/\.(\d*)$/, (_, digits) => `.${digits.padEnd(7, '0')}`),
  );
  assert.deepEqual(stamps, stamps.toSorted());
  assert.equal(new Set(seen).size, seen.length);
});

const typed: Json = {
  text: 'x',
  flag: true,
  small: 5,
  'large@odata.type': 'Edm.Int64',
  large: '9007199254740993',
  real: 1.5,
  'whole@odata.type': 'Edm.Double',
  whole: 3,
  'none@odata.type': 'Edm.Double',
  none: 'NaN',
  'when@odata.type': 'Edm.DateTime',
  when: '2020-02-29T12:34:56.789Z',
  'who@odata.type': 'Edm.Guid',
  who: '12345678-1234-1234-1234-123456789abc',
  'raw@odata.type': 'Edm.Binary',
  raw: 'AQID',
  nothing: null,
};

for (const [level, annotated, links] of [
  ['nometadata', false, false],
  ['minimalmetadata', true, false],
  ['fullmetadata', true, true],
] as const) {
  test(`every type comes back at ${level}`, async (t) => {
    const { table } = await givenTable(t, [{ ...keys, ...typed }]);
    const { text, headers } = await gives(
      table.get('p', 'r', '', { Accept: `application/json;odata=${level}` }),
      200,
    );
    assert.equal(headers.get('content-type'), `application/json;odata=${level};streaming=true;charset=utf-8`);
    const entity = JSON.parse(text) as Json;
    for (const name of ['text', 'flag', 'small', 'large', 'real', 'none', 'when', 'who', 'raw']) {
      assert.equal(entity[name], typed[name], name);
      const annotation = `${name}@odata.type`;
      assert.equal(entity[annotation], annotated ? typed[annotation] : undefined, annotation);
    }
    assert.match(text, /"whole":3\.0/);
    assert.equal('nothing' in entity, false);
    assert.equal('odata.metadata' in entity, level !== 'nometadata');
    assert.equal('odata.id' in entity, links);
    assert.equal('Timestamp@odata.type' in entity, links);
  });
}

test('$select: those asked for, null where the entity has none; the ETag all the same', async (t) => {
  const { table } = await givenTable(t, [{ ...keys, a: 1, b: 2 }]);
  const { text } = await gives(table.get('p', 'r', '$select=a,zzz,RowKey'), 200);
  const { 'odata.metadata': metadata, 'odata.etag': etag, ...rest } = JSON.parse(text) as Json;
  assert.deepEqual(rest, { RowKey: 'r', a: 1, zzz: null });
  assert.ok(etag);
  assert.match(String(metadata), /&\$select=a,zzz,RowKey$/);
});

for (const [what, entity, status, code] of [
  ['no PartitionKey', { RowKey: 'r' }, 400, 'PropertiesNeedValue'],
  ['no RowKey', { PartitionKey: 'p' }, 400, 'PropertiesNeedValue'],
  ['a key with a slash', { PartitionKey: 'a/b', RowKey: 'r' }, 400, 'OutOfRangeInput'],
  ['a key with a control character', { PartitionKey: 'a\u0001', RowKey: 'r' }, 400, 'OutOfRangeInput'],
  ['a key of 1,025 characters', { PartitionKey: 'a'.repeat(1025), RowKey: 'r' }, 400, 'KeyValueTooLarge'],
  [
    '253 properties',
    { ...keys, ...Object.fromEntries(Array.from({ length: 253 }, (_, n) => [`p${n}`, n])) },
    400,
    'TooManyProperties',
  ],
  ['a long property name', { ...keys, ['p'.repeat(256)]: 1 }, 400, 'PropertyNameTooLong'],
  ['a bad property name', { ...keys, 'a-b': 1 }, 400, 'PropertyNameInvalid'],
  ['a string of 32 Ki and one', { ...keys, s: 'x'.repeat(32 * 1024 + 1) }, 400, 'PropertyValueTooLarge'],
  [
    'more than 1 MiB',
    {
      ...keys,
      ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, 'x'.repeat(32 * 1024)])),
    },
    400,
    'EntityTooLarge',
  ],
  ['an unknown type', { ...keys, 'x@odata.type': 'Edm.Nope', x: '1' }, 400, 'InvalidInput'],
  ['an Int64 that is none', { ...keys, 'x@odata.type': 'Edm.Int64', x: 'abc' }, 400, 'InvalidInput'],
  ['a date that is none', { ...keys, 'x@odata.type': 'Edm.DateTime', x: 'yesterday' }, 400, 'InvalidInput'],
  ['an object as a value', { ...keys, x: { y: 1 } }, 400, 'InvalidInput'],
] as const) {
  test(`Insert Entity with ${what}: ${status} ${code}`, async (t) => {
    const { table } = await givenTable(t);
    await refusesTable(table.insert(entity), status, code);
    assert.deepEqual(await table.rows(''), []);
  });
}

test('keys of every odd kind are found again', async (t) => {
  const { table } = await givenTable(t);
  for (const [p, r] of [
    ['', ''],
    ["o'clock", "''"],
    ['ü 🙂', 'a b+c%20'],
    ['&=;', '"quoted"'],
    ['A', 'a'],
    ['a', 'A'],
  ] as const) {
    await gives(table.insert({ PartitionKey: p, RowKey: r, v: `${p}|${r}` }), 201);
    assert.equal((await table.read(p, r))['v'], `${p}|${r}`);
  }
});

test('100 inserts of one key at once: one succeeds; 100 updates with one ETag: one succeeds', async (t) => {
  const { table } = await givenTable(t);
  const inserts = await Promise.all(Array.from({ length: 100 }, () => table.insert(keys)));
  assert.deepEqual(inserts.map(({ status }) => status).sort(), [201, ...Array(99).fill(409)]);
  const { 'odata.etag': etag } = await table.read('p', 'r');
  const updates = await Promise.all(
    Array.from({ length: 100 }, (_, n) => table.write('PUT', 'p', 'r', { n }, String(etag))),
  );
  assert.deepEqual(updates.map(({ status }) => status).sort(), [204, ...Array(99).fill(412)]);
});

test('upserts never fail for concurrency, and merges lose nothing', async (t) => {
  const { table } = await givenTable(t);
  const merges = Array.from({ length: 50 }, (_, n) => table.write('MERGE', 'p', 'r', { [`p${n}`]: n }));
  for (const { status } of await Promise.all(merges)) assert.equal(status, 204);
  const stored = await table.read('p', 'r');
  for (let n = 0; n < 50; n++) assert.equal(stored[`p${n}`], n);
});
