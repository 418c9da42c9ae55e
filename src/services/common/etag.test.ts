import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bareEtag, etag, lastModifiedMs, withoutQuotes } from './etag.js';

test('an ETag is the time in ticks since the year 1', () => {
  assert.equal(etag(0), '"0x89F7FF5F7B58000"');
  // The live service gave "0x8D6D418CDBEE682" on that morning.
  assert.match(etag(Date.UTC(2019, 4, 9, 0, 41) * 1000), /^"0x8D6D41[0-9A-F]{9}"$/);
});

test('ETags rise with their stamps, until the year 2255', () => {
  fc.assert(
    fc.property(fc.nat(Number.MAX_SAFE_INTEGER - 1), (stamp) => {
      assert.ok(bareEtag(stamp) < bareEtag(stamp + 1));
      assert.equal(bareEtag(stamp).length, 17);
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test('Last-Modified is the second the stamp lies in', () => {
  const second = Date.UTC(2026, 0, 1, 12, 0, 5);
  assert.equal(lastModifiedMs(second * 1000), second);
  assert.equal(lastModifiedMs(second * 1000 + 999_999), second);
  assert.equal(lastModifiedMs(second * 1000 + 1_000_000), second + 1000);
});

test('quotes do not count, a weak mark does', () => {
  assert.equal(withoutQuotes('"0x8D"'), '0x8D');
  assert.equal(withoutQuotes('0x8D'), '0x8D');
  assert.equal(withoutQuotes('""'), '');
  assert.equal(withoutQuotes('"'), '"');
  assert.equal(withoutQuotes('W/"0x8D"'), 'W/"0x8D"');
});
