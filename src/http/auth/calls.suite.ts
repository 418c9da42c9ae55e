// Requests for the tests of authorization, made without a socket.

import type { Body } from '../body.js';
import type { Call, ServiceName } from '../call.js';
import type { AuthorizeContext } from './types.js';

/** The development account of all emulators; its key is public. */
export const account = 'devstoreaccount1';
export const key = Buffer.from(
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
  'base64',
);
export const otherKey = Buffer.alloc(64, 7);
export const now = Date.parse('2026-05-01T12:00:00Z');

const noBody: Body = {
  declaredLength: undefined,
  requireLength: () => 0,
  readAll: async () => Buffer.alloc(0),
  async *[Symbol.asyncIterator]() {},
};

export interface Extra extends Partial<Omit<Call, 'headers' | 'rawHeaders'>> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Where names repeat. */
  readonly rawHeaders?: readonly string[];
}

/** `GET /account/container/name?query`, or a whole URL with the account in the host. */
export function callOf(service: ServiceName, request: string, extra: Extra = {}): Call {
  const [method = '', target = ''] = request.split(' ');
  const hosted = /^https?:\/\/([\w-]+)\.[^/]*(.*)$/.exec(target);
  const url = hosted?.[2] ?? target;
  const [rawPath = '', rawQuery = ''] = [url.split('?', 1)[0], url.slice(url.indexOf('?') + 1 || url.length)];
  const segments = rawPath.slice(1).split('/');
  const named = hosted?.[1] ?? segments.shift() ?? '';
  const [container = '', ...rest] = segments.map(decodeURIComponent);
  const rawHeaders = extra.rawHeaders ?? Object.entries(extra.headers ?? {}).flat();
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2)
    headers[`${rawHeaders[i]}`.toLowerCase()] = `${rawHeaders[i + 1]}`;
  const table = /^([^(]*)(?:\((.*)\))?$/.exec(container);
  return {
    id: 'id',
    clientId: undefined,
    startedAt: now,
    service,
    method,
    url,
    rawPath,
    rawQuery,
    query: queryOf(rawQuery),
    account: named.replace(/-secondary$/, ''),
    secondary: named.endsWith('-secondary'),
    style: hosted ? 'host' : 'path',
    endpoint: '',
    resource: '',
    container: service === 'table' ? (table?.[1] ?? '').replace(/^(\$batch|tables)$/i, '') : container,
    name: service === 'table' ? (table?.[2] ?? '') : rest.join('/'),
    version: headers['x-ms-version'] ?? '2025-11-05',
    remoteAddress: '127.0.0.1',
    secure: false,
    body: noBody,
    ...extra,
    headers,
    rawHeaders,
  };
}

function queryOf(rawQuery: string): Map<string, string> {
  const query = new Map<string, string>();
  for (const part of rawQuery.split('&').filter((text) => text !== '')) {
    const [name = '', ...value] = part.split('=');
    const known = decodeURIComponent(name).toLowerCase();
    if (!query.has(known)) query.set(known, decodeURIComponent(value.join('=')));
  }
  return query;
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
