// Tables: create, get, query, delete, ACL, service properties.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gives, startServer } from '../../support/server.js';
import { givenTable, refusesTable, TestTable } from '../../support/tables.js';

test('Create Table: 201 with the table, 204 if that is preferred, 409 in any case of its name', async (t) => {
  const server = await startServer(t, 'table');
  const created = await gives(new TestTable(server, 'People').create(), 201);
  assert.match(created.text, /"odata.metadata":"http:.*#Tables\/@Element","TableName":"People"/);
  assert.match(created.headers.get('location') ?? '', /\/Tables\('People'\)$/);
  const quiet = await gives(new TestTable(server, 'Other').create({ Prefer: 'return-no-content' }), 204);
  assert.equal(quiet.headers.get('preference-applied'), 'return-no-content');
  await refusesTable(new TestTable(server, 'pEOPLE').create(), 409, 'TableAlreadyExists');
});

test('50 creates at once: one succeeds', async (t) => {
  const server = await startServer(t, 'table');
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => new TestTable(server, 'people').create()),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(49).fill(409)]);
});

for (const [name, code] of [
  ['ab', 'OutOfRangeInput'],
  ['a'.repeat(64), 'OutOfRangeInput'],
  ['1abc', 'InvalidResourceName'],
  ['a-b', 'InvalidResourceName'],
  ['tables', 'InvalidResourceName'],
] as const) {
  test(`the name ${name.slice(0, 8)} gives 400 ${code}`, async (t) => {
    await refusesTable(new TestTable(await startServer(t, 'table'), name).create(), 400, code);
  });
}

test('Delete Table: 204, then 404 ResourceNotFound; its entities are told TableNotFound; the name is free', async (t) => {
  const { table } = await givenTable(t, [{ PartitionKey: 'p', RowKey: 'r' }]);
  await gives(table.drop(), 204);
  await refusesTable(table.drop(), 404, 'ResourceNotFound');
  await refusesTable(table.get('p', 'r'), 404, 'TableNotFound');
  await refusesTable(table.query(), 404, 'TableNotFound');
  await refusesTable(table.insert({ PartitionKey: 'p', RowKey: 'r' }), 404, 'TableNotFound');
  await refusesTable(table.write('DELETE', 'p', 'r', undefined, '*'), 404, 'TableNotFound');
  await gives(table.create(), 201);
  await refusesTable(table.get('p', 'r'), 404, 'ResourceNotFound');
});

test('Query Tables: in order, one by name, by filter, in pages', async (t) => {
  const server = await startServer(t, 'table');
  for (const name of ['bbb', 'Aaa', 'ccc', 'Ddd']) await gives(new TestTable(server, name).create(), 201);
  const list = async (query: string) => {
    const answer = await gives(
      server.ask({ path: `/Tables${query}`, headers: { Accept: 'application/json;odata=nometadata' } }),
      200,
    );
    const names = (JSON.parse(answer.text) as { value: { TableName: string }[] }).value.map(
      ({ TableName }) => TableName,
    );
    return { names, next: answer.headers.get('x-ms-continuation-nexttablename') };
  };
  assert.deepEqual((await list('')).names, ['Aaa', 'bbb', 'ccc', 'Ddd']);
  assert.deepEqual(
    (await list(`?$filter=${encodeURIComponent("TableName ge 'b' and TableName lt 'c'")}`)).names,
    ['bbb'],
  );
  const first = await list('?$top=3');
  assert.deepEqual(first.names, ['Aaa', 'bbb', 'ccc']);
  const second = await list(`?$top=3&NextTableName=${encodeURIComponent(first.next ?? '')}`);
  assert.deepEqual([second.names, second.next], [['Ddd'], undefined]);
  const one = await gives(server.ask({ path: "/Tables('aaa')" }), 200);
  assert.match(one.text, /"TableName":"Aaa"/);
  await refusesTable(server.ask({ path: "/Tables('nope')" }), 404, 'ResourceNotFound');
});

test('Table ACL and service properties are XML, and kept', async (t) => {
  const { server, table } = await givenTable(t);
  const acl =
    '<SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy><Permission>raud</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>';
  await gives(server.ask({ method: 'PUT', path: `/${table.name}?comp=acl`, body: acl }), 204);
  assert.match((await server.ask({ path: `/${table.name}?comp=acl` })).text, /<Id>one<\/Id>/);
  assert.equal((await server.ask({ path: '/nothing?comp=acl' })).status, 404);
  assert.match(
    (await gives(server.ask({ path: '/?restype=service&comp=properties' }), 200)).text,
    /<StorageServiceProperties>/,
  );
});

const json = { 'Content-Type': 'application/json', Accept: 'application/json;odata=nometadata' };
const newTable = '{"TableName":"other"}';

// biome-ignore format: a table
const refusals: readonly (readonly [what: string, method: string, path: string, headers: Record<string, string>, body: string | undefined, outcome: string])[] = [
  ['a method that is not for it',       'PUT',    '/Tables',   json,                                            '{}',      '405 MethodNotAllowed'],
  ['a table deleted by its own path',   'DELETE', '/people',   json,                                            undefined, '405 MethodNotAllowed'],
  ['no Content-Type',                   'POST',   '/Tables',   { Accept: 'application/json' },                  newTable,  '415 MediaTypeNotSupported'],
  ['text',                              'POST',   '/Tables',   { ...json, 'Content-Type': 'text/plain' },       newTable,  '415 MediaTypeNotSupported'],
  ['Atom sent',                         'POST',   '/Tables',   { ...json, 'Content-Type': 'application/atom+xml' }, newTable, '415 AtomFormatNotSupported'],
  ['Atom asked for',                    'GET',    '/Tables',   { Accept: 'application/atom+xml' },              undefined, '415 AtomFormatNotSupported'],
  ['another type asked for',            'GET',    '/Tables',   { Accept: 'application/pdf' },                   undefined, '415 MediaTypeNotSupported'],
  ['JSON before its time',              'GET',    '/Tables',   { ...json, 'x-ms-version': '2012-02-12' },       undefined, '415 JsonFormatNotSupported'],
  ['a name that no table can have',     'GET',    '/a_b()',    json,                                            undefined, '400 InvalidResourceName'],
  ['a name that is too short',          'POST',   '/ab',       json,                                            '{"PartitionKey":"p","RowKey":"r"}', '400 OutOfRangeInput'],
  ['two methods in X-HTTP-Method',      'POST',   '/people',   { ...json, 'X-HTTP-Method': 'MERGE, PUT' },      '{}',      '400 XMethodIncorrectCount'],
  ['another X-HTTP-Method',             'POST',   '/people',   { ...json, 'X-HTTP-Method': 'HEAD' },            '{}',      '400 XMethodIncorrectValue'],
  ['X-HTTP-Method on a GET',            'GET',    '/people()', { ...json, 'X-HTTP-Method': 'MERGE' },           undefined, '400 XMethodNotUsingPost'],
  ['a property twice',                  'POST',   '/people',   json,                                            '{"PartitionKey":"p","RowKey":"r","a":1,"a":2}', '400 DuplicatePropertiesSpecified'],
  ['half an entity',                    'POST',   '/people',   json,                                            '{"PartitionKey":"p",', '400 InvalidInput'],
  ['more than 4 MiB',                   'POST',   '/people',   json,                                            ' '.repeat(4 * 1024 * 1024 + 1), '413 RequestBodyTooLarge'],
];

for (const [what, method, path, headers, body, outcome] of refusals) {
  test(`${what}: ${outcome}`, async (t) => {
    const { server } = await givenTable(t);
    const [status, code] = outcome.split(' ');
    const asked = { method, path, headers, ...(body === undefined ? {} : { body }) };
    await refusesTable(server.ask(asked), Number(status), code ?? '');
  });
}

test('a refused insert tells the preference that would have been applied', async (t) => {
  const { table } = await givenTable(t, [{ PartitionKey: 'p', RowKey: 'r' }]);
  const again = table.insert({ PartitionKey: 'p', RowKey: 'r' }, { Prefer: 'return-no-content' });
  const { headers } = await refusesTable(again, 409, 'EntityAlreadyExists');
  assert.equal(headers.get('preference-applied'), 'return-no-content');
});
