import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../base/bytes.js';
import { DamageError } from './errors.js';
import {
  decodeKey,
  encodeKey,
  InvalidKeyError,
  type KeyPart,
  prefixRange,
  textPrefixRange,
  Utf16,
  utf16,
} from './keys.js';

const seed = 20260801;
const runs = { seed, numRuns: 2000 };

/** What the bytes must agree with: a plain comparison of tuples. */
function compareTuples(a: readonly KeyPart[], b: readonly KeyPart[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareParts(a[i] as KeyPart, b[i] as KeyPart);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const sign = (a: number | bigint | string, b: number | bigint | string) => (a < b ? -1 : a > b ? 1 : 0);

function rank(part: KeyPart): number {
  if (part === null) return 0;
  if (typeof part === 'boolean') return 1;
  if (typeof part === 'number') return 2;
  if (typeof part === 'bigint') return 3;
  if (part instanceof Date) return 4;
  if (typeof part === 'string') return 5;
  if (part instanceof Utf16) return 6;
  if (part instanceof Uint8Array) return 7;
  return 8;
}

function compareParts(a: KeyPart, b: KeyPart): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'string') return compareTuples(codePoints(a), codePoints(b as string));
  if (a instanceof Utf16) return sign(a.text, (b as Utf16).text);
  if (a instanceof Date) return sign(a.getTime(), (b as Date).getTime());
  if (a instanceof Uint8Array) return compareTuples([...a], [...(b as Uint8Array)]);
  if (Array.isArray(a)) return compareTuples(a, b as readonly KeyPart[]);
  if (a === null) return 0;
  return sign(Number.isInteger(a) ? (a as number) : (a as bigint), b as bigint);
}

const codePoints = (text: string) => Array.from(text, (character) => character.codePointAt(0) as number);

/** Few distinct values, so that equal and nearly equal keys are common; lone surrogates and zeros among them. */
const text = fc
  .oneof(
    fc.array(
      fc.constantFrom(
        '\0',
        '\x01',
        'a',
        'b',
        '\x7f',
        'é',
        '\u07ff',
        '\u0800',
        '\ud800',
        '\udc00',
        '\uffff',
        '😀',
      ),
      { maxLength: 6 },
    ),
    fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
  )
  .map((units) => units.join(''));
const number = fc.oneof(
  fc.double({ noNaN: true }).map((value) => (value === 0 ? 0 : value)),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, 1, -1, Infinity, -Infinity, Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE),
);
const scalar: fc.Arbitrary<KeyPart> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  number,
  fc.bigInt(),
  fc.bigInt({ min: -300n, max: 300n }),
  fc.date({ noInvalidDate: true }),
  text,
  text.map(utf16),
  fc.uint8Array({ maxLength: 5 }),
  fc.array(fc.constantFrom(0, 1, 255), { maxLength: 4 }).map((bytes) => new Uint8Array(bytes)),
);
const part: fc.Arbitrary<KeyPart> = fc.letrec<{ part: KeyPart }>((tie) => ({
  part: fc.oneof(
    { withCrossShrink: true, depthSize: 'small' },
    { arbitrary: scalar, weight: 5 },
    { arbitrary: fc.array(tie('part'), { maxLength: 3 }), weight: 1 },
  ),
})).part;
const tuple = fc.array(part, { maxLength: 4 });

describe('keys', () => {
  test(`order and equality of tuples and of their bytes agree (seed ${seed})`, () => {
    const sameStart = fc.tuple(tuple, tuple, tuple).map(([head, a, b]) => [
      [...head, ...a],
      [...head, ...b],
    ]);
    fc.assert(
      fc.property(fc.oneof(fc.tuple(tuple, tuple), sameStart), ([a = [], b = []]) => {
        const order = Math.sign(compareBytes(encodeKey(a), encodeKey(b)));
        assert.equal(order, Math.sign(compareTuples(a, b)));
      }),
      { ...runs, numRuns: 10_000 },
    );
  });

  test(`decoding gives the tuple back (seed ${seed})`, () => {
    fc.assert(
      fc.property(tuple, (parts) => {
        assert.deepEqual(decodeKey(encodeKey(parts)), parts);
      }),
      runs,
    );
  });

  test('a key decodes from behind its prefix', () => {
    const key = encodeKey(['a', 1], Buffer.from('space'));
    assert.equal(key.subarray(0, 5).toString(), 'space');
    assert.deepEqual(decodeKey(key, 5), ['a', 1]);
  });

  test('-0 is 0', () => {
    assert.deepEqual(encodeKey([-0]), encodeKey([0]));
    assert.ok(Object.is(decodeKey(encodeKey([-0]))[0], 0));
  });

  test('a number and a bigint of the same value are different keys, all numbers first', () => {
    assert.ok(compareBytes(encodeKey([2]), encodeKey([1n])) < 0);
    assert.ok(compareBytes(encodeKey([Infinity]), encodeKey([-(2n ** 200n)])) < 0);
  });

  test('characters beyond the first plane: above the rest as a string, by their surrogates as utf16', () => {
    assert.ok(compareBytes(encodeKey(['\uffff']), encodeKey(['😀'])) < 0);
    assert.ok(compareBytes(encodeKey([utf16('\uffff')]), encodeKey([utf16('😀')])) > 0);
  });

  test('a written key is not changed by later ones, in the same slab or the next', () => {
    const keys = Array.from({ length: 3000 }, (_, i) => encodeKey(['key', i, 'x'.repeat(i % 300)]));
    keys.forEach((key, i) => {
      assert.deepEqual(decodeKey(key), ['key', i, 'x'.repeat(i % 300)]);
    });
    const long = 'é'.repeat(100_000);
    assert.deepEqual(decodeKey(encodeKey(['a', long, 'b'])), ['a', long, 'b']);
  });

  const refused: [string, unknown, RegExp][] = [
    ['NaN', NaN, /NaN/],
    ['an invalid date', new Date(NaN), /invalid date/],
    ['undefined', undefined, /undefined/],
    ['an object', {}, /an object \(Object\)/],
    ['an object without a class', Object.create(null), /no class/],
    ['a function', () => 1, /a function/],
    ['a symbol', Symbol('s'), /a symbol/],
    ['a bigint of 40,000 bytes', 1n << 320_000n, /bigint/],
    ['tuples 17 deep', Array.from({ length: 17 }).reduce<unknown>((inner) => [inner], []), /nests/],
  ];
  for (const [name, value, message] of refused) {
    test(`${name} is refused, and the next key is whole`, () => {
      assert.throws(
        () => encodeKey(['before', value as KeyPart]),
        (error) => error instanceof InvalidKeyError && message.test(error.message),
      );
      assert.deepEqual(decodeKey(encodeKey(['after'])), ['after']);
    });
  }

  const within = (key: Buffer, { from, to }: { from: Buffer; to: Buffer }) =>
    compareBytes(from, key) <= 0 && compareBytes(key, to) < 0;

  test(`a prefix range holds the tuples that begin with it and no other (seed ${seed})`, () => {
    fc.assert(
      fc.property(tuple, tuple, fc.boolean(), (prefix, other, joined) => {
        const parts = joined ? [...prefix, ...other] : other;
        const expected = compareTuples(parts.slice(0, prefix.length), prefix) === 0;
        assert.equal(within(encodeKey(parts), prefixRange(prefix)), expected);
      }),
      runs,
    );
  });

  test(`a text range holds the texts that begin with it and no other (seed ${seed})`, () => {
    fc.assert(
      fc.property(
        tuple,
        text,
        text,
        tuple,
        fc.boolean(),
        fc.boolean(),
        (head, begin, other, tail, joined, wide) => {
          const whole = joined ? begin + other : other;
          const wrap = (value: string) => (wide ? utf16(value) : value);
          const units = wide ? (value: string) => value.split('') : (value: string) => Array.from(value);
          const expected = units(begin).every((unit, i) => units(whole)[i] === unit);
          const key = encodeKey([...head, wrap(whole), ...tail]);
          assert.equal(within(key, textPrefixRange(head, wrap(begin))), expected);
          assert.equal(within(encodeKey([...head, 1]), textPrefixRange(head, wrap(begin))), false);
        },
      ),
      runs,
    );
  });

  test('the range of all tuples', () => {
    assert.ok(within(encodeKey([]), prefixRange([])));
    assert.ok(within(encodeKey([[[]]]), prefixRange([])));
  });

  test(`bytes that are no key are refused, whatever they are (seed ${seed})`, () => {
    const known = fc.constantFrom(0x00, 0x10, 0x20, 0x28, 0x40, 0x48, 0x50, 0x60, 0x80, 0xe0, 0xf7, 0xff);
    fc.assert(
      fc.property(fc.array(fc.oneof(known, fc.nat(255)), { maxLength: 12 }), (bytes) => {
        try {
          decodeKey(new Uint8Array(bytes));
        } catch (error) {
          assert.ok(error instanceof DamageError, String(error));
        }
      }),
      runs,
    );
    for (const bytes of [
      [0x20, 0x80],
      [0x28, 0x80, 0x02, 0x01],
      [0x40, 0x61],
      [0x50, 0x00, 0xff],
      [0x60],
      [0x28],
    ]) {
      assert.throws(() => decodeKey(new Uint8Array(bytes)), DamageError);
    }
  });
});
