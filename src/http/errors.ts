// A refusal as bytes: status, `x-ms-error-code` and the body of the service.
//
//   blob, queue, file   <Error><Code/><Message/> and the details as further elements
//   table               {"odata.error": {...}}; XML where the operation speaks XML (ACL, properties, stats),
//                       Atom's error for an old version that asks for Atom
//
// The message ends with the request's id and the time, as Azure's does. What is no refusal is a bug of
// ours: it is logged and answered 500 `InternalError`, and nothing of it is told.

import { formatIsoTime } from '../base/times.js';
import { type ErrorCode, StorageError, type StorageErrorOptions } from '../services/common/errors.js';
import type { Answer } from './answer.js';
import type { Call } from './call.js';
import { errorLevel, jsonType, preference } from './odata.js';
import { statusOf } from './status.js';
import { element, xmlHead } from './xml.js';

/** A refusal whose answer carries headers of its own: a challenge, `Retry-After`, `Content-Range`. */
export class HeaderedError extends StorageError {
  /** Name, value, name, value ... */
  readonly headers: readonly string[];
  constructor(code: ErrorCode, headers: readonly string[], options: StorageErrorOptions = {}) {
    super(code, options);
    this.headers = headers;
  }
}

/** 503 for what may succeed in a moment: a lock was not granted in time, a conflict, a full disk. */
export function serverBusy(cause: unknown, retryAfterSeconds = 1): StorageError {
  return new HeaderedError('ServerBusy', ['Retry-After', String(retryAfterSeconds)], { cause });
}

/**
 * The refusal an exception stands for. `translate` knows the errors of the layers below; what it does
 * not know is a bug.
 */
export function refusalOf(
  error: unknown,
  translate: (error: unknown) => StorageError | undefined,
): StorageError {
  if (error instanceof StorageError) return error;
  return translate(error) ?? new StorageError('InternalError', { cause: error });
}

/** What an error's body tells of its request; all that is left of one that could not be parsed. */
export type ErrorContext = Pick<Call, 'service' | 'id'> & {
  readonly now: number;
  readonly call: Pick<Call, 'query' | 'headers' | 'version'> | undefined;
};

export function errorAnswer(error: StorageError, context: ErrorContext): Answer {
  const status = statusOf(error);
  const own = error instanceof HeaderedError ? error.headers : [];
  const headers = ['x-ms-error-code', error.code, ...own];
  if (status === 304) return { status, headers };
  const text = `${error.index === undefined ? '' : `${error.index}:`}${error.message}`;
  const message = `${text}\nRequestId:${context.id}\nTime:${isoTime(context.now)}`;
  const { type, body } = write(error, message, context);
  headers.push('Content-Type', type);
  if (context.service === 'table') {
    headers.push('Cache-Control', 'no-cache', 'X-Content-Type-Options', 'nosniff');
    const wish = preference(context.call?.headers['prefer']);
    if (wish !== undefined) headers.push('Preference-Applied', wish);
  }
  // The status line of a table says what it always says.
  return { status, headers, body, reason: context.service === 'table' ? undefined : reasonOf(error.message) };
}

type Written = { readonly type: string; readonly body: string };

function write(error: StorageError, message: string, context: ErrorContext): Written {
  if (context.service !== 'table' || speaksXml(context.call)) return writeXml(error, message);
  const call = context.call;
  if (call !== undefined && call.version < '2015-12-11' && call.headers.accept?.includes('atom')) {
    return writeAtom(error, message);
  }
  const level = errorLevel(call);
  const inner = Object.keys(error.details).length === 0 ? {} : { innererror: error.details };
  const body = { 'odata.error': { code: error.code, message: { lang: 'en-US', value: message }, ...inner } };
  return { type: jsonType(level), body: JSON.stringify(body) };
}

function writeXml(error: StorageError, message: string): Written {
  let details = '';
  for (const [name, value] of Object.entries(error.details)) details += element(name, value);
  const body = `<Error>${element('Code', error.code)}${element('Message', message)}${details}</Error>`;
  return { type: 'application/xml', body: xmlHead + body };
}

const atom = 'http://schemas.microsoft.com/ado/2007/08/dataservices/metadata';

function writeAtom(error: StorageError, message: string): Written {
  const text = element('message', message).replace('<message>', '<message xml:lang="en-US">');
  const body = `<error xmlns="${atom}">${element('code', error.code)}${text}</error>`;
  return { type: 'application/xml;charset=utf-8', body: xmlHead + body };
}

/** The table operations whose bodies are XML. */
function speaksXml(call: ErrorContext['call']): boolean {
  const comp = call?.query.get('comp');
  return comp === 'acl' || comp === 'properties' || comp === 'stats';
}

/** A status line carries visible ASCII alone. */
function reasonOf(message: string): string {
  return message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 256);
}

/** The clock may tell fractions of a millisecond. */
function isoTime(now: number): string {
  const ms = Math.floor(now);
  return formatIsoTime({ ms, ticks: Math.floor((now - ms) * 10_000) });
}
