// JSON as entities have it: one object whose members are texts, numbers, true, false and null. JSON.parse
// would lose what matters here: whether a number was written with a decimal point, and a member twice.

import { isUtf8 } from 'node:buffer';
import { ok, type Result, refuse } from '../../base/result.js';

/** A number stays as it was written. */
export type Scalar = string | boolean | null | Readonly<{ number: string }>;
export type Member = readonly [name: string, value: Scalar];

/** Far above what an entity can hold with all its annotations. */
const mostMembers = 2048;

class JsonSyntaxError extends SyntaxError {}

/** Members in the order they came, a repeated one each time. */
export function parseFlatJson(body: Buffer): Result<readonly Member[], 'InvalidInput'> {
  if (!isUtf8(body)) return refuse('InvalidInput');
  try {
    return ok(new Scanner(body.toString()).whole());
  } catch (error) {
    if (error instanceof SyntaxError) return refuse('InvalidInput'); // also of JSON.parse, for an escape
    throw error;
  }
}

const blank = /[\ufeff \t\r\n]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON does not allow in a text
const escaped = /[\\\u0000-\u001f]/;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Member[] {
    const members: Member[] = [];
    this.#expect('{');
    if (this.#peek() === '}') this.#at++;
    else {
      do {
        if (members.length === mostMembers) throw new JsonSyntaxError('too many members');
        members.push(this.#member());
      } while (this.#separator());
    }
    this.#skip();
    if (this.#at < this.#text.length) throw new JsonSyntaxError('something follows the object');
    return members;
  }

  #member(): Member {
    this.#skip();
    const name = this.#string();
    this.#expect(':');
    return [name, this.#scalar()];
  }

  /** A comma: another member follows. A brace: none. */
  #separator(): boolean {
    const character = this.#peek();
    if (character !== ',' && character !== '}') throw new JsonSyntaxError('a comma or a brace is missing');
    this.#at++;
    return character === ',';
  }

  #scalar(): Scalar {
    const first = this.#peek();
    if (first === '"') return this.#string();
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    number.lastIndex = this.#at;
    const found = number.exec(this.#text);
    if (found === null) throw new JsonSyntaxError('a value that is none, or a list or an object');
    this.#at = number.lastIndex;
    return { number: found[0] };
  }

  #string(): string {
    const start = this.#at;
    if (this.#text[start] !== '"') throw new JsonSyntaxError('a quote is missing');
    let end = this.#text.indexOf('"', start + 1);
    while (end > 0 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    if (end < 0) throw new JsonSyntaxError('a quote is missing');
    this.#at = end + 1;
    const plain = this.#text.slice(start + 1, end);
    return escaped.test(plain) ? (JSON.parse(this.#text.slice(start, end + 1)) as string) : plain;
  }

  #isEscaped(quote: number): boolean {
    let backslashes = 0;
    while (this.#text[quote - 1 - backslashes] === '\\') backslashes++;
    return backslashes % 2 === 1;
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw new JsonSyntaxError(`${character} is missing`);
    this.#at++;
  }

  #peek(): string | undefined {
    this.#skip();
    return this.#text[this.#at];
  }

  #skip(): void {
    blank.lastIndex = this.#at;
    blank.test(this.#text);
    this.#at = blank.lastIndex;
  }
}
