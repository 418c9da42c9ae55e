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

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON does not allow in a text
const escaped = /[\\\u0000-\u001f]/;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** By character codes: this is on the path of every write. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Member[] {
    const members: Member[] = [];
    if (this.#peek() === 0xfeff) this.#at++; // a mark of byte order
    this.#expect(openBrace);
    if (this.#peek() === closeBrace) this.#at++;
    else {
      do {
        if (members.length === mostMembers) throw new JsonSyntaxError('too many members');
        members.push(this.#member());
      } while (this.#separator());
    }
    this.#peek();
    if (this.#at < this.#text.length) throw new JsonSyntaxError('something follows the object');
    return members;
  }

  #member(): Member {
    this.#peek();
    const name = this.#string();
    this.#expect(colon);
    return [name, this.#scalar()];
  }

  /** A comma: another member follows. A brace: none. */
  #separator(): boolean {
    const code = this.#peek();
    if (code !== comma && code !== closeBrace) throw new JsonSyntaxError('a comma or a brace is missing');
    this.#at++;
    return code === comma;
  }

  #scalar(): Scalar {
    switch (this.#peek()) {
      case quote:
        return this.#string();
      case 0x74:
        return this.#word('true', true);
      case 0x66:
        return this.#word('false', false);
      case 0x6e:
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #word<Value>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) throw new JsonSyntaxError('a word that is none');
    this.#at += word.length;
    return value;
  }

  #number(): Scalar {
    number.lastIndex = this.#at;
    const found = number.exec(this.#text);
    if (found === null) throw new JsonSyntaxError('a value that is none, or a list or an object');
    this.#at = number.lastIndex;
    return { number: found[0] };
  }

  #string(): string {
    const start = this.#at;
    if (this.#text.charCodeAt(start) !== quote) throw new JsonSyntaxError('a quote is missing');
    let end = this.#text.indexOf('"', start + 1);
    while (end > 0 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    if (end < 0) throw new JsonSyntaxError('a quote is missing');
    this.#at = end + 1;
    const plain = this.#text.slice(start + 1, end);
    return escaped.test(plain) ? (JSON.parse(this.#text.slice(start, end + 1)) as string) : plain;
  }

  #isEscaped(end: number): boolean {
    let backslashes = 0;
    while (this.#text.charCodeAt(end - 1 - backslashes) === backslash) backslashes++;
    return backslashes % 2 === 1;
  }

  #expect(code: number): void {
    if (this.#peek() !== code) throw new JsonSyntaxError(`${String.fromCharCode(code)} is missing`);
    this.#at++;
  }

  /** The next character that is no blank; NaN at the end. */
  #peek(): number {
    let code = this.#text.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      code = this.#text.charCodeAt(++this.#at);
    }
    return code;
  }
}
