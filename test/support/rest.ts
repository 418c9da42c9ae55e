// Requests to a server that was started as a program, signed with a key, by fetch.

import { signRequest } from '#src/http/auth/sign.js';
import type { ServiceName } from '#src/http/call.js';
import { newestVersion } from '#src/http/versions.js';
import { developmentAccount } from '#src/services/common/accounts.js';

export interface RestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly account?: string;
  readonly key?: string;
}

/** `path` follows the account: `/photos/cat.jpg?comp=lease`. */
export async function rest(
  service: ServiceName,
  url: string,
  path: string,
  options: RestOptions = {},
): Promise<Response> {
  const {
    method = 'GET',
    body,
    account = developmentAccount.name,
    key = developmentAccount.keys[0],
  } = options;
  const length = Buffer.byteLength(body ?? '');
  const headers: Record<string, string> = {
    'x-ms-date': new Date().toUTCString(),
    'x-ms-version': newestVersion,
    ...(service === 'table' && { Accept: 'application/json', 'Content-Type': 'application/json' }),
    ...(length > 0 || method === 'PUT' || method === 'POST' ? { 'Content-Length': String(length) } : {}),
    ...(service !== 'table' && length > 0 && { 'Content-Type': 'text/plain' }),
    ...options.headers,
  };
  const [rawPath = '', rawQuery = ''] = `/${account}${path}`.split('?');
  headers['Authorization'] = signRequest(
    'SharedKey',
    {
      service,
      verb: method,
      account,
      rawPath,
      rawQuery,
      rawHeaders: Object.entries(headers).flat(),
      version: headers['x-ms-version'] ?? '',
    },
    Buffer.from(key, 'base64'),
  );
  return fetch(`${url}/${account}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
}
