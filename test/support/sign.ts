// Shared key signatures as a client makes them, written from the reference and not from the server's code:
// a test that signs with what it tests would agree with any mistake in it.

import { createHmac } from 'node:crypto';
import type { WireRequest } from './wire.js';

export const account = 'devstoreaccount1';
export const accountKey =
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export interface SignOptions {
  readonly service: 'blob' | 'queue' | 'table' | 'file';
  readonly account?: string;
  readonly key?: string;
  /** `x-ms-date`; now, unless given. */
  readonly date?: string;
  readonly version?: string;
}

/** The request with `x-ms-date`, `x-ms-version` and `Authorization` added. */
export function signed(request: WireRequest, options: SignOptions): WireRequest {
  const headers: Record<string, string | null> = {
    'x-ms-date': options.date ?? new Date().toUTCString(),
    'x-ms-version': options.version ?? '2025-01-05',
    ...request.headers,
  };
  const text = stringToSign({ ...request, headers }, options);
  const key = Buffer.from(options.key ?? accountKey, 'base64');
  const signature = createHmac('sha256', key).update(text, 'utf8').digest('base64');
  headers['Authorization'] = `SharedKey ${options.account ?? account}:${signature}`;
  return { ...request, headers };
}

export function stringToSign(request: WireRequest, options: SignOptions): string {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (value !== null) headers.set(name.toLowerCase(), value.trim().replace(/\s+/g, ' '));
  }
  const method = request.method ?? 'GET';
  const [path = '', query = ''] = request.target.split('?');
  const parameters = query.split('&').filter((part) => part !== '');
  const resource = `/${options.account ?? account}${path}`;
  const of = (name: string) => headers.get(name) ?? '';

  if (options.service === 'table') {
    const comp = parameters.find((part) => part.startsWith('comp='));
    const date = of('x-ms-date') || of('date');
    const lines = [method, of('content-md5'), of('content-type'), date];
    return `${lines.join('\n')}\n${resource}${comp === undefined ? '' : `?${comp}`}`;
  }

  const length = headers.get('content-length') ?? String(Buffer.byteLength(request.body ?? ''));
  const standard = [
    method,
    of('content-encoding'),
    of('content-language'),
    length === '0' ? '' : length,
    of('content-md5'),
    of('content-type'),
    headers.has('x-ms-date') ? '' : of('date'),
    of('if-modified-since'),
    of('if-match'),
    of('if-none-match'),
    of('if-unmodified-since'),
    of('range'),
  ];
  const own = [...headers].filter(([name]) => name.startsWith('x-ms-')).sort(byName);
  return [
    ...standard,
    ...own.map(([name, value]) => `${name}:${value}`),
    resource + queryText(parameters),
  ].join('\n');
}

function queryText(parameters: readonly string[]): string {
  const values = new Map<string, string[]>();
  for (const part of parameters) {
    const [name = '', ...value] = part.split('=');
    const key = decodeURIComponent(name).toLowerCase();
    values.set(key, [...(values.get(key) ?? []), decodeURIComponent(value.join('='))]);
  }
  const lines = [...values].sort(byName).map(([name, list]) => `\n${name}:${list.sort().join(',')}`);
  return lines.join('');
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
