// Entities and filters at random, made so that they meet.

import fc from 'fast-check';
import type { EdmValue } from './edm.js';
import type { EntityInput, Property } from './entity.js';

/** Few texts, so that filters and entities meet; with characters that the two orders of text disagree on. */
export const key = fc.constantFrom('', 'a', 'aa', 'ab', 'b', 'c', '\uffff', '😀', 'b ', 'é');

/** Each with the literal for it. Numbers that doubles cannot tell apart, texts that differ far behind. */
const long = 'x'.repeat(200);
const values: readonly (readonly [EdmValue, string])[] = [
  [{ type: 'Edm.String', value: '' }, "''"],
  [{ type: 'Edm.String', value: 'a' }, "'a'"],
  [{ type: 'Edm.String', value: 'b' }, "'b'"],
  [{ type: 'Edm.String', value: '\uffff' }, "'\uffff'"],
  [{ type: 'Edm.String', value: '😀' }, "'😀'"],
  [{ type: 'Edm.String', value: `${long}1` }, `'${long}1'`],
  [{ type: 'Edm.String', value: `${long}2` }, `'${long}2'`],
  [{ type: 'Edm.Int32', value: -1 }, '-1'],
  [{ type: 'Edm.Int32', value: 0 }, '0'],
  [{ type: 'Edm.Int32', value: 1 }, '1'],
  [{ type: 'Edm.Int64', value: 1n }, '1L'],
  [{ type: 'Edm.Int64', value: 2n ** 53n }, '9007199254740992L'],
  [{ type: 'Edm.Int64', value: 2n ** 53n + 1n }, '9007199254740993L'],
  [{ type: 'Edm.Double', value: 2 ** 53 }, '9007199254740992.0'],
  [{ type: 'Edm.Double', value: 1 }, '1.0'],
  [{ type: 'Edm.Double', value: -1.5 }, '-1.5'],
  [{ type: 'Edm.Double', value: Number.NaN }, 'NaN'],
  [{ type: 'Edm.Double', value: Number.POSITIVE_INFINITY }, 'INF'],
  [{ type: 'Edm.Boolean', value: false }, 'false'],
  [{ type: 'Edm.Boolean', value: true }, 'true'],
  [{ type: 'Edm.DateTime', value: '2020-01-01T00:00:00.0000000Z' }, "datetime'2020-01-01T00:00:00Z'"],
  [{ type: 'Edm.DateTime', value: '2020-01-01T00:00:00.0000001Z' }, "datetime'2020-01-01T00:00:00.0000001Z'"],
  [
    { type: 'Edm.Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' },
    "guid'c9da6455-213d-42c9-9a79-3e9149a57833'",
  ],
  [{ type: 'Edm.Binary', value: new Uint8Array([0]) }, "X'00'"],
  [{ type: 'Edm.Binary', value: new Uint8Array([0, 1]) }, "X'0001'"],
  [{ type: 'Edm.Binary', value: new Uint8Array() }, "X''"],
];

const value = fc.constantFrom(...values.map(([each]) => each));

export const entity: fc.Arbitrary<EntityInput> = fc
  .record({ partitionKey: key, rowKey: key, p: fc.option(value), q: fc.option(value) })
  .map(({ partitionKey, rowKey, p, q }) => ({
    partitionKey,
    rowKey,
    properties: [...(p ? [['p', p] as Property] : []), ...(q ? [['q', q] as Property] : [])],
  }));

const operator = fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le');
const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
const literal = fc.constantFrom(...values.map(([, text]) => text));

/** How often a comparison is of a key, and how often of a property. */
export function filters(weights: { keys: number; properties: number }): fc.Arbitrary<string> {
  const keys = fc.tuple(fc.constantFrom('PartitionKey', 'RowKey'), operator, key.map(quote));
  const properties = fc.tuple(fc.constantFrom('p', 'p', 'q', 'q', 'absent'), operator, literal);
  const comparison = fc.oneof(
    { arbitrary: keys, weight: weights.keys },
    { arbitrary: properties, weight: weights.properties },
  );
  return fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'medium' },
      { arbitrary: comparison.map((parts) => parts.join(' ')), weight: 4 },
      { arbitrary: comparison.map(([name, op, text]) => `${text} ${op} ${name}`), weight: 1 },
      { arbitrary: fc.constantFrom('p', 'true', 'false'), weight: 1 },
      { arbitrary: fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a}) and (${b})`), weight: 3 },
      { arbitrary: fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a}) or (${b})`), weight: 3 },
      { arbitrary: tie('filter').map((inner) => `not (${inner})`), weight: 1 },
    ),
  })).filter;
}
