import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refused } from '../status.js';
import { body, bytes, constant, struct, u8, u16, u32, u64 } from './struct.js';

const refused = new Refused('INVALID_PARAMETER');

test('a struct is read as it was written, hidden fields are zero or their constant', () => {
  const sample = struct({ _size: constant(u16, 9), a: u8, _gap: u8, b: u32, c: u64, d: bytes(3) });
  fc.assert(
    fc.property(
      fc.record({
        a: fc.nat(255),
        b: fc.nat(0xffffffff),
        c: fc.bigInt(0n, 2n ** 64n - 1n),
        d: fc.uint8Array({ minLength: 3, maxLength: 3 }).map((array) => [...array]),
      }),
      (value) => {
        const made = sample.make({ ...value, d: Buffer.from(value.d) });
        assert.equal(made.length, sample.size);
        assert.equal(made.readUInt16LE(0), 9);
        assert.equal(made[3], 0);
        const read = sample.read(made);
        assert.deepEqual({ ...read, d: [...read.d] }, { ...value });
      },
    ),
    { seed: 3 },
  );
});

test('a struct that does not fit or has another size is refused', () => {
  const sample = struct({ _size: constant(u16, 9), a: u32 });
  assert.throws(() => sample.read(Buffer.alloc(5)), refused);
  assert.throws(() => sample.read(Buffer.alloc(6)), refused);
});

const sample = body(
  { _size: constant(u16, 57), nameOffset: u16, nameLength: u16, dataOffset: u32, dataLength: u32 },
  {
    name: { offset: 'nameOffset', length: 'nameLength' },
    data: { offset: 'dataOffset', length: 'dataLength', align: 8 },
  },
);
const message = (made: Buffer) => Buffer.concat([Buffer.alloc(64), made]);

test('the parts of a body lie behind it, where its offsets say', () => {
  const value = { name: Buffer.from('abc'), data: Buffer.from('xyz') };
  const made = sample.make(value);
  assert.equal(made.readUInt16LE(2), 64 + 14);
  assert.equal(made.readUInt32LE(6) % 8, 0);
  assert.deepEqual(sample.read(message(made)), value);
});

test('parts outside the message or over the fixed part are refused', () => {
  const made = sample.make({ name: Buffer.from('abc'), data: Buffer.alloc(0) });
  for (const [offset, length] of [
    [63, 3],
    [64, 3],
    [77, 3],
    [78, 4],
    [0xffff, 3],
    [78, 0xffff],
  ] as const) {
    const altered = Buffer.from(made);
    altered.writeUInt16LE(offset, 2);
    altered.writeUInt16LE(length, 4);
    assert.throws(() => sample.read(message(altered)), refused, `${offset}, ${length}`);
  }
  const empty = Buffer.from(made);
  empty.writeUInt16LE(0xffff, 2);
  empty.writeUInt16LE(0, 4);
  assert.equal(sample.read(message(empty)).name.length, 0, 'where nothing lies does not matter');
});
