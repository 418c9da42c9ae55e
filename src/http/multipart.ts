// Batch bodies: multipart/mixed whose parts are HTTP messages, for the transactions of tables and the batches
// of blobs.
//
//   --batch_A                                      a delimiter; lines end in CRLF, or in LF alone
//   Content-Type: application/http                 headers of the part
//   Content-ID: 0
//   (blank)
//   DELETE /container/blob HTTP/1.1                the part: a request, in an answer a status line
//   x-ms-date: ...
//   (blank)
//   ...                                            its body, to the line end before the next delimiter
//   --batch_A--                                    the last delimiter
//
// What clients send was read in their sources: the SDK for JavaScript has a blank line too many before a
// body, its predecessor ends lines in LF and writes `charset="utf-8"` before the boundary, Python may put the
// boundary in quotes. What clients parse is stricter: `multipart/mixed; boundary=` to the letter (.NET), CRLF
// before every delimiter (Go, .NET), one blank between a header's colon and its value (JavaScript).

import { STATUS_CODES } from 'node:http';
import { assert } from '../base/assert.js';
import { ok, type Result, refuse } from '../base/result.js';

export interface Part {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A request inside a part: what `node:http` would give of it by itself. */
export interface InnerRequest {
  readonly method: string;
  /** As sent, absolute or a path. */
  readonly url: string;
  /** Names in lower case; of a repeated one, all values in a row. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** An answer inside a part. Headers are name, value, name, value ... */
export interface InnerAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body?: Buffer | string | undefined;
}

const mostHeaders = 128;
const mostHeaderBytes = 64 * 1024;

/** The boundary a `multipart/mixed` names; nothing if it is another type or names none. */
export function boundaryOf(contentType: string | undefined): string | undefined {
  const type = /^\s*multipart\/mixed\s*(;.*)$/i.exec(contentType ?? '')?.[1];
  const found = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(type ?? '');
  const boundary = found?.[1] ?? found?.[2];
  return boundary !== undefined && boundary.length <= 200 ? boundary : undefined;
}

/** The parts, in order; of more than `mostParts` the first `mostParts` and one, so that it can be told. */
export function parseMultipart(
  body: Buffer,
  boundary: string,
  mostParts: number,
): Result<readonly Part[], 'InvalidInput'> {
  const parts: Part[] = [];
  let delimiter = nextDelimiter(body, boundary, 0);
  while (delimiter !== undefined && !delimiter.last && parts.length <= mostParts) {
    const next = nextDelimiter(body, boundary, delimiter.end);
    if (next === undefined) return refuse('InvalidInput');
    const part = parseHead(body.subarray(delimiter.end, Math.max(next.start, delimiter.end)));
    if (part === undefined) return refuse('InvalidInput');
    parts.push({ headers: new Map(pairs(part.rawHeaders, true)), body: part.body });
    delimiter = next;
  }
  return delimiter === undefined ? refuse('InvalidInput') : ok(parts);
}

export function parseInnerRequest(part: Buffer): Result<InnerRequest, 'InvalidInput'> {
  const line = lineAt(part, skipBlankLines(part));
  const [, method, url] = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/.exec(line.text) ?? [];
  if (method === undefined || url === undefined) return refuse('InvalidInput');
  const head = parseHead(part.subarray(line.next));
  if (head === undefined) return refuse('InvalidInput');
  const { rawHeaders, body } = head;
  return ok({ method, url, headers: joined(pairs(rawHeaders, true)), rawHeaders, body });
}

/** A part to write. Headers are name, value, name, value ... */
export interface OutPart {
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export function writeMultipart(boundary: string, parts: readonly OutPart[]): Buffer {
  return Buffer.concat([writeParts(boundary, parts), lineEnd]);
}

/** Parts as one part of another multipart. */
export function nestedPart(boundary: string, parts: readonly OutPart[]): OutPart {
  return { headers: ['Content-Type', multipartType(boundary)], body: writeParts(boundary, parts) };
}

function writeParts(boundary: string, parts: readonly OutPart[]): Buffer {
  const pieces = parts.flatMap(({ headers, body }) => [
    Buffer.from(`--${boundary}\r\n${headerLines(headers)}\r\n`),
    body,
    lineEnd,
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--`)]);
}

/** `multipart/mixed; boundary=`, the way every client knows it. */
export function multipartType(boundary: string): string {
  return `multipart/mixed; boundary=${boundary}`;
}

export function writeInnerAnswer({ status, headers, body }: InnerAnswer): Buffer {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${headerLines(headers)}\r\n`;
  return body === undefined ? Buffer.from(head) : Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

const lineEnd = Buffer.from('\r\n');

function headerLines(headers: readonly string[]): string {
  return pairs(headers, false)
    .map(([name, value]) => {
      assert(!/[\r\n]/.test(name + value), `a header of a part has a line end in it: ${name}`);
      return `${name}: ${value}\r\n`;
    })
    .join('');
}

/** Where a delimiter begins, the line end before it included, and where the next line does. */
interface Delimiter {
  readonly start: number;
  readonly end: number;
  readonly last: boolean;
}

function nextDelimiter(body: Buffer, boundary: string, from: number): Delimiter | undefined {
  const mark = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(mark, from); at >= 0; at = body.indexOf(mark, at + 1)) {
    if (at > 0 && body[at - 1] !== 0x0a) continue;
    const { text, next } = lineAt(body, at + mark.length, 64);
    if (!/^(?:--)?[ \t]*$/.test(text)) continue; // a longer boundary that begins like this one
    const start = at - (body[at - 1] !== 0x0a ? 0 : body[at - 2] === 0x0d ? 2 : 1);
    return { start, end: next, last: text.startsWith('--') };
  }
  return undefined;
}

/** A line from here on, without its end, and where the next begins. Beyond `most` it is cut. */
function lineAt(bytes: Buffer, at: number, most = mostHeaderBytes): { text: string; next: number } {
  const found = bytes.indexOf(0x0a, at);
  const end = found < 0 ? bytes.length : found;
  const trimmed = found > at && bytes[end - 1] === 0x0d ? end - 1 : end;
  return {
    text: bytes.toString('latin1', at, Math.min(trimmed, at + most + 1)),
    next: Math.min(end + 1, bytes.length),
  };
}

function skipBlankLines(bytes: Buffer): number {
  let at = 0;
  while (bytes[at] === 0x0d || bytes[at] === 0x0a) at++;
  return at;
}

/** Headers up to a blank line, and what follows it; nothing if a line is none, or there is too much of it. */
function parseHead(bytes: Buffer): { rawHeaders: string[]; body: Buffer } | undefined {
  const rawHeaders: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { text, next } = lineAt(bytes, at);
    at = next;
    if (text === '') break;
    const colon = text.indexOf(':');
    if (colon <= 0 || at > mostHeaderBytes || rawHeaders.length >= 2 * mostHeaders) return undefined;
    const name = text.slice(0, colon);
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return undefined;
    rawHeaders.push(name, text.slice(colon + 1).trim());
  }
  return { rawHeaders, body: bytes.subarray(at) };
}

function pairs(headers: readonly string[], lowerCase: boolean): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] as string;
    found.push([lowerCase ? name.toLowerCase() : name, headers[i + 1] as string]);
  }
  return found;
}

function joined(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) record[name] = name in record ? `${record[name]}, ${value}` : value;
  return record;
}
