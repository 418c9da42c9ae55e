// Predicates over a blob's tags: x-ms-if-tags on a request, and `where` of Find Blobs by Tags.
//
//   filter      = and ("OR" and)*                        a condition only
//   and         = term ("AND" term)*
//   term        = "(" filter ")"                         a condition only
//               | name operator 'value'
//   operator    = "=" | ">" | ">=" | "<" | "<=" | "<>"   "<>" in a condition only
//   name        = an identifier or "in double quotes"; in a search of a whole account also @container
//   value       in single quotes, a quote inside doubled
//
// Keywords in any case. Values are compared as strings, by code unit. A tag the blob does not have makes
// a comparison false, and <> true. At most ten AND and OR.

import { assert } from '../../base/assert.js';
import { invalidHeader, invalidParameter } from './errors.js';

export type TagOperator = '=' | '<>' | '>' | '>=' | '<' | '<=';
export type TagComparison = Readonly<{ name: string; operator: TagOperator; value: string }>;
export type TagFilter =
  | TagComparison
  | Readonly<{ any: readonly TagFilter[] }>
  | Readonly<{ all: readonly TagFilter[] }>;

/** Names and values as stored. */
export type Tags = readonly (readonly [name: string, value: string])[];

export type TagSearch = Readonly<{ container: string | undefined; all: readonly TagComparison[] }>;

const mostOperators = 10;
const deepest = 16;
const containerName = '@container';

/** A condition; `header` is named if it is malformed. */
export function parseTagCondition(header: string, text: string): TagFilter {
  try {
    return new Parser(text, 'condition').whole();
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidHeader(header, text);
    throw error;
  }
}

/** A search: comparisons that must all hold, in a container where one is named. */
export function parseTagSearch(text: string): TagSearch {
  try {
    const filter = new Parser(text, 'search').whole();
    const all = comparisons(filter);
    const places = all.filter(({ name }) => name === containerName);
    if (places.some(({ operator }) => operator !== '=') || places.length > 1) {
      throw new SyntaxError(`${containerName} can be compared once, with =`);
    }
    if (places.length === all.length) throw new SyntaxError('no tag is compared');
    return { container: places[0]?.value, all: all.filter(({ name }) => name !== containerName) };
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidParameter('where', text, error.message);
    throw error;
  }
}

function comparisons(filter: TagFilter): readonly TagComparison[] {
  if ('all' in filter) return filter.all.flatMap(comparisons);
  assert(!('any' in filter), 'a search has no OR');
  return [filter];
}

export function matchesTags(filter: TagFilter, tags: Tags): boolean {
  if ('all' in filter) return filter.all.every((part) => matchesTags(part, tags));
  if ('any' in filter) return filter.any.some((part) => matchesTags(part, tags));
  const value = tags.find(([name]) => name === filter.name)?.[1];
  return value === undefined ? filter.operator === '<>' : compares(value, filter);
}

export function compares(value: string, { operator, value: wanted }: TagComparison): boolean {
  switch (operator) {
    case '=':
      return value === wanted;
    case '<>':
      return value !== wanted;
    case '>':
      return value > wanted;
    case '>=':
      return value >= wanted;
    case '<':
      return value < wanted;
    case '<=':
      return value <= wanted;
  }
}

type Token = Readonly<{ kind: 'name' | 'value' | 'operator' | 'word' | 'paren'; text: string }>;

const tokens =
  /\s*(?:([()])|(<>|>=|<=|=|>|<)|'((?:[^']|'')*)'|"([^"]*)"|(@container\b)|([A-Za-z_][A-Za-z0-9_]*))/y;

class Parser {
  readonly #tokens: readonly Token[];
  readonly #kind: 'condition' | 'search';
  #next = 0;
  #operators = 0;

  constructor(text: string, kind: 'condition' | 'search') {
    this.#kind = kind;
    this.#tokens = tokenize(text);
  }

  whole(): TagFilter {
    const filter = this.#or(0);
    if (this.#next < this.#tokens.length) throw new SyntaxError('more than one expression');
    return filter;
  }

  #or(depth: number): TagFilter {
    if (depth > deepest) throw new SyntaxError('too many parentheses');
    const any = [this.#and(depth)];
    while (this.#keyword('OR')) any.push(this.#and(depth));
    return any.length === 1 && any[0] ? any[0] : { any };
  }

  #and(depth: number): TagFilter {
    const all = [this.#term(depth)];
    while (this.#keyword('AND')) all.push(this.#term(depth));
    return all.length === 1 && all[0] ? all[0] : { all };
  }

  #term(depth: number): TagFilter {
    if (this.#paren('(')) {
      const inner = this.#or(depth + 1);
      if (!this.#paren(')')) throw new SyntaxError('a parenthesis is not closed');
      return inner;
    }
    const name = this.#take('name', 'word');
    const operator = this.#take('operator') as TagOperator;
    const value = this.#take('value');
    if (operator === '<>' && this.#kind === 'search') throw new SyntaxError('<> is not supported');
    if (name === containerName && this.#kind === 'condition')
      throw new SyntaxError('a container is not a tag');
    return { name, operator, value };
  }

  #keyword(word: 'AND' | 'OR'): boolean {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'word' || token.text.toUpperCase() !== word) return false;
    if (word === 'OR' && this.#kind === 'search') throw new SyntaxError('OR is not supported');
    if (++this.#operators > mostOperators) throw new SyntaxError(`more than ${mostOperators} AND and OR`);
    this.#next++;
    return true;
  }

  #paren(text: '(' | ')'): boolean {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'paren' || token.text !== text) return false;
    if (this.#kind === 'search') throw new SyntaxError('parentheses are not supported');
    this.#next++;
    return true;
  }

  #take(...kinds: readonly Token['kind'][]): string {
    const token = this.#tokens[this.#next++];
    if (!token || !kinds.includes(token.kind)) {
      throw new SyntaxError(`${token ? `'${token.text}'` : 'the end'} where a ${kinds[0]} is wanted`);
    }
    return token.text;
  }
}

function tokenize(text: string): Token[] {
  const found: Token[] = [];
  const end = text.trimEnd().length;
  tokens.lastIndex = 0;
  while (tokens.lastIndex < end) {
    const [, paren, operator, value, quoted, container, word] = tokens.exec(text) ?? [];
    if (paren) found.push({ kind: 'paren', text: paren });
    else if (operator) found.push({ kind: 'operator', text: operator });
    else if (value !== undefined) found.push({ kind: 'value', text: value.replaceAll("''", "'") });
    else if (quoted ?? container) found.push({ kind: 'name', text: quoted ?? container ?? '' });
    else if (word) found.push({ kind: 'word', text: word });
    else throw new SyntaxError('a character that has no meaning here');
  }
  return found;
}
