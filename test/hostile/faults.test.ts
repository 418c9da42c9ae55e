// Each kind of bad input to the blob service over and over, on the built program: the documented refusal, nothing half
// visible, and when all is over no file handle and no space more than before.

import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dataFolder } from '#src/server/data-folder.js';
import { Wire } from '../support/wire.js';
import { account, checkWell, givenTarget, send, type Target, withSas } from './target.js';

const times = process.env.LAZULI_FULL === '1' ? 40 : 4;
const block = { 'x-ms-blob-type': 'BlockBlob' };
const id = encodeURIComponent('MDAwMQ==');
const wrongMd5 = Buffer.alloc(16).toString('base64');
const copyFrom = (url: string) => ({ 'x-ms-copy-source': url });

type Bad = readonly [
  what: string,
  outcome: string,
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: string,
];

// biome-ignore format: a table
const bad: readonly Bad[] = [
  ['XML that breaks off',        '400 InvalidXmlDocument',         'PUT', '/box/new?comp=blocklist', {}, '<BlockList><Latest>MDAw'],
  ['XML of another kind',        '400 InvalidXmlDocument',         'PUT', '/box/new?comp=blocklist', {}, '<Tags/>'],
  ['XML with entities',          '400 InvalidXmlDocument',         'PUT', '/box/thing?comp=tags', {}, '<!DOCTYPE x [<!ENTITY a "b">]><Tags>&a;</Tags>'],
  ['XML without end',            '400 InvalidXmlDocument',         'PUT', '/?restype=service&comp=properties', {}, '<a>'.repeat(5000)],
  ['no XML',                     '400 InvalidXmlDocument',         'PUT', '/box/thing?comp=tags', {}, '{"a":1}'],
  ['a version that is none',     '400 InvalidHeaderValue',         'GET', '/box/thing', { 'x-ms-version': 'yesterday' }],
  ['a type that is none',        '400 InvalidHeaderValue',         'PUT', '/box/new', { 'x-ms-blob-type': 'CubeBlob' }, 'x'],
  ['no type',                    '400 MissingRequiredHeader',      'PUT', '/box/new', {}, 'x'],
  ['metadata that is none',      '400 InvalidMetadata',            'PUT', '/box/new', { ...block, 'x-ms-meta-1a': 'x' }, 'x'],
  ['a lease id that is none',    '400 InvalidHeaderValue',         'PUT', '/box/thing', { ...block, 'x-ms-lease-id': 'mine' }, 'x'],
  ['a lease of an hour',         '400 InvalidHeaderValue',         'PUT', '/box/thing?comp=lease', { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '3600' }],
  ['a block id not in Base64',   '400 InvalidQueryParameterValue', 'PUT', '/box/new?comp=block&blockid=***', {}, 'x'],
  ['no block id',                '400 MissingRequiredQueryParameter', 'PUT', '/box/new?comp=block', {}, 'x'],
  ['a block id in a list',       '400 InvalidBlockId',             'PUT', '/box/new?comp=blocklist', {}, '<BlockList><Latest>***</Latest></BlockList>'],
  ['a block that is not there',  '400 InvalidBlockList',           'PUT', '/box/new?comp=blocklist', {}, '<BlockList><Latest>MDAwMQ==</Latest></BlockList>'],
  ['a range behind the end',     '416 InvalidRange',               'GET', '/box/thing', { Range: 'bytes=100000-' }],
  ['a range of pages',           '416 InvalidPageRange',         'PUT', '/box/pages?comp=page', { 'x-ms-page-write': 'update', Range: 'bytes=1-512' }, 'p'.repeat(512)],
  ['a date, passed over',        '200',                                     'GET', '/box/thing', { 'If-Modified-Since': 'soon' }],
  ['a container in capitals',    '400 InvalidResourceName',        'PUT', '/BOX?restype=container'],
  ['a container of two letters', '400 OutOfRangeInput',            'PUT', '/ab?restype=container'],
  ['a container with a dot',     '400 InvalidResourceName',        'PUT', '/a.b.c?restype=container'],
  ['a name that is no UTF-8',    '400 InvalidUri',                 'PUT', '/box/%ff%fe', block, 'x'],
  ['half an escape',             '400 InvalidUri',                 'PUT', '/box/a%2', block, 'x'],
  ['a name of 1,100 letters',    '400 InvalidUri',            'PUT', `/box/${'n'.repeat(1100)}`, block, 'x'],
  ['an MD5 of something else',   '400 Md5Mismatch',                'PUT', '/box/new', { ...block, 'Content-MD5': wrongMd5 }, 'x'.repeat(50_000)],
  ['an MD5 of a block',          '400 Md5Mismatch',                'PUT', `/box/new?comp=block&blockid=${id}`, { 'Content-MD5': wrongMd5 }, 'x'.repeat(50_000)],
  ['a CRC64 of something else',  '400 Crc64Mismatch',              'PUT', `/box/new?comp=block&blockid=${id}`, { 'x-ms-content-crc64': 'AAAAAAAAAAA=' }, 'x'.repeat(50_000)],
  ['an MD5 that is none',        '400 InvalidMd5',                 'PUT', '/box/new', { ...block, 'Content-MD5': 'abc' }, 'x'],
  ['an unknown comp',            '400 InvalidQueryParameterValue', 'GET', '/box/thing?comp=soup'],
  ['a body that is too large',   '413 RequestBodyTooLarge',        'PUT', '/box/new', { ...block, 'Content-Length': '9999999999999' }],
  ['a source on this machine',   '403 CannotVerifyCopySource',     'PUT', '/box/new', { ...copyFrom('http://127.0.0.1:9/x'), 'x-ms-requires-sync': 'true' }],
  ['a source that tells secrets', '403 CannotVerifyCopySource',    'PUT', '/box/new', { ...copyFrom('http://169.254.169.254/latest/meta-data'), 'x-ms-requires-sync': 'true' }],
  ['a source that is a file',    '400 InvalidHeaderValue',         'PUT', '/box/new', copyFrom('file:///etc/passwd')],
];

/** Clients that do not do as they said. Each ends without a blob. */
const broken: readonly (readonly [what: string, act: (wire: Wire) => Promise<unknown>])[] = [
  [
    'an upload that is aborted',
    async (wire) => wire.send(head('/box/new', 3_000_000)).send('x'.repeat(1_000_000)).abort(),
  ],
  [
    'a block that is aborted',
    async (wire) =>
      wire
        .send(head(`/box/new?comp=block&blockid=${id}`, 3_000_000))
        .send('x'.repeat(1_000_000))
        .abort(),
  ],
  [
    'an upload that ends early',
    async (wire) => wire.send(head('/box/new', 300_000)).send('x'.repeat(200_000)).finish().closed(),
  ],
  [
    'a download that is aborted',
    async (wire) => {
      wire.send(`GET ${withSas(`/${account}/box/large`)} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await delay(5);
      wire.abort();
    },
  ],
  ['a head that is aborted', async (wire) => wire.send('PUT /devstoreaccount1/box/new HTT').abort()],
];

function head(path: string, length: number): string {
  return `PUT ${withSas(`/${account}${path}`)} HTTP/1.1\r\nHost: a\r\nx-ms-version: 2025-01-05\r\nx-ms-blob-type: BlockBlob\r\nContent-Length: ${length}\r\n\r\n`;
}

async function status(
  { program }: Target,
  method: string,
  path: string,
  headers = {},
  body = '',
): Promise<string> {
  const answer = await send(program, 'blob', { method, target: `/${account}${path}`, headers, body }, 30_000);
  if (typeof answer === 'string') return answer;
  const code = answer.headers.get('x-ms-error-code');
  assert.ok(
    code === undefined || answer.text === '' || answer.text.includes(`<Code>${code}</Code>`),
    answer.text,
  );
  return `${answer.status} ${code ?? ''}`.trim();
}

async function names({ program }: Target): Promise<string[]> {
  const target = `/${account}/box?restype=container&comp=list&include=uncommittedblobs,snapshots,deleted`;
  const answer = await send(program, 'blob', { method: 'GET', target }, 10_000);
  assert.ok(typeof answer !== 'string');
  return [...answer.text.matchAll(/<Name>([^<]*)</g)].map(([, name = '']) => name);
}

function handlesOf({ program }: Target): number {
  return process.platform === 'linux' ? readdirSync(`/proc/${program.pid}/fd`).length : 0;
}

function bytesOf({ program }: Target): number {
  const { extents } = dataFolder(program.location);
  return readdirSync(extents).reduce((sum, name) => sum + statSync(join(extents, name)).size, 0);
}

/** Until it holds, or too late. */
async function soon(holds: () => boolean, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; performance.now() < until; await delay(50))
    if (holds()) return true;
  return holds();
}

test('bad input is refused as documented and leaves nothing behind', { timeout: 600_000 }, async (t) => {
  const target = await givenTarget(t);
  assert.equal(await status(target, 'PUT', '/box?restype=container'), '201');
  assert.equal(await status(target, 'PUT', '/box/thing', block, 'some content'), '201');
  assert.equal(await status(target, 'PUT', '/box/large', block, 'x'.repeat(3_000_000)), '201');
  const pages = { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '1024' };
  assert.equal(await status(target, 'PUT', '/box/pages', pages), '201');
  const before = { names: await names(target), handles: handlesOf(target), bytes: bytesOf(target) };

  for (let round = 0; round < times; round++) {
    const wrong: string[] = [];
    for (const [what, outcome, ...request] of bad) {
      const found = await status(target, ...request);
      if (found !== outcome) wrong.push(`${what}: ${found}, not ${outcome}`);
    }
    assert.deepEqual(wrong, []);
    for (const [, act] of broken) {
      const wire = await Wire.open({ port: target.program.ports.blob });
      await act(wire);
      wire.close();
    }
  }
  assert.deepEqual(await names(target), before.names);
  assert.equal(await status(target, 'GET', '/box/thing'), '200');
  // LevelDB opens a few files of its own meanwhile.
  assert.ok(
    await soon(() => handlesOf(target) <= before.handles + 6, 15_000),
    `${handlesOf(target)} handles`,
  );
  // A segment that is appended to keeps its dead bytes until it is full, or closed by a start.
  assert.equal(await target.program.stop(), 0);
  await target.program.start();
  assert.ok(
    await soon(() => bytesOf(target) <= before.bytes + 1_000_000, 30_000),
    `${bytesOf(target)} bytes`,
  );
  assert.deepEqual(await names(target), before.names);
  await checkWell(target);
});

test('bytes beyond the length that was announced are no part of the blob', async (t) => {
  const target = await givenTarget(t);
  assert.equal(await status(target, 'PUT', '/box?restype=container'), '201');
  const wire = await Wire.open({ port: target.program.ports.blob });
  wire.send(head('/box/new', 5)).send('hello and much more\r\n\r\n');
  // What follows is no request: nobody who sends that is trusted any more, also with the answer to the first.
  await wire.closed();
  const answer = await send(target.program, 'blob', { method: 'GET', target: `/${account}/box/new` }, 10_000);
  assert.ok(typeof answer !== 'string');
  assert.ok(answer.status === 404 || answer.text === 'hello', answer.text);
  await checkWell(target);
});
