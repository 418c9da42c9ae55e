import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { equalBytes } from '../base/bytes.js';
import { DamageError } from '../engine/errors.js';
import { deepFreeze, defaultCodec, NotSerializableError } from './codec.js';

const seed = 20260802;
const there = (value: unknown) => defaultCodec.decode(defaultCodec.encode(value));

describe('codec', () => {
  const faithful: [string, unknown][] = [
    ['null', null],
    ['booleans', [true, false]],
    [
      'numbers',
      [0, 1, -1, 63, 64, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53)],
    ],
    ['fractions', [0.1, -1.5e300, Number.MIN_VALUE, Number.MAX_VALUE, Infinity, -Infinity, NaN]],
    ['-0, not 0', [-0, 0, { zero: -0 }]],
    ['bigints', [0n, -1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n, -(2n ** 64n), 2n ** 200n, -(2n ** 1000n)]],
    ['texts', ['', 'a', 'é', '😀', '\0', '€'.repeat(100), 'x'.repeat(70_000)]],
    ['half a surrogate pair', ['\ud800', 'x\udc00y', '\udc00\ud800', { long: `${'x'.repeat(100)}\ud83d` }]],
    ['dates', [new Date(0), new Date(-1), new Date(1785542400123), new Date(8.64e15), new Date(-8.64e15)]],
    ['bytes', [new Uint8Array([1, 2, 3]), new Uint8Array(0), new Uint8Array(300), new Uint8Array(70_000)]],
    ['buffers', [Buffer.from('abc'), { data: Buffer.alloc(0) }]],
    [
      'typed arrays',
      [new Float64Array([1.5, NaN]), new BigInt64Array([-1n]), new Uint16Array(3), new Int8Array(1)],
    ],
    ['objects', { a: 1, nested: { b: [1, { c: null }] }, '': 'empty key', 'a.b': 2, 1: 'one' }],
    [
      'keys of Object.prototype',
      { constructor: 'x', hasOwnProperty: 1, toString: null, toJSON: 1, length: 3 },
    ],
    ['undefined inside', { a: undefined, list: [undefined, 1], map: new Map([[undefined, undefined]]) }],
    [
      'maps',
      new Map<unknown, unknown>([
        [1, 'one'],
        ['a', new Map([[{ key: 1 }, [1]]])],
        [null, new Set([1])],
      ]),
    ],
    ['maps in lists in objects', { list: [{ map: new Map([['a', -0]]) }, 'plain'] }],
    ['sets', new Set<unknown>([1, 'a', new Set(), new Map(), { a: 1 }, undefined])],
    ['an object of 70,000 keys', Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`k${i}`, i]))],
    ['a list of 70,000', Array.from({ length: 70_000 }, (_, i) => i)],
    [
      'the same object twice',
      (() => {
        const one = { a: 1 };
        return [one, one];
      })(),
    ],
  ];
  for (const [name, value] of faithful) {
    test(`${name} come back as they were`, () => {
      assert.deepEqual(there(value), value);
    });
  }

  test('an invalid date comes back invalid', () => {
    assert.ok(Number.isNaN((there(new Date(NaN)) as Date).getTime()));
  });

  test('an object without a prototype comes back as a plain one', () => {
    assert.deepEqual(there(Object.assign(Object.create(null), { a: 1 })), { a: 1 });
  });

  test(`whatever is plain data comes back as it was, from the same bytes each time (seed ${seed})`, () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: false,
      withNullPrototype: false,
      key: fc.string({ unit: 'binary' }).filter((key) => key !== '__proto__'),
    });
    fc.assert(
      fc.property(fc.oneof(anything, fc.string({ unit: 'binary' })), (value) => {
        fc.pre(value !== undefined);
        const bytes = defaultCodec.encode(value);
        const back = defaultCodec.decode(bytes);
        assert.deepEqual(back, value);
        assert.ok(equalBytes(defaultCodec.encode(back), bytes));
      }),
      { seed, numRuns: 2000 },
    );
  });

  class Point {
    x = 1;
  }
  const cycle: unknown[] = [];
  cycle.push({ cycle });
  const twins = Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, inner], 1);
  const refused: [string, unknown, RegExp][] = [
    ['undefined', undefined, /store null/],
    ['a function', () => 1, /a function/],
    ['a function inside', { a: [{ f: () => 1 }] }, /a function/],
    ['a symbol', Symbol('a'), /a symbol/],
    ['a key that is a symbol', { [Symbol('a')]: 1 }, /a symbol/],
    ['a class instance', [new Point()], /an instance of Point/],
    ['an error', new Error('x'), /an instance of Error/],
    ['a promise', Promise.resolve(1), /an instance of Promise/],
    ['a subclass of Array', [new (class List extends Array {})()], /an instance of List/],
    ['__proto__ as a key', JSON.parse('{"a":{"__proto__":{"x":1}}}'), /__proto__/],
    ['a cycle', cycle, /refers to itself/],
    ['a value that unfolds to 2^60 parts', twins, /larger than 16 MiB/],
  ];
  for (const [name, value, message] of refused) {
    test(`${name} is refused`, () => {
      assert.throws(
        () => defaultCodec.encode(value),
        (error) => error instanceof NotSerializableError && message.test(error.message),
      );
    });
  }

  test('bytes in a decoded value do not share the memory of what was decoded', () => {
    for (const data of [Buffer.from('abc'), new Uint8Array([97, 98, 99])]) {
      const bytes = defaultCodec.encode({ data });
      const { data: copy } = defaultCodec.decode(bytes) as { data: Uint8Array };
      bytes.fill(0);
      assert.equal(Buffer.from(copy).toString(), 'abc');
    }
  });

  test('bytes handed out are not written again', () => {
    const all = Array.from({ length: 2000 }, (_, i) => defaultCodec.encode({ i, text: 'x'.repeat(i % 90) }));
    all.forEach((bytes, i) => {
      assert.deepEqual(defaultCodec.decode(bytes), { i, text: 'x'.repeat(i % 90) });
    });
  });

  test(`bytes that are no value are refused as damage, whatever they are (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
        try {
          defaultCodec.decode(bytes);
        } catch (error) {
          assert.ok(error instanceof DamageError, String(error));
        }
      }),
      { seed, numRuns: 3000 },
    );
    assert.throws(() => defaultCodec.decode(new Uint8Array(0)), DamageError);
    assert.throws(() => defaultCodec.decode(defaultCodec.encode('abc').subarray(0, 2)), DamageError);
  });

  test(`a byte changed anywhere gives a value or is refused as damage, never anything else (seed ${seed})`, () => {
    const value = {
      a: [1, -5, 300, 70_000, 1.5, 2n ** 70n, 'é', null],
      m: new Map([[1, new Set(['x'])]]),
      d: new Date(1),
    };
    const bytes = defaultCodec.encode([value, Buffer.from('b'), new Float64Array(2), '\ud800', undefined]);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(bytes.length), (at, byte, length) => {
        const changed = Uint8Array.from(bytes);
        changed[at] = byte;
        for (const damaged of [changed, bytes.subarray(0, length)]) {
          try {
            defaultCodec.decode(damaged);
          } catch (error) {
            assert.ok(error instanceof DamageError, String(error));
          }
        }
      }),
      { seed, numRuns: 3000 },
    );
  });

  test('a length that promises more than there is takes no memory', () => {
    for (const head of [
      [0xdd, 0xff, 0xff, 0xff, 0xff],
      [0xdf, 0xff, 0xff, 0xff, 0xff],
      [0xdb, 0xff, 0xff, 0xff, 0xff],
    ]) {
      assert.throws(() => defaultCodec.decode(Uint8Array.from(head)), DamageError);
    }
    assert.throws(() => defaultCodec.decode(new Uint8Array(100_000).fill(0x91)), /nests too deep/);
  });

  test('a key __proto__ in stored bytes is damage', () => {
    const bytes = Buffer.concat([Buffer.from([0x81, 0xa9]), Buffer.from('__proto__'), Buffer.from([0x80])]);
    assert.throws(() => defaultCodec.decode(bytes), DamageError);
  });

  test('a large value is copied nowhere it stays: small ones after it have memory of their own', () => {
    const large = defaultCodec.encode('x'.repeat(5_000_000));
    const small = defaultCodec.encode('y');
    assert.notEqual(large.buffer, small.buffer);
    assert.ok(small.buffer.byteLength < 100_000);
  });

  test('a getter that stores something else is told, and the next value is whole', () => {
    const value = {
      before: 'x',
      get inner() {
        return defaultCodec.encode('other');
      },
    };
    assert.throws(() => defaultCodec.encode(value), NotSerializableError);
    assert.deepEqual(there({ a: 1 }), { a: 1 });
  });

  test('deepFreeze freezes objects and arrays all the way down, also inside a Map and a Set', () => {
    const value = {
      a: [{ b: 1 }],
      bytes: new Uint8Array(2),
      map: new Map([[{ k: 1 }, { v: 1 }]]),
      set: new Set([{}]),
    };
    assert.equal(deepFreeze(value), value);
    const [[key, inner] = []] = [...value.map];
    for (const part of [value, value.a, value.a[0], key, inner, [...value.set][0]])
      assert.ok(Object.isFrozen(part));
    value.bytes[0] = 1;
    assert.throws(() => value.a.push({ b: 2 }), TypeError);
  });
});
