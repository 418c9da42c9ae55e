// XML as answers have it: UTF-8 with a byte order mark, no white space between elements, an element
// without text closed in itself.
//
// XML 1.0 cannot carry every character a name may hold (U+0001, U+FFFF). A name that needs it is
// percent-encoded and says so: `<Name Encoded="true">a%01b</Name>`. In any other text such a character,
// which no reader would accept, becomes U+FFFD.

import type { Answer } from './answer.js';

/** What every document begins with. */
export const xmlHead = '\ufeff<?xml version="1.0" encoding="utf-8"?>';

/** An answer with an XML body; `document` without the head. */
export function xmlAnswer(status: number, document: string, headers: readonly string[] = []): Answer {
  return { status, headers: ['Content-Type', 'application/xml', ...headers], body: xmlHead + document };
}

/** `<Name>text</Name>`, or `<Name />` if there is no text. */
export function element(name: string, text: string): string {
  return text === '' ? `<${name} />` : `<${name}>${escapeText(text)}</${name}>`;
}

/** The same with children, which are XML already. */
export function parent(name: string, children: string): string {
  return children === '' ? `<${name} />` : `<${name}>${children}</${name}>`;
}

/** What came in a header, where each character is a byte: as UTF-8, which clients send, else as Latin-1. */
export function headerElement(name: string, bytes: string): string {
  return element(name, ascii.test(bytes) ? bytes : headerText(bytes));
}

const ascii = /^[ -~]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

function headerText(bytes: string): string {
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return bytes;
  }
}

/** The element if there is a value, else nothing. */
export function optional(name: string, text: string | undefined): string {
  return text === undefined ? '' : element(name, text);
}

/** A name, or anything made of names (prefix, marker, delimiter): encoded if XML cannot carry it. */
export function nameElement(name: string, text: string): string {
  if (!unfit.test(text)) return element(name, text);
  return `<${name} Encoded="true">${escapeText(encodeName(text))}</${name}>`;
}

/** An attribute that is made of names, and whether it had to be encoded. */
export function nameAttribute(name: string, text: string): string {
  const encoded = unfit.test(text);
  const value = encoded ? encodeName(text) : text;
  return ` ${name}="${escapeAttribute(value)}"${encoded ? ' Encoded="true"' : ''}`;
}

function encodeName(text: string): string {
  return encodeURIComponent(text.replace(halves, '\ufffd')).replaceAll('%2F', '/');
}

/** Half a surrogate pair. */
const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** A character that XML 1.0 has no way to write. */
const unfit = new RegExp(`[^\\t\\n\\r -\\ufffd]|${halves.source}`);
const unfitAll = new RegExp(unfit, 'g');
const special = /[&<>\r\ud800-\udfff]|[^\t\n -\ufffd]/;

export function escapeText(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replace(unfitAll, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;'); // a reader would make a bare one a line feed
}

export function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;').replaceAll('\n', '&#xA;').replaceAll('\t', '&#x9;');
}
