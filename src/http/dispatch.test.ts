import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOf } from './auth/calls.suite.js';
import { Dispatcher, takeApart } from './dispatch.js';
import type { Handler, Row } from './operation.js';

const handler: Handler<null> = () => ({ status: 200, headers: [] });
const open = ['o:r', 'r', 'blobs/read', 'blob'] as const;
const none = ['', 'none'] as const;

// biome-ignore format: a table
const rows: readonly Row<null>[] = [
  ['List Containers',    'GET /?comp=list',                                         '', '', open, none, 'both', handler],
  ['Get Stats',          'GET /?restype=service&comp=stats',                        '', '2013-08-15', open, none, 'secondary', handler],
  ['Create Container',   'PUT /{container}?restype=container',                      '', '', open, none, 'primary', handler],
  ['Lease Container',    'PUT /{container}?restype=container&comp=lease',           '', '2012-02-12', open, none, 'primary', handler],
  ['Put Blob From URL',  'PUT /{container}/{blob}', 'x-ms-copy-source & x-ms-blob-type: BlockBlob', '2020-04-08', open, none, 'primary', handler],
  ['Copy From URL',      'PUT /{container}/{blob}', 'x-ms-copy-source & x-ms-requires-sync: true',  '2018-03-28', open, none, 'primary', handler],
  ['Copy Blob',          'PUT /{container}/{blob}', 'x-ms-copy-source',             '', open, none, 'primary', handler],
  ['Put Blob',           'PUT /{container}/{blob}',                                 '', '', open, none, 'primary', handler],
  ['Set Tags',           'PUT /{container}/{blob}?comp=tags',                       '', '2019-12-12', open, none, 'primary', handler],
  ['Get Blob',           'GET /{container}/{blob}',                                 '', '', open, none, 'both', handler],
  ['Get Properties',     'HEAD /{container}/{blob}',                                '', '', open, none, 'both', handler],
  ['Get Metadata',       'GET|HEAD /{container}/{blob}?comp=metadata',              '', '', open, none, 'both', handler],
  ['Delete Version',     'DELETE /{container}/{blob}?versionid',                    '', '2019-12-12', open, none, 'primary', handler],
  ['Delete Permanently', 'DELETE /{container}/{blob}?deletetype=permanent',         '', '2020-02-10', open, none, 'primary', handler],
  ['Delete Blob',        'DELETE /{container}/{blob}',                              '', '', open, none, 'primary', handler],
];

const dispatcher = new Dispatcher(rows);
const at = '/devstoreaccount1';
const copy = { 'x-ms-copy-source': 'http://x' };

type Expected = [request: string, headers: Record<string, string>, outcome: string];
const outcomes: Expected[] = [
  [`GET ${at}?comp=list`, {}, 'List Containers'],
  [`GET ${at}/?COMP=List`, {}, 'List Containers'],
  [`GET ${at}/?restype=service&comp=stats`, {}, 'Get Stats'],
  [`PUT ${at}/c?restype=container`, {}, 'Create Container'],
  [`PUT ${at}/c?comp=lease&restype=container&timeout=3&sig=x`, {}, 'Lease Container'],
  [`PUT ${at}/c/b`, {}, 'Put Blob'],
  [`PUT ${at}/c/b?comp=`, {}, 'Put Blob'],
  [`PUT ${at}/c/b`, copy, 'Copy Blob'],
  [`PUT ${at}/c/b`, { ...copy, 'x-ms-requires-sync': 'True' }, 'Copy From URL'],
  [`PUT ${at}/c/b`, { ...copy, 'x-ms-requires-sync': 'false' }, 'Copy Blob'],
  [`PUT ${at}/c/b`, { ...copy, 'x-ms-blob-type': 'BlockBlob' }, 'Put Blob From URL'],
  [`PUT ${at}/c/b`, { ...copy, 'x-ms-blob-type': 'BlockBlob', 'x-ms-version': '2019-12-12' }, 'Copy Blob'],
  [`GET ${at}/c/b`, {}, 'Get Blob'],
  [`HEAD ${at}/c/b`, {}, 'Get Properties'],
  [`HEAD ${at}/c/b?comp=metadata`, {}, 'Get Metadata'],
  [`DELETE ${at}/c/b`, {}, 'Delete Blob'],
  [`DELETE ${at}/c/b?versionid=2020`, {}, 'Delete Version'],
  [`DELETE ${at}/c/b?deletetype=Permanent`, {}, 'Delete Permanently'],
  [`DELETE ${at}/c/b?deletetype=other`, {}, 'Delete Blob'],
  // What no row fits: the method, or the parameter that is wrong.
  [`POST ${at}/c/b`, {}, 'UnsupportedHttpVerb'],
  [`DELETE ${at}/c/b?comp=tags`, {}, 'UnsupportedHttpVerb'],
  [`DELETE ${at}?comp=list`, {}, 'UnsupportedHttpVerb'],
  [`GET ${at}/c/b?comp=nonsense`, {}, 'InvalidQueryParameterValue comp=nonsense'],
  [`GET ${at}`, {}, 'InvalidQueryParameterValue comp='],
  [`GET ${at}/c/b?restype=nonsense`, {}, 'InvalidQueryParameterValue restype=nonsense'],
  [`PUT ${at}/c/b?comp=tags`, { 'x-ms-version': '2019-07-07' }, 'InvalidQueryParameterValue comp=tags'],
  [`DELETE ${at}/c/b?comp=tags`, { 'x-ms-version': '2019-07-07' }, 'InvalidQueryParameterValue comp=tags'],
];

for (const [request, headers, outcome] of outcomes) {
  test(`${request} ${JSON.stringify(headers)} is ${outcome}`, () => {
    const find = () =>
      dispatcher.find(callOf('blob', request, { headers: { 'x-ms-version': '2021-12-02', ...headers } }));
    const [code, parameter] = outcome.split(' ');
    if (code === 'InvalidQueryParameterValue') {
      const [name, value] = parameter?.split('=') ?? [];
      assert.throws(find, { code, details: { QueryParameterName: name, QueryParameterValue: value } });
    } else if (code === 'UnsupportedHttpVerb') assert.throws(find, { code });
    else assert.equal(find().name, outcome);
  });
}

test('a row is taken apart', () => {
  const operation = takeApart<null>([
    'Insert Or Merge',
    'MERGE|PATCH /{table}({keys})?x&comp=Y',
    'If-Match : *',
    '2011-08-18',
    ['o:a+u', 'never', 'a/read|b/read'],
    ['MN', 'required'],
    'primary',
    handler,
  ]);
  assert.deepEqual(operation, {
    name: 'Insert Or Merge',
    request: 'MERGE|PATCH /{table}({keys})?x&comp=Y',
    methods: ['MERGE', 'PATCH'],
    resource: '/{table}({keys})',
    query: [
      ['x', undefined],
      ['comp', 'y'],
    ],
    extra: [['x', undefined]],
    telling: [['if-match', '*']],
    since: '2011-08-18',
    accountSas: { types: ['o'], need: 'all', letters: 'au' },
    serviceSas: undefined,
    roles: ['a/read', 'b/read'],
    anonymous: undefined,
    conditions: 'MN',
    lease: 'required',
    on: 'primary',
    handler,
  });
});

test('any and never', () => {
  const operation = takeApart<null>(['X', 'GET /', '', '', ['any', 'any', 'never'], none, 'both', handler]);
  assert.deepEqual(operation.accountSas, { types: undefined, need: 'none', letters: '' });
  assert.deepEqual(operation.serviceSas, { need: 'none', letters: '' });
  assert.deepEqual(operation.roles, []);
});

test('a table that cannot be right does not start', () => {
  const row = (changes: Partial<Record<number, unknown>>): Row<null> =>
    Object.assign(['X', 'GET /', '', '', ['o:r', 'r', 'never'], none, 'both', handler], changes) as never;
  assert.throws(() => takeApart(row({ 4: ['x:r', 'r', 'never'] })), /account SAS/);
  assert.throws(() => takeApart(row({ 4: ['o:r', 'R', 'never'] })), /SAS letters/);
  assert.throws(() => takeApart(row({ 5: ['MX', 'none'] })), /conditions/);
  assert.throws(() => takeApart(row({ 3: '2020' })), /since/);
  assert.throws(
    () => new Dispatcher([row({}), row({ 0: 'Y' })]),
    /'Y' is never reached: 'X' stands before it/,
  );
});
