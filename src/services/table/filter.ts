// `$filter`: which entities a query is for.
//
//   filter      = and ("or" and)*
//   and         = term ("and" term)*
//   term        = "not" term | "(" filter ")" | comparison | name | "true" | "false"
//   comparison  = name operator literal | literal operator name
//   operator    = "eq" | "ne" | "gt" | "ge" | "lt" | "le"
//   literal     = 'text'  30  30L  1.5  true  false  datetime'..'  guid'..'  X'0a'  binary'0a'
//
// Keywords in lower case. A name by itself holds where it is a Boolean that is true.
//
//   property is absent            no comparison holds, `ne` neither
//   numbers                       compared by value, whatever their types
//   another type than literal's   `eq` does not hold, `ne` does; the others go by the order of the types,
//                                 in which numbers and times come before strings
//
// The reference speaks of 15 comparisons. The service takes many more, and clients rely on it (a grain
// directory of Orleans asks for 100 rows in one filter), so the bounds here are those of a URL.

import { ok, type Result, refuse } from '../../base/result.js';
import type { ErrorCode } from '../common/errors.js';
import type { EdmValue } from './edm.js';
import { FilterParser, FilterSyntaxError } from './filter-parser.js';

export type Operator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';

export type Filter = Readonly<
  | { kind: 'compare'; name: string; operator: Operator; literal: EdmValue }
  | { kind: 'flag'; name: string }
  | { kind: 'constant'; holds: boolean }
  | { kind: 'and'; parts: readonly Filter[] }
  | { kind: 'or'; parts: readonly Filter[] }
  | { kind: 'not'; part: Filter }
>;

export const everything: Filter = { kind: 'constant', holds: true };

const cacheSize = 256;
const longestCached = 2048;
/** Oldest first. Filters repeat: a program has a few, with few values. */
const cache = new Map<string, Filter>();

/** An empty one is no filter. */
export function parseFilter(text: string): Result<Filter, ErrorCode> {
  const known = cache.get(text);
  if (known !== undefined) {
    cache.delete(text);
    cache.set(text, known);
    return ok(known);
  }
  try {
    const filter = text.trim() === '' ? everything : new FilterParser(text).whole();
    if (text.length <= longestCached) remember(text, filter);
    return ok(filter);
  } catch (error) {
    if (error instanceof FilterSyntaxError) return refuse('InvalidInput');
    throw error;
  }
}

function remember(text: string, filter: Filter): void {
  if (cache.size >= cacheSize) {
    const [oldest] = cache.keys();
    if (oldest !== undefined) cache.delete(oldest);
  }
  cache.set(text, filter);
}

/** `get` gives a property of the entity at hand, or nothing where it has none. */
export function matches(filter: Filter, get: (name: string) => EdmValue | undefined): boolean {
  switch (filter.kind) {
    case 'compare': {
      const value = get(filter.name);
      return value !== undefined && compares(value, filter.operator, filter.literal);
    }
    case 'flag': {
      const value = get(filter.name);
      return value?.type === 'Edm.Boolean' && value.value;
    }
    case 'constant':
      return filter.holds;
    case 'and':
      return filter.parts.every((part) => matches(part, get));
    case 'or':
      return filter.parts.some((part) => matches(part, get));
    case 'not':
      return !matches(filter.part, get);
  }
}

function compares(value: EdmValue, operator: Operator, literal: EdmValue): boolean {
  const order = compareValues(value, literal);
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'gt':
      return order > 0;
    case 'ge':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
  }
}

/** In which order values of different types stand: numbers alike, and all before strings. Indexes keep it on disk. */
export const typeRank = {
  'Edm.Int32': 0,
  'Edm.Int64': 0,
  'Edm.Double': 0,
  'Edm.Boolean': 1,
  'Edm.DateTime': 2,
  'Edm.Guid': 3,
  'Edm.Binary': 4,
  'Edm.String': 5,
} as const satisfies Record<EdmValue['type'], number>;

/** Negative, zero or positive; NaN where NaN is compared, which is in no order and equal to nothing. */
function compareValues(a: EdmValue, b: EdmValue): number {
  if (typeRank[a.type] !== typeRank[b.type]) return typeRank[a.type] - typeRank[b.type];
  if (a.type === 'Edm.Binary' && b.type === 'Edm.Binary') return Buffer.compare(a.value, b.value);
  if (a.value < b.value) return -1;
  if (a.value > b.value) return 1;
  return Number.isNaN(a.value) || Number.isNaN(b.value) ? Number.NaN : 0;
}
