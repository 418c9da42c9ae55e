// Requests for tests, made without a socket.

import { bodyOf } from '../body.js';
import { Call, type ServiceName } from '../call.js';
import type { AuthorizeContext } from './types.js';

/** The development account of all emulators; its key is public. */
export const account = 'devstoreaccount1';
export const key = Buffer.from(
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
  'base64',
);
export const otherKey = Buffer.alloc(64, 7);
export const now = Date.parse('2026-05-01T12:00:00Z');

export interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  /** Where names repeat. */
  readonly rawHeaders?: readonly string[];
  readonly remoteAddress?: string;
  readonly secure?: boolean;
  readonly body?: string;
}

/** `GET /account/container/name?query`, or a whole URL with the account in the host. */
export function callOf(service: ServiceName, request: string, extra: Extra = {}): Call {
  const space = request.indexOf(' ');
  const [method, url] = [request.slice(0, space), request.slice(space + 1)];
  const rawHeaders = extra.rawHeaders ?? Object.entries(extra.headers ?? {}).flat();
  const headers: Record<string, string> = { host: '127.0.0.1' };
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers[`${rawHeaders[at]}`.toLowerCase()] ??= `${rawHeaders[at + 1]}`;
  }
  const { remoteAddress = '127.0.0.1', secure = false } = extra;
  const body = bodyOf(Buffer.from(extra.body ?? ''));
  return new Call({ method, url, headers, rawHeaders, remoteAddress, secure }, body, 'id', now, {
    service,
    account: (name) => (name === account ? { secondary: true, cors: [] } : undefined),
    pathStyleOnly: false,
  });
}

/** A world with the one account, nothing stored and the clock at `now`. */
export function contextOf(changes: Partial<AuthorizeContext> = {}): AuthorizeContext {
  return {
    now: () => now,
    keys: (name) => (name === account ? [key, otherKey] : undefined),
    policies: () => [],
    publicAccess: () => undefined,
    ...changes,
  };
}
