// The parser behind filter.ts. Bounded in the length of a filter, its comparisons and its depth, because
// whoever may query may write it.

import {
  type EdmValue,
  parseDateTime,
  parseDouble,
  parseGuid,
  parseHex,
  parseInt32,
  parseInt64,
} from './edm.js';
import type { Filter, Operator } from './filter.js';

/** The filter is malformed or beyond the bounds. */
export class FilterSyntaxError extends SyntaxError {}

const longest = 32 * 1024;
const mostComparisons = 500;
const deepest = 500;

const operators: Readonly<Record<string, Operator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'gt',
  ge: 'ge',
  lt: 'lt',
  le: 'le',
};

/** The same comparison with its sides exchanged. */
const mirrored = { eq: 'eq', ne: 'ne', gt: 'lt', ge: 'le', lt: 'gt', le: 'ge' } as const;

type Token = Readonly<
  { kind: 'paren'; text: string } | { kind: 'word'; text: string } | { kind: 'literal'; literal: EdmValue }
>;

export class FilterParser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #comparisons = 0;

  constructor(text: string) {
    if (text.length > longest) throw new FilterSyntaxError('too long');
    this.#tokens = tokenize(text);
  }

  whole(): Filter {
    const filter = this.#or(0);
    if (this.#next < this.#tokens.length) throw new FilterSyntaxError('more than one expression');
    return filter;
  }

  #or(depth: number): Filter {
    return this.#several('or', () => this.#several('and', () => this.#term(depth)));
  }

  /** One part by itself, or several joined by the word; parts that are joined by it already are taken in. */
  #several(kind: 'and' | 'or', part: () => Filter): Filter {
    const first = part();
    if (!this.#word(kind)) return first;
    const parts = [first];
    do parts.push(part());
    while (this.#word(kind));
    return { kind, parts: parts.flatMap((each) => (each.kind === kind ? each.parts : [each])) };
  }

  #term(depth: number): Filter {
    if (depth > deepest) throw new FilterSyntaxError('too deep');
    if (this.#word('not')) return { kind: 'not', part: this.#term(depth + 1) };
    const token = this.#take();
    if (token.kind !== 'paren') return this.#comparison(token);
    if (token.text !== '(') throw new FilterSyntaxError('a parenthesis closes nothing');
    const inner = this.#or(depth + 1);
    const close = this.#take();
    if (close.kind !== 'paren' || close.text !== ')')
      throw new FilterSyntaxError('a parenthesis is not closed');
    return inner;
  }

  #comparison(left: Exclude<Token, { kind: 'paren' }>): Filter {
    if (++this.#comparisons > mostComparisons) throw new FilterSyntaxError('too many comparisons');
    const operator = this.#operator();
    if (operator === undefined) return alone(left);
    const right = this.#take();
    if (left.kind === 'word' && right.kind === 'literal') {
      return compare(nameOf(left.text), operator, right.literal);
    }
    if (left.kind === 'literal' && right.kind === 'word') {
      return compare(nameOf(right.text), mirrored[operator], left.literal);
    }
    throw new FilterSyntaxError('a comparison is of a property and a constant');
  }

  #operator(): Operator | undefined {
    const token = this.#tokens[this.#next];
    const operator =
      token?.kind === 'word' && Object.hasOwn(operators, token.text) ? operators[token.text] : undefined;
    if (operator !== undefined) this.#next++;
    return operator;
  }

  #word(text: string): boolean {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'word' || token.text !== text) return false;
    this.#next++;
    return true;
  }

  #take(): Token {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw new FilterSyntaxError('it ends too soon');
    return token;
  }
}

function alone(token: Exclude<Token, { kind: 'paren' }>): Filter {
  if (token.kind === 'word') return { kind: 'flag', name: nameOf(token.text) };
  if (token.literal.type === 'Edm.Boolean') return { kind: 'constant', holds: token.literal.value };
  throw new FilterSyntaxError('a constant is no condition');
}

/** Types that a property of the system is known to have. */
const systemTypes: Readonly<Record<string, EdmValue['type']>> = {
  PartitionKey: 'Edm.String',
  RowKey: 'Edm.String',
  Timestamp: 'Edm.DateTime',
};

function compare(name: string, operator: Operator, literal: EdmValue): Filter {
  const type = Object.hasOwn(systemTypes, name) ? systemTypes[name] : undefined;
  if (type !== undefined && type !== literal.type)
    throw new FilterSyntaxError(`${name} is compared with another type`);
  return { kind: 'compare', name, operator, literal };
}

/** `null` is not supported; a keyword cannot be a name. */
const reserved = new Set(['null', 'and', 'or', 'not', ...Object.keys(operators)]);

function nameOf(text: string): string {
  if (reserved.has(text)) throw new FilterSyntaxError(`${text} where a property is wanted`);
  return text;
}

/** In this order: a paren, a number, text in quotes with its type before it, a word. */
const pattern =
  /\s*(?:([()])|([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)([LldDfFmM]?)(?![\p{L}\p{N}_.'])|(-INF|-Infinity)\b|([A-Za-z]*)'((?:[^']|'')*)'|([\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Pc}\p{Mn}\p{Mc}\p{Cf}]*))/uy;

function tokenize(text: string): Token[] {
  const found: Token[] = [];
  const end = text.trimEnd().length;
  pattern.lastIndex = 0;
  while (pattern.lastIndex < end) {
    const [, paren, number, suffix, infinity, prefix, quoted, word] = pattern.exec(text) ?? [];
    if (paren !== undefined) found.push({ kind: 'paren', text: paren });
    else if (number !== undefined) found.push(literal(numberOf(number, suffix ?? '')));
    else if (infinity !== undefined)
      found.push(literal({ type: 'Edm.Double', value: Number.NEGATIVE_INFINITY }));
    else if (quoted !== undefined) found.push(literal(quotedLiteral(prefix ?? '', quoted)));
    else if (word !== undefined) found.push(constants.get(word) ?? { kind: 'word', text: word });
    else throw new FilterSyntaxError('a character that has no meaning here');
  }
  return found;
}

function literal(value: EdmValue | undefined): Token {
  if (value === undefined) throw new FilterSyntaxError('a constant that is none of its type');
  return { kind: 'literal', literal: value };
}

const constants: ReadonlyMap<string, Token> = new Map([
  ['true', literal({ type: 'Edm.Boolean', value: true })],
  ['false', literal({ type: 'Edm.Boolean', value: false })],
  ['NaN', literal({ type: 'Edm.Double', value: Number.NaN })],
  ['INF', literal({ type: 'Edm.Double', value: Number.POSITIVE_INFINITY })],
  ['Infinity', literal({ type: 'Edm.Double', value: Number.POSITIVE_INFINITY })],
]);

function numberOf(text: string, suffix: string): EdmValue | undefined {
  if (suffix === 'L' || suffix === 'l') return tagged('Edm.Int64', parseInt64(text));
  if (suffix === '' && /^[+-]?\d+$/.test(text)) return tagged('Edm.Int32', parseInt32(text));
  return tagged('Edm.Double', parseDouble(text));
}

function quotedLiteral(prefix: string, quoted: string): EdmValue | undefined {
  const text = quoted.replaceAll("''", "'");
  switch (prefix) {
    case '':
      return { type: 'Edm.String', value: text };
    case 'datetime':
      return tagged('Edm.DateTime', parseDateTime(text));
    case 'guid':
      return tagged('Edm.Guid', parseGuid(text));
    case 'X':
    case 'x':
    case 'binary':
      return tagged('Edm.Binary', parseHex(text));
    default:
      return undefined;
  }
}

function tagged(type: EdmValue['type'], value: EdmValue['value'] | undefined): EdmValue | undefined {
  return value === undefined ? undefined : ({ type, value } as EdmValue);
}
