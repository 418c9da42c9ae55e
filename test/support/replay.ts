// Sequences of requests as known programs send them, replayed: `await says('PUT /c/b?comp=lease', headers, '201')`.

import { strict as assert } from 'node:assert';
import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import type { TestServer } from './server.js';
import type { WireAnswer } from './wire.js';

type Headers = Readonly<Record<string, string | undefined>>;

/** A request as a line, and the answer that the program counts on: `201`, `409 LeaseAlreadyPresent`. */
export type Says = (
  line: string,
  headers: Headers,
  expected: string,
  body?: string | Buffer,
) => Promise<WireAnswer>;

/** A program that signs with the account's key and sends these headers with every request. */
export function program(server: TestServer, usual: Headers): Says {
  return async (line, headers, expected, body) => {
    const [method = '', path = ''] = line.split(' ');
    const sent = { method, path, headers: { ...usual, ...headers } };
    return told(line, await server.ask({ ...sent, ...(body === undefined ? {} : { body }) }), expected);
  };
}

const query = signSas(
  { service: 'blob', account: developmentAccount.name },
  { sv: '2021-12-02', ss: 'b', srt: 'sco', sp: 'rwdlactf', se: '2099-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);

/** The same by an account SAS in the URL. */
export function programWithSas(server: TestServer, usual: Headers): Says {
  return async (line, headers, expected, body) => {
    const [method = '', path = ''] = line.split(' ');
    const sent = { method, path: withSas(path), headers: { ...usual, ...headers }, as: 'anybody' as const };
    return told(line, await server.ask({ ...sent, ...(body === undefined ? {} : { body }) }), expected);
  };
}

export function withSas(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

function told(line: string, answer: WireAnswer, expected: string): WireAnswer {
  const code = answer.headers.get('x-ms-error-code');
  assert.equal(code === undefined ? String(answer.status) : `${answer.status} ${code}`, expected, line);
  return answer;
}
