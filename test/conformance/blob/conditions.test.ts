// The two published tables: which operations return an ETag and which accept conditional headers, yes and no,
// each over the wire; then the combinations that reads and writes accept.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rows } from '#src/base/cells.suite.js';
import { type Blob, Container, header, type Resource } from '../../support/given.js';
import { gives, refuses, startServer, type TestServer } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

type Headers = Readonly<Record<string, string | undefined>>;

let server: TestServer;
const stops: (() => Promise<void>)[] = [];
before(async () => {
  server = await startServer({ after: (stop) => stops.push(stop as () => Promise<void>) }, 'blob');
});
after(async () => {
  for (const stop of stops) await stop();
});

let made = 0;

async function makeContainer(): Promise<Container> {
  const container = new Container(server, `container-${++made}`);
  await gives(container.create(), 201);
  return container;
}

const past = 'Sat, 01 Jan 2000 00:00:00 GMT';
const future = 'Fri, 01 Jan 2100 00:00:00 GMT';
const other = '"0x8D00000000000000"';

/** M, N, I, U as the reference (blob.md 3.5) has them; where the seed says yes, one of them at least. */
const containerTable = `
  operation                  etag   conditions
  Create Container           yes    -
  Get Container Properties   yes    -
  Get Container Metadata     yes    -
  Set Container Metadata     yes    I
  Get Container ACL          yes    -
  Set Container ACL          yes    IU
  Delete Container           no     IU
  Lease Container            yes    IU
  List Blobs                 no     -
`;

const containerRequests: Readonly<
  Record<string, (container: Container, headers: Headers) => Promise<WireAnswer>>
> = {
  'Create Container': (container, headers) =>
    new Container(server, `${container.path.slice(1)}x`).create(headers),
  'Get Container Properties': (container, headers) => container.head('', headers),
  'Get Container Metadata': (container, headers) => container.get('comp=metadata', headers),
  'Set Container Metadata': (container, headers) => container.put('comp=metadata', headers),
  'Get Container ACL': (container, headers) => container.get('comp=acl', headers),
  'Set Container ACL': (container, headers) => container.put('comp=acl', headers),
  'Delete Container': (container, headers) => container.delete('', headers),
  'Lease Container': (container, headers) =>
    container.lease('acquire', { 'x-ms-lease-duration': '15', ...headers }),
  'List Blobs': (container, headers) => container.get('comp=list', headers),
};

const blobTable = `
  operation             etag   conditions
  Put Blob              yes    MNIU
  Get Blob              yes    MNIU
  Get Blob Properties   yes    MNIU
  Set Blob Properties   yes    MNIU
  Get Blob Metadata     yes    MNIU
  Set Blob Metadata     yes    MNIU
  Lease Blob            yes    MNIU
  Snapshot Blob         yes    MNIU
  Copy Blob             yes    MNIU
  Abort Copy Blob       no     -
  Delete Blob           no     MNIU
  Put Block             no     -
  Put Block List        yes    MNIU
  Get Block List        yes    -
  Append Block          yes    MNIU
  Put Page              yes    MNIU
  Get Page Ranges       yes    MNIU
`;

const blobRequests: Readonly<Record<string, (blob: Blob, headers: Headers) => Promise<WireAnswer>>> = {
  'Put Blob': (blob, headers) => blob.upload('v2', headers),
  'Get Blob': (blob, headers) => blob.get('', headers),
  'Get Blob Properties': (blob, headers) => blob.head('', headers),
  'Set Blob Properties': (blob, headers) => blob.put('comp=properties', headers),
  'Get Blob Metadata': (blob, headers) => blob.get('comp=metadata', headers),
  'Set Blob Metadata': (blob, headers) => blob.put('comp=metadata', headers),
  'Lease Blob': (blob, headers) => blob.lease('acquire', { 'x-ms-lease-duration': '15', ...headers }),
  'Snapshot Blob': (blob, headers) => blob.put('comp=snapshot', headers),
  'Copy Blob': (blob, headers) => blob.copyFrom(blob, headers),
  'Abort Copy Blob': (blob, headers) =>
    blob.put('comp=copy&copyid=x', { 'x-ms-copy-action': 'abort', ...headers }),
  'Delete Blob': (blob, headers) => blob.delete('', headers),
  'Put Block': (blob, headers) => blob.putBlock('a', 'v2', headers),
  'Put Block List': (blob, headers) => blob.commit([], headers),
  'Get Block List': (blob, headers) => blob.get('comp=blocklist', headers),
  'Append Block': (blob, headers) => blob.append('v2', headers),
  'Put Page': (blob, headers) =>
    blob.put('comp=page', { 'x-ms-page-write': 'clear', Range: 'bytes=0-511', ...headers }),
  'Get Page Ranges': (blob, headers) => blob.get('comp=pagelist', headers),
};

const isRead = (operation: string) => /^(Get|List)/.test(operation);

/** Each condition so that it holds, and so that it does not. */
async function conditionsFor(
  resource: Resource,
): Promise<[letter: string, holds: Headers, fails: Headers][]> {
  const etag = await resource.etag();
  return [
    ['M', { 'If-Match': etag }, { 'If-Match': other }],
    ['N', { 'If-None-Match': other }, { 'If-None-Match': etag }],
    ['I', { 'If-Modified-Since': past }, { 'If-Modified-Since': future }],
    ['U', { 'If-Unmodified-Since': future }, { 'If-Unmodified-Since': past }],
  ];
}

async function judge(
  operation: string,
  accepted: string,
  make: () => Promise<Resource>,
  request: (resource: never, headers: Headers) => Promise<WireAnswer>,
): Promise<void> {
  for (const index of [0, 1, 2, 3]) {
    const resource = await make();
    const [letter, holds, fails] = (await conditionsFor(resource))[index] as [string, Headers, Headers];
    const ask = (headers: Headers) => request(resource as never, headers);
    if (!accepted.includes(letter)) {
      if (isRead(operation)) await gives(ask(fails), 200);
      else await refuses(ask(fails), 400, 'ConditionHeadersNotSupported');
      continue;
    }
    const status = isRead(operation) && (letter === 'N' || letter === 'I') ? 304 : 412;
    await refuses(
      ask(fails),
      status,
      operation === 'Copy Blob' ? 'TargetConditionNotMet' : 'ConditionNotMet',
    );
    const passed = await ask(holds);
    assert.ok(passed.status < 300, `${letter}: ${passed.status} ${passed.text}`);
  }
}

for (const { operation = '', etag, conditions = '' } of rows(containerTable)) {
  const request = containerRequests[operation] as (
    container: Container,
    headers: Headers,
  ) => Promise<WireAnswer>;
  describe(operation, () => {
    test(`returns ${etag === 'yes' ? 'an' : 'no'} ETag`, async () => {
      const answer = await request(await makeContainer(), {});
      assert.ok(answer.status < 300, answer.text);
      assert.equal(answer.headers.has('etag'), etag === 'yes');
    });
    test(`accepts of the conditional headers ${conditions}`, () =>
      judge(operation, conditions, makeContainer, request));
  });
}

for (const { operation = '', etag, conditions = '' } of rows(blobTable)) {
  const request = blobRequests[operation] as (blob: Blob, headers: Headers) => Promise<WireAnswer>;
  const make = async () => {
    const blob = (await makeContainer()).blob('x');
    if (operation === 'Append Block') await gives(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
    else if (operation.includes('Page')) {
      await gives(blob.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }), 201);
    } else await gives(blob.upload('v1'), 201);
    return blob;
  };
  describe(operation, () => {
    test(`returns ${etag === 'yes' ? 'an' : 'no'} ETag`, async () => {
      const answer = await request(await make(), {});
      if (operation !== 'Abort Copy Blob') assert.ok(answer.status < 300, answer.text);
      assert.equal(answer.headers.has('etag'), etag === 'yes');
    });
    test(`accepts of the conditional headers ${conditions}`, () =>
      judge(operation, conditions, make, request));
  });
}

/** p: given and it holds; f: given and it fails; -: not given. */
const readCombinations = `
  match   unmodified   none   modified   result
  f       -            -      p          412
  f       -            -      f          412
  p       -            -      f          304
  -       -            f      p          200
  -       -            p      f          200
  -       -            f      f          304
  p       f            -      p          412
  p       f            -      f          412
  p       p            -      f          304
  p       p            f      p          200
  p       p            p      f          200
  p       f            f      f          412
  f       p            p      p          412
  f       f            f      f          412
  p       p            p      p          200
`;

for (const combination of rows(readCombinations)) {
  const { match, unmodified, none, modified, result = '' } = combination;
  test(`a read with If-Match ${match}, If-Unmodified-Since ${unmodified}, If-None-Match ${none}, If-Modified-Since ${modified} gives ${result}`, async () => {
    const blob = (await makeContainer()).blob('x');
    await gives(blob.upload('v1'), 201);
    const etag = await blob.etag();
    const choose = (value: string | undefined, holds: string, fails: string) =>
      value === '-' ? undefined : value === 'p' ? holds : fails;
    const headers = {
      'If-Match': choose(match, etag, other),
      'If-Unmodified-Since': choose(unmodified, future, past),
      'If-None-Match': choose(none, other, etag),
      'If-Modified-Since': choose(modified, past, future),
    };
    for (const method of ['GET', 'HEAD']) {
      const got = await blob.ask(method, '', headers);
      assert.equal(got.status, Number(result), got.text);
      if (got.status === 304) assert.deepEqual([got.text, got.headers.has('etag')], ['', false]);
    }
  });
}

test('a write takes one condition, or a pair whose first one counts', async () => {
  const blob = (await makeContainer()).blob('x');
  await gives(blob.upload('v1'), 201);
  const etag = await blob.etag();
  const set = (headers: Headers) => blob.put('comp=metadata', headers);
  const many = 'MultipleConditionHeadersNotSupported';
  await refuses(set({ 'If-Match': etag, 'If-None-Match': other }), 400, many);
  await refuses(set({ 'If-Match': etag, 'If-Modified-Since': past }), 400, many);
  await refuses(set({ 'If-None-Match': other, 'If-Unmodified-Since': future }), 400, many);
  await refuses(set({ 'If-Match': `${etag}, ${other}` }), 400, many);
  await refuses(set({ 'If-None-Match': etag, 'If-Modified-Since': past }), 412, 'ConditionNotMet');
  await gives(set({ 'If-Match': etag, 'If-Unmodified-Since': past }), 200);
});

test('the star, and blobs that are missing', async () => {
  const container = await makeContainer();
  const there = container.blob('there');
  const missing = container.blob('missing');
  await gives(there.upload('v1', { 'If-None-Match': '*' }), 201);
  await refuses(there.upload('v2', { 'If-None-Match': '*' }), 409, 'BlobAlreadyExists');
  await refuses(there.commit([], { 'If-None-Match': '*' }), 409, 'BlobAlreadyExists');
  await refuses(there.get('', { 'If-None-Match': '*' }), 400, 'UnsatisfiableCondition');
  await gives(there.get('', { 'If-None-Match': '*', 'x-ms-version': '2015-12-11' }), 200);
  await gives(there.get('', { 'If-Match': '*' }), 200);
  await gives(there.upload('v3', { 'If-Match': '*' }), 201);
  await refuses(missing.upload('v1', { 'If-Match': '*' }), 412, 'ConditionNotMet');
  await refuses(missing.upload('v1', { 'If-Match': other }), 412, 'ConditionNotMet');
  await refuses(missing.get('', { 'If-Match': other }), 404, 'BlobNotFound');
  await refuses(missing.put('comp=metadata', { 'If-Match': other }), 404, 'BlobNotFound');
  await gives(missing.putBlock('a', 'one'), 201);
  await refuses(missing.commit(['Latest a'], { 'If-Match': '*' }), 412, 'ConditionNotMet');
  await gives(missing.commit(['Latest a'], { 'If-None-Match': '*' }), 201);
  await gives(there.delete('', { 'If-None-Match': '*' }), 202);
});

test('tags are a condition', async () => {
  const blob = (await makeContainer()).blob('x');
  await gives(blob.upload('v1', { 'x-ms-tags': 'color=red&size=2' }), 201);
  const when = (expression: string) => ({ 'x-ms-if-tags': expression });
  await gives(blob.get('', when(`"color" = 'red'`)), 200);
  await refuses(blob.get('', when(`"color" = 'blue'`)), 412, 'ConditionNotMet');
  await gives(blob.get('comp=blocklist', when(`color = 'red' AND size > '1'`)), 200);
  await refuses(blob.get('comp=blocklist', when(`color <> 'red'`)), 412, 'ConditionNotMet');
  await refuses(blob.put('comp=metadata', when(`(color = 'blue' OR size = '3')`)), 412, 'ConditionNotMet');
  await refuses(blob.delete('', when('color is red')), 400, 'InvalidHeaderValue');
  await gives(blob.delete('', when(`color = 'red'`)), 202);
});

test('every change of a blob gives it a higher ETag, and no other operation does', async () => {
  const blob = (await makeContainer()).blob('x');
  await gives(blob.upload('v1'), 201);
  const changes: [change: () => Promise<WireAnswer>, changes: boolean][] = [
    [() => blob.upload('v2'), true],
    [() => blob.put('comp=metadata'), true],
    [() => blob.put('comp=properties'), true],
    [() => blob.putBlock('a', 'one'), false],
    [() => blob.acquire(15), false],
    [() => blob.lease('break', { 'x-ms-lease-break-period': '0' }), false],
    [() => blob.put('comp=snapshot'), false],
    [() => blob.commit([]), true],
    [() => blob.copyFrom(blob), true],
  ];
  for (const [change, isChange] of changes) {
    const before = await blob.etag();
    const answer = await change();
    assert.ok(answer.status < 300, answer.text);
    const now = await blob.etag();
    assert.equal(now > before, isChange, String(change));
    assert.equal(now !== before, isChange, String(change));
  }
  const last = await blob.etag();
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  const again = await gives(blob.upload('v1'), 201);
  assert.ok(header(again, 'etag') > last, 'also across delete and create');
});
