// A server for one test, in memory, whose clock can be moved, and a client that signs what it sends.

import { strict as assert } from 'node:assert';
import type { TestContext } from 'node:test';
import { SystemClock } from '#src/base/clock.js';
import type { Files } from '#src/base/files.js';
import { signRequest } from '#src/http/auth/sign.js';
import type { ServiceName } from '#src/http/call.js';
import { newestVersion } from '#src/http/versions.js';
import { loopback } from '#src/server/config.js';
import { type RunningServer, serve } from '#src/server/serve.js';
import { type Account, type AccountSettings, developmentAccount } from '#src/services/common/accounts.js';
import type { FileService } from '#src/services/file/service.js';
import { verifyShares } from '#src/services/file/verify-shares.js';
import { ask, Wire, type WireAddress, type WireAnswer } from './wire.js';

export interface Request {
  readonly method?: string;
  /** After the account: `/photos/cat.jpg?comp=lease`, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
  /** Nobody: no signature. Left out: who holds the account's key. */
  readonly as?: 'anybody';
}

export interface TestServer {
  readonly clock: SystemClock;
  readonly running: RunningServer;
  readonly address: WireAddress;
  readonly account: Account;
  /** What was told as a bug; a test fails where there is any at its end. */
  readonly failures: unknown[];
  ask(request: Request): Promise<WireAnswer>;
  /** Sends the head of a request whose `Content-Length` is among its headers; the body is the caller's to send. */
  begin(request: Request): Promise<Wire>;
  /** Moves the clock on. */
  pass(seconds: number): void;
  /** The same server, asked at another of its services, or for another account. */
  at(service: ServiceName, account?: Account): TestServer;
}

export interface ServerOptions {
  readonly settings?: Partial<AccountSettings>;
  readonly location?: string;
  /** Where copies may come from: the public network unless it says any. */
  readonly copySources?: 'public' | 'any';
  /** Services beside the one that is asked. */
  readonly also?: readonly ServiceName[];
  /** The disk that it is on, if that is not this machine's. */
  readonly files?: Files;
}

export async function startServer(
  t: Pick<TestContext, 'after'>,
  service: ServiceName,
  options: ServerOptions = {},
): Promise<TestServer> {
  const clock = new SystemClock();
  const failures: unknown[] = [];
  const settings = { ...developmentAccount.settings, ...options.settings };
  const account = { ...developmentAccount, settings };
  const running = await serve(
    {
      data:
        options.location === undefined
          ? { memory: true, extentLimitBytes: 256 * 1024 * 1024 }
          : { location: options.location },
      services: Object.fromEntries(
        [service, ...(options.also ?? [])].map((name) => [name, { host: loopback, port: 0 }]),
      ),
      accounts: [account],
      pathStyleOnly: false,
      copySources: options.copySources,
      files: options.files,
      clock,
    },
    { failed: (error) => failures.push(error) },
  );
  t.after(async () => {
    const files = running.services.get('file') as FileService | undefined;
    const damage = files === undefined ? [] : (await verifyShares(files.store)).damage;
    await running.stop();
    assert.deepEqual(damage, [], 'shares hold together');
    assert.deepEqual(failures, [], 'nothing was told as a bug');
  });
  const at = (name: ServiceName, asked = account): TestServer => {
    const address = { port: Number(new URL(running.urls[name] ?? '').port) };
    return {
      ...{ clock, running, address, account: asked, failures, at },
      ask: (request) => ask(address, signed(request, name, asked)),
      begin: async (request) => (await Wire.open(address)).request(signed(request, name, asked)),
      pass: (seconds) => clock.shift(seconds * 1000),
    };
  };
  return at(service);
}

function signed(
  { method = 'GET', path, headers = {}, body, as }: Request,
  service: ServiceName,
  account: Account,
) {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent[name] = value;
  if (as === undefined) sent['x-ms-date'] ??= new Date().toUTCString();
  sent['x-ms-version'] ??= newestVersion;
  const length = Buffer.byteLength(body ?? '');
  if (length > 0 || method === 'PUT' || method === 'POST') sent['Content-Length'] ??= String(length);
  const [rawPath = '', rawQuery = ''] = `/${account.name}${path}`.split('?');
  if (as === undefined) {
    sent['Authorization'] = signRequest(
      'SharedKey',
      {
        service,
        verb: method,
        account: account.name,
        rawPath,
        rawQuery,
        rawHeaders: Object.entries(sent).flat(),
        version: sent['x-ms-version'],
      },
      Buffer.from(account.keys[0], 'base64'),
    );
  }
  const target = rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`;
  return { method, target, headers: sent, ...(body === undefined ? {} : { body }) };
}

/** The refusal has this status and code, in the header and, where there is a body, in it too. */
export async function refuses(
  answer: Promise<WireAnswer>,
  status: number,
  code: string,
): Promise<WireAnswer> {
  const got = await answer;
  assert.equal(`${got.status} ${got.headers.get('x-ms-error-code') ?? ''}`, `${status} ${code}`, got.text);
  if (got.text !== '') assert.match(got.text, new RegExp(`<Code>${code}</Code>`));
  return got;
}

/** It succeeds with this status. */
export async function gives(answer: Promise<WireAnswer>, status: number): Promise<WireAnswer> {
  const got = await answer;
  assert.equal(got.status, status, `${got.headers.get('x-ms-error-code') ?? ''} ${got.text}`);
  return got;
}
