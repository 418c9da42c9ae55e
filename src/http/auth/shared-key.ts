// Shared key and shared key lite: what a request's signature is made over, and whether it was.
//
//   SharedKey      blob, queue, file   verb, eleven standard headers, x-ms- headers, path and whole query
//                  table               verb, Content-MD5, Content-Type, date, path and comp
//   SharedKeyLite  blob, queue, file   verb, Content-MD5, Content-Type, date, x-ms- headers, path and comp
//                  table               date, path and comp
//
// Everything is read as it was sent: the path keeps its percent-encoding, and a path-style path begins
// with the account, so the account stands there twice. Before version 2009-09-19 SharedKey was what
// SharedKeyLite is now.
//
// Clients do not all write the same text of one request. They sort x-ms- headers by code unit, by the
// weights of the service's culture, or in between; fold white space or not; send UTF-8 or Latin-1 in
// values; name the secondary in the path or not. The plain reading is tried first; the others are tried
// only if it fails and only where they differ.

import { formatHttpDate, parseHttpDate } from '../../base/times.js';
import { StorageError } from '../../services/common/errors.js';
import type { Call } from '../call.js';
import { parameters } from '../uri.js';
import { signedBy } from './hmac.js';
import { unauthenticated } from './refusals.js';

export type Scheme = 'SharedKey' | 'SharedKeyLite';

export type SignedRequest = Pick<
  Call,
  'service' | 'verb' | 'account' | 'rawPath' | 'rawQuery' | 'rawHeaders' | 'version'
>;

/** Accepts the request if either key signed it not more than 15 minutes ago; else throws 400 or 403. */
export function checkSharedKey(
  request: SignedRequest,
  authorization: string,
  keys: readonly Buffer[] | undefined,
  now: number,
): void {
  const [, scheme, account, signature] = authorizationForm.exec(authorization) ?? [];
  if (!isScheme(scheme) || account === undefined || signature === undefined) {
    throw new StorageError('InvalidAuthenticationInfo');
  }
  if (account !== request.account || keys === undefined) {
    throw unauthenticated(`The account '${account}' is not the account of this address, or does not exist.`);
  }
  const headers = gather(request.rawHeaders);
  checkDate(headers, now);
  const plain = write(scheme, request, headers, plainReading);
  if (signedBy(keys, plain, signature)) return;
  if (signedOtherwise(scheme, request, headers, plain, (text) => signedBy(keys, text, signature))) return;
  throw unauthenticated(
    `The MAC signature found in the HTTP request '${signature}' is not the same as any computed signature. Server used following string to sign: '${plain}'.`,
  );
}

const authorizationForm = /^(SharedKey|SharedKeyLite) ([^:\s]+):(\S+)$/;

function isScheme(text: string | undefined): text is Scheme {
  return text === 'SharedKey' || text === 'SharedKeyLite';
}

/** The text a client signs, in its plain reading. */
export function stringToSign(scheme: Scheme, request: SignedRequest): string {
  return write(scheme, request, gather(request.rawHeaders), plainReading);
}

const allowedSkewMs = 15 * 60 * 1000;

function checkDate(headers: Headers, now: number): void {
  const sent = headers.date ?? headers.standard[dateAt];
  const date = sent === undefined ? undefined : parseHttpDate(sent);
  if (date === undefined) throw unauthenticated('The Date header in the request is incorrect.');
  if (Math.abs(now - date) > allowedSkewMs) {
    throw unauthenticated(
      `Request date header too old or too far ahead: '${sent}'. It may differ by 15 minutes from the server's clock, which says '${formatHttpDate(now)}'.`,
    );
  }
}

// Headers

const standardNames = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
];
const standardPlaces = new Map(standardNames.map((name, index) => [name, index]));
const [lengthAt, md5At, typeAt, dateAt] = [2, 3, 4, 5] as const;

interface Headers {
  /** In the order of `standardNames`; undefined: not sent. */
  readonly standard: readonly (string | undefined)[];
  /** x-ms- headers, names in lower case, by code unit. */
  readonly own: readonly (readonly [name: string, value: string])[];
  /** `x-ms-date`. */
  readonly date: string | undefined;
}

function gather(rawHeaders: readonly string[]): Headers {
  const standard: (string | undefined)[] = new Array(standardNames.length).fill(undefined);
  const own: [string, string][] = [];
  let date: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = rawHeaders[i + 1] as string;
    if (name.startsWith('x-ms-')) {
      own.push([name, value]);
      if (name === 'x-ms-date') date = value;
      continue;
    }
    const place = standardPlaces.get(name);
    if (place === undefined) continue;
    if (standard[place] !== undefined) throw duplicate(name);
    standard[place] = value;
  }
  own.sort(([a], [b]) => byCodeUnit(a, b));
  const twice = own.find(([name], index) => name === own[index + 1]?.[0]);
  if (twice !== undefined) throw duplicate(twice[0]);
  return { standard, own, date };
}

function duplicate(name: string): StorageError {
  return new StorageError('InvalidHeaderValue', {
    details: { HeaderName: name, Reason: 'It is given twice.' },
  });
}

// The text

interface Reading {
  readonly value: (sent: string) => string;
  readonly order: (a: string, b: string) => number;
  readonly path: (sent: string, account: string) => string;
}

function write(scheme: Scheme, request: SignedRequest, headers: Headers, reading: Reading): string {
  const { service, verb, account } = request;
  const standard = headers.standard.map((value) => (value === undefined ? '' : reading.value(value)));
  const resource = `/${account}${reading.path(request.rawPath, account) || '/'}`;
  const [md5, type] = [standard[md5At], standard[typeAt]];

  if (service === 'table') {
    const date = headers.date ?? standard[dateAt];
    const brief = `${date}\n${resource}${compOf(request.rawQuery)}`;
    return scheme === 'SharedKeyLite' ? brief : `${verb}\n${md5}\n${type}\n${brief}`;
  }
  if (headers.date !== undefined) standard[dateAt] = '';
  const own = writeOwn(headers, reading, request.version);
  if (scheme === 'SharedKeyLite' || request.version < '2009-09-19') {
    return `${verb}\n${md5}\n${type}\n${standard[dateAt]}\n${own}${resource}${compOf(request.rawQuery)}`;
  }
  if (standard[lengthAt] === '0' && request.version >= '2015-02-21') standard[lengthAt] = '';
  return `${verb}\n${standard.join('\n')}\n${own}${resource}${wholeQuery(request.rawQuery)}`;
}

function writeOwn(headers: Headers, reading: Reading, version: string): string {
  const keepEmpty = version >= '2016-05-31';
  const { order } = reading;
  const sorted = order === byCodeUnit ? headers.own : [...headers.own].sort(([a], [b]) => order(a, b));
  let text = '';
  for (const [name, value] of sorted) {
    if (value !== '' || keepEmpty) text += `${name}:${reading.value(value)}\n`;
  }
  return text;
}

/** Every parameter on a line of its own, by name; of a repeated one the values sorted, with commas. */
function wholeQuery(rawQuery: string): string {
  if (rawQuery === '') return '';
  const values = new Map<string, string[]>();
  for (const [name, value] of parameters(rawQuery)) {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  let text = '';
  for (const name of [...values.keys()].sort()) text += `\n${name}:${values.get(name)?.sort().join(',')}`;
  return text;
}

function compOf(rawQuery: string): string {
  const comp = rawQuery === '' ? undefined : parameters(rawQuery).find(([name]) => name === 'comp');
  return comp === undefined ? '' : `?comp=${comp[1]}`;
}

// Readings

const asSent = (value: string) => value;
const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const plainReading: Reading = { value: asSent, order: byCodeUnit, path: asSent };

/** Runs of white space count as one space, but not between quotes. */
const folded = (value: string) =>
  value.replace(/("[^"]*")|[ \t\r\n]+/g, (_, quoted?: string) => quoted ?? ' ');
/** node reads header bytes as Latin-1; a client may have meant UTF-8. */
const utf8 = (value: string) => Buffer.from(value, 'latin1').toString('utf8');

/** A hyphen first, then an underscore, digits, letters. */
const byWeight = (a: string, b: string) => byCodeUnit(a.replaceAll('_', '.'), b.replaceAll('_', '.'));
/** As a dictionary does: hyphens count only where nothing else differs. */
function byCulture(a: string, b: string): number {
  return byWeight(a.replaceAll('-', ''), b.replaceAll('-', '')) || byCodeUnit(b, a);
}

/** The path as if it named the primary. */
function onPrimary(path: string, account: string): string {
  const secondary = `/${account}-secondary`;
  if (!path.startsWith(secondary)) return path;
  const rest = path.slice(secondary.length);
  return rest === '' || rest.startsWith('/') ? `/${account}${rest}` : path;
}

const otherReadings: readonly Reading[] = [asSent, folded, utf8].flatMap((value) =>
  [byCodeUnit, byCulture, byWeight].flatMap((order) =>
    [asSent, onPrimary].map((path) => ({ value, order, path })),
  ),
);

/** Reading a request in every way costs time, and who sends a wrong signature pays nothing for it. */
const mostHeadersReread = 100;

function signedOtherwise(
  scheme: Scheme,
  request: SignedRequest,
  headers: Headers,
  plain: string,
  matches: (text: string) => boolean,
): boolean {
  if (headers.own.length > mostHeadersReread) return false;
  const tried = new Set([plain]);
  return otherReadings.some((reading) => {
    const text = write(scheme, request, headers, reading);
    if (tried.has(text)) return false;
    tried.add(text);
    return matches(text);
  });
}
