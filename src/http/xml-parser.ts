// XML as requests have it, read strictly and within bounds.
//
// What is not well formed is refused with line, column and reason (400 `InvalidXmlDocument`). There are no
// entities but the five of XML and characters by number, no DTD, no nesting beyond a bound: a short
// document cannot become a long one. Attributes and namespaces mean nothing to the services; they are
// checked for form and left out.

import { invalidXml, StorageError } from '../services/common/errors.js';

export interface XmlNode {
  readonly name: string;
  /** The text and CDATA directly inside, joined; white space is kept. */
  readonly text: string;
  readonly children: readonly XmlNode[];
}

const deepest = 32;

/** The root element of a document. The bytes are bounded by whoever read them. */
export function parseXml(bytes: Buffer): XmlNode {
  return new Reader(decode(bytes)).document();
}

/** The first child of that name. */
export function child(node: XmlNode, name: string): XmlNode | undefined {
  return node.children.find((one) => one.name === name);
}

const utf8 = new TextDecoder('utf-8', { fatal: true }); // takes a byte order mark away

function decode(bytes: Buffer): string {
  try {
    const text = utf8.decode(bytes);
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  } catch {
    throw invalidXml('The document is not UTF-8.');
  }
}

const unfit = /[^\t\n\r -\ufffd]/;
const name = /[A-Za-z_:\u00c0-\ufffd][-.\w:\u00b7-\ufffd]*/y;
const attribute =
  /[ \t\n]+([A-Za-z_:\u00c0-\ufffd][-.\w:\u00b7-\ufffd]*)[ \t\n]*=[ \t\n]*("[^<"]*"|'[^<']*')/y;
const space = /[ \t\n]*/y;
const reference = /&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(lt|gt|amp|quot|apos));|&/g;
const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const noChildren: readonly XmlNode[] = [];

type Open = { readonly name: string; text: string; children: XmlNode[] | undefined };

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): XmlNode {
    const bad = unfit.exec(this.#text);
    if (bad !== null)
      this.#fail(`'0x${bad[0].charCodeAt(0).toString(16)}' is an invalid character.`, bad.index);
    if (/^<\?xml[ \t\n]/.test(this.#text)) this.#skipTo('?>', 'The declaration is not closed.');
    this.#misc();
    if (this.#text[this.#at] !== '<') this.#fail('Root element is missing.');
    const root = this.#element();
    this.#misc();
    if (this.#at < this.#text.length) this.#fail('There is data after the root element.');
    return root;
  }

  /** White space, comments and processing instructions around the root. */
  #misc(): void {
    while (true) {
      this.#match(space);
      if (this.#starts('<!--')) this.#comment();
      else if (this.#starts('<?')) this.#instruction();
      else if (this.#starts('<!')) this.#fail('A document type is not allowed.');
      else return;
    }
  }

  #element(): XmlNode {
    const stack: Open[] = [];
    while (true) {
      const closed = this.#starts('</') ? this.#closeTag(stack.pop()) : this.#openTag(stack);
      if (closed !== undefined) {
        const outer = stack.at(-1);
        if (outer === undefined) return closed;
        if (outer.children === undefined) outer.children = [closed];
        else outer.children.push(closed);
      }
      this.#content(stack.at(-1) as Open);
    }
  }

  /** Pushes the element, or gives it back if it is closed in itself. */
  #openTag(stack: Open[]): XmlNode | undefined {
    this.#at++;
    const tag = this.#match(name) ?? this.#fail('A name was expected.');
    this.#attributes();
    this.#match(space);
    if (this.#starts('/>')) {
      this.#at += 2;
      return { name: tag, text: '', children: noChildren };
    }
    if (this.#text[this.#at] !== '>') this.#fail(`The tag '${tag}' is not closed.`);
    this.#at++;
    if (stack.length >= deepest) this.#fail(`Elements are nested deeper than ${deepest}.`);
    stack.push({ name: tag, text: '', children: undefined });
    return undefined;
  }

  #closeTag(open: Open | undefined): XmlNode {
    const start = this.#at;
    this.#at += 2;
    const tag = this.#match(name);
    this.#match(space);
    if (this.#text[this.#at] !== '>' || open === undefined || open.name !== tag) {
      this.#fail(`The end tag '${tag ?? ''}' does not match the start tag '${open?.name ?? ''}'.`, start);
    }
    this.#at++;
    return { name: open.name, text: open.text, children: open.children ?? noChildren };
  }

  #attributes(): void {
    let seen: Set<string> | undefined;
    while (true) {
      attribute.lastIndex = this.#at;
      const found = attribute.exec(this.#text);
      if (found === null) return;
      const [whole, key = '', value = ''] = found;
      seen ??= new Set();
      if (seen.has(key)) this.#fail(`'${key}' is a duplicate attribute name.`);
      seen.add(key);
      this.#at += whole.length;
      this.#resolve(value, this.#at - value.length);
    }
  }

  /** Text, CDATA, comments and instructions up to the next tag. */
  #content(open: Open): void {
    while (true) {
      const end = this.#text.indexOf('<', this.#at);
      if (end < 0) this.#fail(`The element '${open.name}' is not closed.`, this.#text.length);
      if (end > this.#at) {
        const run = this.#text.slice(this.#at, end);
        if (run.includes(']]>')) this.#fail("']]>' is not allowed in text.");
        open.text += run.includes('&') ? this.#resolve(run, this.#at) : run;
        this.#at = end;
      }
      if (this.#starts('<!--')) this.#comment();
      else if (this.#starts('<![CDATA[')) open.text += this.#cdata();
      else if (this.#starts('<?')) this.#instruction();
      else if (this.#starts('<!')) this.#fail('A document type is not allowed.');
      else return;
    }
  }

  /** Text with its references replaced. */
  #resolve(text: string, at: number): string {
    return text.replace(reference, (whole, hex?: string, decimal?: string, entity?: string, ...rest) => {
      if (entity !== undefined) return entities[entity] ?? '';
      const code = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal);
      if (!isCharacter(code)) this.#fail(`'${whole}' is no reference to a character.`, at + Number(rest[0]));
      return String.fromCodePoint(code);
    });
  }

  #cdata(): string {
    const start = this.#at + '<![CDATA['.length;
    this.#skipTo(']]>', 'The CDATA section is not closed.');
    return this.#text.slice(start, this.#at - 3);
  }

  #comment(): void {
    const start = this.#at;
    this.#at += 4;
    this.#skipTo('--', 'The comment is not closed.');
    if (this.#text[this.#at] !== '>') this.#fail("'--' is not allowed in a comment.", start);
    this.#at++;
  }

  #instruction(): void {
    if (/^<\?xml[ \t\n?]/i.test(this.#text.slice(this.#at, this.#at + 6))) {
      this.#fail('The declaration must be the first thing in the document.');
    }
    this.#skipTo('?>', 'The processing instruction is not closed.');
  }

  #skipTo(end: string, reason: string): void {
    const found = this.#text.indexOf(end, this.#at);
    if (found < 0) this.#fail(reason);
    this.#at = found + end.length;
  }

  #starts(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found[0];
  }

  #fail(reason: string, at = this.#at): never {
    const before = this.#text.slice(0, at);
    const line = String(before.split('\n').length);
    const position = String(at - before.lastIndexOf('\n'));
    throw new StorageError('InvalidXmlDocument', {
      details: { LineNumber: line, LinePosition: position, Reason: reason },
    });
  }
}

/** A character that XML 1.0 allows; `NaN` of a lone `&` is none. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 9 || code === 10 || code === 13;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}
