// One request, parsed once. What a handler finds here was checked when the call was made: the path and
// the query decode, the account exists, the version is well formed.
//
// Signing reads what the client sent (`url`, `rawPath`, `rawQuery`, `rawHeaders`); everything else reads
// the decoded fields. Percent-encoding is decoded exactly once, and no segment is ever normalised: a
// name may hold `.`, `..`, `//` and `%2F`.

import type { IncomingHttpHeaders } from 'node:http';
import type { Body } from './body.js';

export type ServiceName = 'blob' | 'queue' | 'table' | 'file';

/** `YYYY-MM-DD`; two versions compare as strings. */
export type Version = string;

export interface Call {
  /** Of this request alone: `x-ms-request-id`, also in the error's message and in the log. */
  readonly id: string;
  /** `x-ms-client-request-id`, when it is fit to be echoed. */
  readonly clientId: string | undefined;
  /** The wall clock when the head had arrived, in milliseconds since 1970. */
  readonly startedAt: number;

  readonly service: ServiceName;
  readonly method: string;
  /** As sent: `rawPath`, then `?` and `rawQuery` if there is a query. */
  readonly url: string;
  readonly rawPath: string;
  readonly rawQuery: string;
  /** Names in lower case, values decoded; of a repeated parameter the first value. */
  readonly query: ReadonlyMap<string, string>;
  /** Names in lower case, as node joins repeated ones. */
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value ..., as sent. */
  readonly rawHeaders: readonly string[];

  /** Without `-secondary`. */
  readonly account: string;
  readonly secondary: boolean;
  /** Where the account is named: `/account/container` or `account.blob.host`. */
  readonly style: 'path' | 'host';
  /** `http://host:port/account` or `http://account.blob.host`: what links and listings begin with. No slash at the end. */
  readonly endpoint: string;

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
}

/** A header's value; of one that node keeps as a list, the first. */
export function header(call: Pick<Call, 'headers'>, name: string): string | undefined {
  const value = call.headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
