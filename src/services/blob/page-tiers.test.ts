import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import type { PageTier, Tier } from './model.js';
import { inferredPageTier, judgeSnapshot, judgeTier, pageTierBytes, stepPageTier } from './page-tiers.js';

const GiB = 1024 ** 3;

const sizes = `
  tier   GiB
  P4     32
  P6     64
  P10    128
  P15    256
  P20    512
  P30    1024
  P40    2048
  P50    4096
  P60    8192
  P70    16384
  P80    32768
`;

for (const { tier = '', GiB: size = '' } of rows(sizes)) {
  test(`${tier} has ${size} GiB`, () => {
    assert.equal(pageTierBytes(tier as PageTier), Number(size) * GiB);
    assert.equal(inferredPageTier(Number(size) * GiB), tier);
  });
}

test('an empty blob has the smallest', () => assert.equal(inferredPageTier(0), 'P4'));

const named = (name: string): Tier | undefined =>
  name === '-' ? undefined : { name: name as PageTier, changed: 0 };

const steps = `
  from   GiB   to    gives
  -      1     P4    P4
  -      33    P4    BlobTierInadequateForContentLength
  -      33    P6    P6
  P10    1     P10   P10
  P10    1     P20   P20
  P10    1     P6    CannotChangeToLowerTier
  P6     100   P4    CannotChangeToLowerTier
`;

for (const { from = '', GiB: size = '', to = '', gives } of rows(steps)) {
  test(`${size} GiB from ${from} to ${to} gives ${gives}`, () => {
    const tier = named(from);
    const blob = { length: Number(size) * GiB, ...(tier === undefined ? {} : { tier }) };
    const outcome = stepPageTier(blob, to as PageTier, 5);
    assert.equal(outcome.ok ? outcome.value.name : outcome.code, gives);
  });
}

const made = `
  type         tier   premium   gives
  BlockBlob    -      no        -
  BlockBlob    Hot    no        -
  BlockBlob    P10    no        InvalidBlobTier
  BlockBlob    P10    yes       InvalidBlobTier
  PageBlob     -      yes       -
  PageBlob     P10    no        InvalidBlobTier
  PageBlob     Hot    yes       InvalidBlobTier
  PageBlob     Hot    no        InvalidBlobTier
  PageBlob     P10    yes       -
  PageBlob     P4     yes       BlobTierInadequateForContentLength
`;

for (const { type = '', tier = '', premium, gives } of rows(made)) {
  test(`a ${type} of 40 GiB with ${tier}, premium ${premium}: ${gives}`, () => {
    const given = named(tier);
    const blob = {
      type: type as 'PageBlob',
      length: 40 * GiB,
      ...(given === undefined ? {} : { tier: given }),
    };
    assert.equal(judgeTier(blob, premium === 'yes') ?? '-', gives);
  });
}

test('a hundred snapshots, one in ten minutes', () => {
  assert.equal(judgeSnapshot(0, undefined, 1e9), undefined);
  assert.equal(judgeSnapshot(1, 1e9, 1e9 + 599_999), 'SnapshotOperationRateExceeded');
  assert.equal(judgeSnapshot(1, 1e9, 1e9 + 600_000), undefined);
  assert.equal(judgeSnapshot(100, 0, 1e9), 'SnapshotCountExceeded');
});
