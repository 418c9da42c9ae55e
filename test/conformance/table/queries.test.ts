// Queries and entity group transactions on the wire.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gives } from '../../support/server.js';
import { givenTable, type Json, refusesTable, type TestTable } from '../../support/tables.js';

const people: Json[] = [
  { PartitionKey: 'a', RowKey: '1', age: 30, name: 'Ann', 'big@odata.type': 'Edm.Int64', big: '50' },
  { PartitionKey: 'a', RowKey: '2', age: 40, name: 'Bob', member: true },
  {
    PartitionKey: 'a',
    RowKey: '3',
    name: '',
    'born@odata.type': 'Edm.DateTime',
    born: '2000-01-01T00:00:00Z',
  },
  {
    PartitionKey: 'b',
    RowKey: '4',
    age: 20.5,
    'id@odata.type': 'Edm.Guid',
    id: '12345678-1234-1234-1234-123456789abc',
  },
  { PartitionKey: 'b', RowKey: '5', member: false, 'raw@odata.type': 'Edm.Binary', raw: 'AQID' },
];

for (const [filter, found] of [
  ['', '12345'],
  ["PartitionKey eq 'a'", '123'],
  ["'a' eq PartitionKey", '123'],
  ["PartitionKey eq 'a' and RowKey eq '2'", '2'],
  ["PartitionKey eq 'a' and RowKey ge '2'", '23'],
  ["PartitionKey gt 'a'", '45'],
  ["RowKey eq '1' or RowKey eq '5'", '15'],
  ["(PartitionKey eq 'a' and RowKey eq '1') or (PartitionKey eq 'b' and RowKey eq '4')", '14'],
  ['age gt 25', '12'],
  ['age ge 20', '124'],
  ['age lt 30', '4'],
  ['age ne 30', '24'],
  ['not (age ne 30)', '135'],
  ['big eq 50', '1'],
  ['big eq 50L', '1'],
  ['member', '2'],
  ['member eq false', '5'],
  ['not member', '1345'],
  ["name eq ''", '3'],
  ["name ne 'Ann'", '23'],
  ["born lt datetime'2001-01-01T00:00:00Z'", '3'],
  ["id eq guid'12345678-1234-1234-1234-123456789abc'", '4'],
  ["raw eq X'010203'", '5'],
  ["raw eq binary'010203'", '5'],
  ['nothing eq 1', ''],
  ['nothing ne 1', ''],
] as const) {
  test(`$filter=${filter || '(none)'} finds ${found || 'nothing'}`, async (t) => {
    const { table } = await givenTable(t, people);
    assert.equal((await table.rows(filter)).join(''), found);
  });
}

for (const filter of [
  'age eq null',
  'age eq',
  'eq 5',
  '(age eq 5',
  'age eq 5)',
  "name eq 'x",
  "startswith(name,'a')",
  'age add 1 eq 2',
  'PartitionKey eq 5',
  `age eq 1${' or age eq 1'.repeat(1000)}`,
  `${'('.repeat(1000)}age eq 1${')'.repeat(1000)}`,
  `${'not '.repeat(1000)}(age eq 1)`,
]) {
  test(`$filter=${filter.slice(0, 40)} is 400 InvalidInput`, async (t) => {
    const { table } = await givenTable(t, people);
    await refusesTable(table.query(`$filter=${encodeURIComponent(filter)}`), 400, 'InvalidInput');
  });
}

test('a plus in $filter is a blank', async (t) => {
  const { table } = await givenTable(t, people);
  const { text } = await gives(table.query('$filter=PartitionKey+eq+%27b%27'), 200);
  assert.equal((JSON.parse(text) as { value: Json[] }).value.length, 2);
});

test('pages: $top, tokens that name the next entity, also where nothing matches', async (t) => {
  const { table } = await givenTable(t, people);
  const found: string[] = [];
  let next = '';
  for (let page = 0; page < 10; page++) {
    const { text, headers } = await gives(table.query(`$top=2${next}`), 200);
    found.push(...(JSON.parse(text) as { value: Json[] }).value.map((entity) => String(entity['RowKey'])));
    const [p, r] = ['nextpartitionkey', 'nextrowkey'].map((name) => headers.get(`x-ms-continuation-${name}`));
    if (p === undefined) break;
    next = `&NextPartitionKey=${encodeURIComponent(p)}&NextRowKey=${encodeURIComponent(r ?? '')}`;
  }
  assert.equal(found.join(''), '12345');
  for (const bad of ['$top=0', '$top=1001', '$top=x', 'NextPartitionKey=nonsense']) {
    await refusesTable(table.query(bad), 400, 'InvalidInput');
  }
  await refusesTable(table.query('$orderby=age'), 501, 'NotImplemented');
});

test('1,500 entities come in pages of 1,000 at most, in order of their keys by code units', async (t) => {
  const { server, table } = await givenTable(t);
  for (let batch = 0; batch < 15; batch++) {
    const operations = Array.from({ length: 100 }, (_, n) =>
      insertPart(table, { PartitionKey: 'p', RowKey: String(batch * 100 + n).padStart(5, '0') }),
    );
    await gives(server.ask(batchOf(operations)), 202);
  }
  const first = await gives(table.query(), 200);
  assert.equal((JSON.parse(first.text) as { value: Json[] }).value.length, 1000);
  assert.ok(first.headers.get('x-ms-continuation-nextrowkey'));
});

function insertPart(table: TestTable, entity: Json, headers = ''): string {
  return `POST /${table.server.account.name}/${table.name} HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json;odata=minimalmetadata\r\nPrefer: return-no-content\r\n${headers}\r\n${JSON.stringify(entity)}`;
}

function writePart(
  table: TestTable,
  method: string,
  p: string,
  r: string,
  match?: string,
  entity?: Json,
): string {
  const condition = match === undefined ? '' : `If-Match: ${match}\r\n`;
  const body = entity === undefined ? '' : JSON.stringify(entity);
  return `${method} /${table.server.account.name}${table.path(p, r)} HTTP/1.1\r\nContent-Type: application/json\r\n${condition}\r\n${body}`;
}

function batchOf(operations: readonly string[]) {
  const parts = operations.map(
    (operation) =>
      `--changeset_b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n${operation}\r\n`,
  );
  const body = `--batch_a\r\nContent-Type: multipart/mixed; boundary=changeset_b\r\n\r\n${parts.join('')}--changeset_b--\r\n--batch_a--\r\n`;
  return {
    method: 'POST',
    path: '/$batch',
    headers: { 'Content-Type': 'multipart/mixed; boundary=batch_a' },
    body,
  };
}

test('a transaction: all of it, in order, with an answer for each operation', async (t) => {
  const { server, table } = await givenTable(t, [
    { PartitionKey: 'p', RowKey: '1', v: 1 },
    { PartitionKey: 'p', RowKey: '2' },
  ]);
  const { text, headers } = await gives(
    server.ask(
      batchOf([
        insertPart(table, { PartitionKey: 'p', RowKey: '3' }, 'Content-ID: 7\r\n'),
        writePart(table, 'PUT', 'p', '1', '*', { v: 2 }),
        writePart(table, 'MERGE', 'p', '4', undefined, { v: 4 }),
        writePart(table, 'DELETE', 'p', '2', '*'),
      ]),
    ),
    202,
  );
  assert.match(headers.get('content-type') ?? '', /^multipart\/mixed; boundary=batchresponse_/);
  assert.equal(text.match(/HTTP\/1\.1 204 No Content/g)?.length, 4);
  assert.match(text, /Content-ID: 7/);
  assert.deepEqual(await table.rows(''), ['1', '3', '4']);
  assert.equal((await table.read('p', '1'))['v'], 2);
});

for (const [what, operations, status, code, message] of [
  [
    'an entity that exists',
    (t: TestTable) => [
      insertPart(t, { PartitionKey: 'p', RowKey: 'new' }),
      insertPart(t, { PartitionKey: 'p', RowKey: '1' }),
    ],
    '409 Conflict',
    'EntityAlreadyExists',
    '1:The specified entity already exists.',
  ],
  [
    'an entity that is missing',
    (t: TestTable) => [
      insertPart(t, { PartitionKey: 'p', RowKey: 'new' }),
      writePart(t, 'PUT', 'p', 'no', '*', {}),
    ],
    '404 Not Found',
    'ResourceNotFound',
    '1:',
  ],
  [
    'another ETag',
    (t: TestTable) => [writePart(t, 'PUT', 'p', '1', 'W/"wrong"', { v: 9 })],
    '412 Precondition Failed',
    'UpdateConditionNotSatisfied',
    '0:',
  ],
  [
    'two partitions',
    (t: TestTable) => [
      insertPart(t, { PartitionKey: 'p', RowKey: 'new' }),
      insertPart(t, { PartitionKey: 'q', RowKey: 'new' }),
    ],
    '400 Bad Request',
    'CommandsInBatchActOnDifferentPartitions',
    '1:',
  ],
  [
    'an entity twice',
    (t: TestTable) => [
      insertPart(t, { PartitionKey: 'p', RowKey: 'new' }),
      insertPart(t, { PartitionKey: 'p', RowKey: 'new' }),
    ],
    '400 Bad Request',
    'InvalidDuplicateRow',
    '1:',
  ],
  [
    '101 operations',
    (t: TestTable) =>
      Array.from({ length: 101 }, (_, n) => insertPart(t, { PartitionKey: 'p', RowKey: `n${n}` })),
    '400 Bad Request',
    'InvalidInput',
    '99:',
  ],
  [
    'a property too large',
    (t: TestTable) => [
      insertPart(t, { PartitionKey: 'p', RowKey: 'new' }),
      insertPart(t, { PartitionKey: 'p', RowKey: 'x', s: 'x'.repeat(40_000) }),
    ],
    '400 Bad Request',
    'PropertyValueTooLarge',
    '1:',
  ],
] as const) {
  test(`a transaction with ${what}: nothing of it, and ${code} for that operation`, async (t) => {
    const { server, table } = await givenTable(t, [{ PartitionKey: 'p', RowKey: '1', v: 1 }]);
    const before = await table.read('p', '1');
    const { text } = await gives(server.ask(batchOf(operations(table))), 202);
    assert.match(text, new RegExp(`HTTP/1.1 ${status}`));
    assert.ok(text.includes(`"code":"${code}"`), text);
    assert.ok(text.includes(`"value":"${message}`), text);
    assert.deepEqual(await table.rows(''), ['1']);
    assert.deepEqual(await table.read('p', '1'), before);
  });
}

test('a transaction with one query: the entity, or 404 inside', async (t) => {
  const { server, table } = await givenTable(t, [{ PartitionKey: 'p', RowKey: '1', v: 1 }]);
  const ask = (r: string) => {
    const body = `--batch_a\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET /${server.account.name}${table.path('p', r)} HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\r\n\r\n--batch_a--\r\n`;
    return gives(
      server.ask({
        method: 'POST',
        path: '/$batch',
        headers: { 'Content-Type': 'multipart/mixed; boundary=batch_a' },
        body,
      }),
      202,
    );
  };
  assert.match((await ask('1')).text, /HTTP\/1\.1 200 OK[\s\S]*"v":1/);
  assert.match(
    (await ask('2')).text,
    /HTTP\/1\.1 404 Not Found[\s\S]*0:The specified resource does not exist/,
  );
});

for (const [what, body, type] of [
  ['no boundary', 'x', 'multipart/mixed'],
  ['another type', 'x', 'application/json'],
  ['no parts', '--batch_a--\r\n', 'multipart/mixed; boundary=batch_a'],
  ['nonsense', 'hello', 'multipart/mixed; boundary=batch_a'],
] as const) {
  test(`a batch with ${what} is 400 InvalidInput`, async (t) => {
    const { server } = await givenTable(t);
    await refusesTable(
      server.ask({ method: 'POST', path: '/$batch', headers: { 'Content-Type': type }, body }),
      400,
      'InvalidInput',
    );
  });
}

test('readers see the whole of a transaction or nothing of it', async (t) => {
  const { server, table } = await givenTable(
    t,
    Array.from({ length: 10 }, (_, n) => ({ PartitionKey: 'p', RowKey: String(n), v: 0 })),
  );
  let done = false;
  const write = async () => {
    for (let v = 1; v <= 30; v++) {
      const parts = Array.from({ length: 10 }, (_, n) => writePart(table, 'PUT', 'p', String(n), '*', { v }));
      await gives(server.ask(batchOf(parts)), 202);
    }
    done = true;
  };
  const read = async () => {
    while (!done) {
      const { value } = JSON.parse((await gives(table.query(), 200)).text) as { value: Json[] };
      assert.equal(new Set(value.map(({ v }) => v)).size, 1);
    }
  };
  await Promise.all([write(), read(), read()]);
});
