import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../base/random.js';
import { DamageError } from './errors.js';
import {
  blockBytes,
  checkHeader,
  encodeHeader,
  groupBytes,
  groupPart,
  segmentName,
  segmentNumber,
  storedBytes,
} from './layout.js';

const seed = 5;

/** The format as the page tells it, byte by byte: where each byte of the content lies, and each block's checksum. */
function places(offset: number, length: number): { bytes: number[]; checksums: number[]; end: number } {
  const bytes: number[] = [];
  const checksums: number[] = [];
  let at = offset;
  for (let start = 0; start < length; start += 16 * blockBytes) {
    const end = Math.min(length, start + 16 * blockBytes);
    for (let n = start; n < end; n++) bytes.push(at++);
    for (let n = start; n < end; n += blockBytes, at += 4) checksums.push(at);
  }
  return { bytes, checksums, end: at };
}

test(`a part of a slice is whole blocks and their checksums (seed ${seed})`, () => {
  const random = seededRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  for (const length of [
    1,
    blockBytes,
    blockBytes + 1,
    groupBytes,
    groupBytes + 1,
    2 * groupBytes + 5 * blockBytes + 7,
  ]) {
    const offset = upTo(1_000_000);
    const place = places(offset, length);
    assert.equal(offset + storedBytes(length), place.end);
    for (let round = 0; round < 50; round++) {
      const start = upTo(length - 1);
      const end = start + 1 + upTo(length - start - 1);
      const part = groupPart({ segment: 1, offset, length }, start, end);
      assert.equal(part.position + part.from, place.bytes[start]);
      const last = Math.min(end, (Math.floor(start / groupBytes) + 1) * groupBytes) - 1;
      assert.equal(part.position + part.to - 1, place.bytes[last]);
      const firstBlock = Math.floor(start / blockBytes);
      const lastBlock = Math.floor(last / blockBytes);
      assert.equal(part.position, place.bytes[firstBlock * blockBytes]);
      assert.equal(
        part.position + part.bytes - 1,
        place.bytes[Math.min(length, (lastBlock + 1) * blockBytes) - 1],
      );
      assert.equal(part.tablePosition, place.checksums[firstBlock]);
      assert.equal(part.tableBytes, 4 * (lastBlock - firstBlock + 1));
    }
  }
});

test('a segment has a name that sorts by number, and other names are no segments', () => {
  assert.equal(segmentName(1_763_247_000_123), '0001763247000123.segment');
  assert.equal(segmentNumber('0001763247000123.segment'), 1_763_247_000_123);
  for (const name of [
    '1.segment',
    '0000000000000000.segment',
    '9999999999999999.segment',
    '0001763247000123.segment~',
    'x',
  ]) {
    assert.equal(segmentNumber(name), undefined, name);
  }
});

test('a segment is known by its first bytes', () => {
  const header = encodeHeader(77);
  checkHeader(header, 77, 'a.segment');
  assert.throws(() => checkHeader(header, 78, 'a.segment'), DamageError);
  for (let index = 0; index < header.length; index++) {
    const damaged = Buffer.from(header);
    damaged.writeUInt8(damaged.readUInt8(index) ^ 1, index);
    assert.throws(
      () => checkHeader(damaged, 77, 'a.segment'),
      /^DamageError: a\.segment does not begin as segment 77/,
    );
  }
  assert.throws(() => checkHeader(header.subarray(0, 10), 77, 'a.segment'), DamageError);
});
