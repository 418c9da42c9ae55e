// One request, parsed once. What a handler finds here was checked when the call was made: the path and
// the query decode, the account exists, the version is well formed.
//
// Signing reads what the client sent (`verb`, `rawPath`, `rawQuery`, `rawHeaders`); everything else reads
// the decoded fields. Percent-encoding is decoded exactly once, and no segment is ever normalised: a
// name may hold `.`, `..`, `//` and `%2F`.

import type { IncomingHttpHeaders } from 'node:http';
import type { CorsRule } from '../services/common/cors-rules.js';
import { invalidParameter, StorageError } from '../services/common/errors.js';
import { readAddress } from './address.js';
import type { Body } from './body.js';
import { placeOf } from './places.js';
import { parseQuery } from './uri.js';
import { negotiateVersion } from './versions.js';

export type ServiceName = 'blob' | 'queue' | 'table' | 'file';

/** `YYYY-MM-DD`; two versions compare as strings. */
export type Version = string;

/** What arrives before the body: a request of node, or a part of a batch. */
export interface RequestHead {
  readonly method: string;
  /** The request line's target, as sent. */
  readonly url: string;
  /** Names in lower case, as node joins repeated ones. */
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value ..., as sent. */
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly secure: boolean;
  /** Of a part of a batch that leaves out the account: its path as it was sent, and signed. */
  readonly signedPath?: string;
  /** Whether the client went away; of a part of a batch nobody knows. */
  isGone?(): boolean;
}

/** What is known of an account without asking the store. */
export interface Account {
  /** Whether its secondary endpoint may be read. */
  readonly secondary: boolean;
  readonly defaultVersion?: Version | undefined;
  readonly cors: readonly CorsRule[];
}

export interface CallOptions {
  readonly service: ServiceName;
  account(name: string): Account | undefined;
  readonly pathStyleOnly: boolean;
}

export class Call {
  /** Of this request alone: `x-ms-request-id`, also in the error's message and in the log. */
  readonly id: string;
  /** The wall clock when the head had arrived, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly service: ServiceName;

  /** What is meant: a table's POST may be a MERGE, by `X-HTTP-Method`. */
  readonly method: string;
  /** What was sent, and is signed. */
  readonly verb: string;
  readonly rawPath: string;
  /** After the `?`; empty without. */
  readonly rawQuery: string;
  /** Names in lower case, values decoded; of a repeated parameter the first value. */
  readonly query: ReadonlyMap<string, string>;
  /** Names in lower case, as node joins repeated ones. */
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value ..., as sent. */
  readonly rawHeaders: readonly string[];

  /** Without `-secondary`. */
  readonly account: string;
  /** What is known of the account. */
  readonly settings: Account;
  readonly secondary: boolean;
  /** Where the account is named: `/account/container` or `account.blob.host`. */
  readonly style: 'path' | 'host';
  readonly host: string;

  /** The path's form in the operation table, such as `/{container}/{blob}` (places.ts). */
  readonly resource: string;
  /** Container, queue, table or share; empty at the service root. */
  readonly container: string;
  /** What is named inside: blob, path in the share, message id, keys of an entity; else empty. */
  readonly name: string;

  /** What this request is served as: the version asked for, or the newest known if it is newer. */
  readonly version: Version;
  readonly remoteAddress: string;
  readonly secure: boolean;
  readonly body: Body;
  readonly #head: RequestHead;

  constructor(head: RequestHead, body: Body, id: string, now: number, options: CallOptions) {
    const address = readAddress(head.url, head.headers.host, options);
    this.id = id;
    this.startedAt = now;
    this.service = options.service;
    this.verb = head.method;
    this.method = options.service === 'table' ? tunnelled(head) : head.method;
    this.rawPath = head.signedPath ?? address.rawPath;
    this.rawQuery = address.rawQuery;
    this.query = parseQuery(address.rawQuery);
    this.headers = head.headers;
    this.rawHeaders = head.rawHeaders;
    this.account = address.account;
    this.settings = address.found;
    this.secondary = address.secondary;
    this.style = address.style;
    this.host = address.host;
    const place = placeOf(options.service, address.resourcePath, this.query);
    this.resource = place.resource;
    this.container = place.container;
    this.name = place.name;
    this.version = versionOf(this);
    this.remoteAddress = head.remoteAddress;
    this.secure = head.secure;
    this.body = body;
    this.#head = head;
  }

  /** Whether the client went away: for who waits long. */
  get isGone(): boolean {
    return this.#head.isGone?.() ?? false;
  }

  /** `x-ms-client-request-id`, when it is fit to be echoed. */
  get clientId(): string | undefined {
    return clientIdOf(this.headers);
  }

  /** `http://host:port/account` or `http://account.blob.host`: what links begin with. No slash at the end. */
  get endpoint(): string {
    const root = `${this.secure ? 'https' : 'http'}://${this.host}`;
    if (this.style === 'host') return root;
    return `${root}/${this.account}${this.secondary ? '-secondary' : ''}`;
  }

  /** How long it may take: `timeout` in seconds, 30 at most, 30 unless given. */
  get timeoutMs(): number {
    const text = this.query.get('timeout');
    if (text === undefined) return longestMs;
    const seconds = Number(text);
    if (/^\d{1,9}$/.test(text) && seconds > 0) return Math.min(seconds * 1000, longestMs);
    throw invalidParameter('timeout', text);
  }

  /** A header's value; of one that node keeps as a list, the first. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === 'string' || value === undefined ? value : value[0];
  }
}

const longestMs = 30_000;
const echoable = /^[\x21-\x7e]{1,1024}$/;

/** The id a client gave its request: visible ASCII, 1,024 characters at most. */
export function clientIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-ms-client-request-id'];
  return typeof id === 'string' && echoable.test(id) ? id : undefined;
}

function versionOf(call: Call): Version {
  return negotiateVersion({
    service: call.service,
    header: call.header('x-ms-version'),
    query: call.query,
    hasAuthorization: call.headers.authorization !== undefined,
    accountDefault: call.service === 'blob' ? call.settings.defaultVersion : undefined,
  });
}

const tunnelledMethods = ['MERGE', 'PATCH', 'PUT', 'DELETE'];

/** `X-HTTP-Method` of a table request, for clients behind proxies that let only GET and POST through. */
function tunnelled(head: RequestHead): string {
  const method = head.headers['x-http-method'];
  if (method === undefined) return head.method;
  if (head.method !== 'POST') throw new StorageError('XMethodNotUsingPost');
  if (typeof method !== 'string' || method.includes(',')) throw new StorageError('XMethodIncorrectCount');
  if (!tunnelledMethods.includes(method)) throw new StorageError('XMethodIncorrectValue');
  return method;
}
