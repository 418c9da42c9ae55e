import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const GiB = 1024 ** 3;
const premium = { settings: { sku: 'Premium_LRS' } };
const make = (blob: Blob, gibibytes: number, headers = {}) =>
  blob.put('', {
    'x-ms-blob-type': 'PageBlob',
    'x-ms-blob-content-length': String(gibibytes * GiB),
    ...headers,
  });
const tier = (blob: Blob, name: string) => blob.put('comp=tier', { 'x-ms-access-tier': name });

test('a page blob of a premium account has the tier that it fits, until it is given one', async (t) => {
  const { blob, container } = await given(t, premium);
  await gives(make(blob, 40), 201);
  const inferred = await gives(blob.head(), 200);
  assert.equal(header(inferred, 'x-ms-access-tier'), 'P6');
  assert.equal(header(inferred, 'x-ms-access-tier-inferred'), 'true');
  assert.match(
    (await container.list()).text,
    /<AccessTier>P6<\/AccessTier><AccessTierInferred>true<\/AccessTierInferred>/,
  );
  await refuses(tier(blob, 'P4'), 409, 'BlobTierInadequateForContentLength');
  const etag = await blob.etag();
  await gives(tier(blob, 'p20'), 200);
  assert.equal(await blob.etag(), etag);
  const set = await gives(blob.head(), 200);
  assert.equal(header(set, 'x-ms-access-tier'), 'P20');
  assert.equal(set.headers.has('x-ms-access-tier-inferred'), false);
  assert.match((await container.list()).text, /<AccessTier>P20<\/AccessTier><LeaseStatus>/);
  await refuses(tier(blob, 'P10'), 409, 'CannotChangeToLowerTier');
  await refuses(tier(blob, 'Hot'), 400, 'InvalidBlobTier');
});

test('a tier given with the blob holds its size', async (t) => {
  const { blob, container } = await given(t, premium);
  await refuses(make(blob, 40, { 'x-ms-access-tier': 'P4' }), 409, 'BlobTierInadequateForContentLength');
  await gives(make(blob, 20, { 'x-ms-access-tier': 'P4' }), 201);
  const resize = (size: number) =>
    blob.put('comp=properties', { 'x-ms-blob-content-length': String(size * GiB) });
  await refuses(resize(33), 409, 'ContentLengthLargerThanTierLimit');
  await gives(resize(32), 200);
  await gives(container.blob('copy').copyFrom(blob, { 'x-ms-access-tier': 'P30' }), 202);
  assert.equal(header(await container.blob('copy').head(), 'x-ms-access-tier'), 'P30');
  await gives(container.blob('plain').copyFrom(blob), 202);
  assert.equal(header(await container.blob('plain').head(), 'x-ms-access-tier-inferred'), 'true');
});

test('other accounts and other blobs have no such tiers', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  await refuses(tier(blob, 'P10'), 400, 'InvalidBlobTier');
  await refuses(blob.upload('v2', { 'x-ms-access-tier': 'P10' }), 400, 'InvalidBlobTier');
  const disk = container.blob('disk');
  await refuses(make(disk, 1, { 'x-ms-access-tier': 'P10' }), 400, 'InvalidBlobTier');
  await gives(make(disk, 1), 201);
  await refuses(tier(disk, 'P10'), 409, 'InvalidBlobType');
  assert.equal((await disk.head()).headers.has('x-ms-access-tier'), false);
});

test('a page blob of a premium account is not photographed too often', async (t) => {
  const { blob, server } = await given(t, premium);
  await gives(make(blob, 1), 201);
  await blob.snapshot();
  await refuses(blob.put('comp=snapshot'), 409, 'SnapshotOperationRateExceeded');
  for (let count = 1; count < 100; count++) {
    server.pass(600);
    await blob.snapshot();
  }
  server.pass(600);
  await refuses(blob.put('comp=snapshot'), 409, 'SnapshotCountExceeded');
});
