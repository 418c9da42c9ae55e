// A server with a service of a few rows, for tests of what is the same in all services.

import type { TestContext } from 'node:test';
import type { Answer } from '#src/http/answer.js';
import type { Authorize } from '#src/http/auth/types.js';
import type { Account, Call, ServiceName } from '#src/http/call.js';
import { Endpoint, type EndpointOptions } from '#src/http/endpoint.js';
import type { Finished } from '#src/http/exchange.js';
import { Listener, type ListenOptions } from '#src/http/listen.js';
import type { Row } from '#src/http/operation.js';
import type { WireAddress } from './wire.js';

export interface FakeService {
  /** What a handler does, by the name of its operation. */
  readonly handlers: Readonly<Record<string, (call: Call) => Answer | Promise<Answer>>>;
}

const handle =
  (name: string) =>
  (call: Call, service: FakeService): Answer | Promise<Answer> =>
    service.handlers[name]?.(call) ?? described(call);

/** What was understood, as JSON. */
export function described(call: Call): Answer {
  const { method, resource, container, name, account, secondary, style, version, endpoint } = call;
  const query = Object.fromEntries(call.query);
  const told = { method, resource, container, name, account, secondary, style, version, endpoint, query };
  return { status: 200, headers: ['Content-Type', 'application/json'], body: JSON.stringify(told) };
}

const access = ['any', 'any', 'any'] as const;

// biome-ignore format: a table
const rows: readonly Row<FakeService>[] = [
  ['List',     'GET /?comp=list',                     '', '',           access, ['', 'none'],      'both',      handle('List')],
  ['Stats',    'GET /?restype=service&comp=stats',    '', '2013-08-15', access, ['', 'none'],      'secondary', handle('Stats')],
  ['Create',   'PUT /{container}?restype=container',  '', '',           access, ['', 'none'],      'primary',   handle('Create')],
  ['Copy',     'PUT /{container}/{blob}',  'x-ms-copy-source', '',      access, ['MNIUT', 'none'], 'primary',   handle('Copy')],
  ['Put',      'PUT /{container}/{blob}',             '', '',           access, ['MNIUT', 'none'], 'primary',   handle('Put')],
  ['Tags',     'PUT /{container}/{blob}?comp=tags',   '', '2019-12-12', access, ['T', 'none'],     'primary',   handle('Tags')],
  ['Get',      'GET|HEAD /{container}/{blob}',        '', '',           access, ['MNIUT', 'none'], 'both',      handle('Get')],
];

export interface Fake {
  readonly address: WireAddress;
  readonly listener: Listener;
  /** Every request that is over. */
  readonly finished: Finished[];
  /** Everything that was told as a bug. */
  readonly failures: unknown[];
}

export interface FakeOptions {
  readonly service?: ServiceName;
  readonly handlers?: FakeService['handlers'];
  readonly account?: Partial<Account>;
  readonly authorize?: Authorize;
  /** Of the account. */
  readonly keys?: readonly Buffer[];
  readonly translate?: EndpointOptions<FakeService>['translate'];
  readonly listen?: Partial<ListenOptions>;
}

/** Listens on a free port of this machine until the test is over. The account is `acct`. */
export async function fakeServer(t: TestContext, options: FakeOptions = {}): Promise<Fake> {
  const failures: unknown[] = [];
  const finished: Finished[] = [];
  let ids = 0;
  const account: Account = { secondary: true, cors: [], ...options.account };
  const endpoint = new Endpoint<FakeService>({
    name: options.service ?? 'blob',
    service: { handlers: options.handlers ?? {} },
    operations: rows,
    account: (name) => (name === 'acct' ? account : undefined),
    authorize: options.authorize ?? (() => ({ kind: 'key' })),
    authorizeContext: {
      now: () => Date.now(),
      keys: (name) => (name === 'acct' ? (options.keys ?? []) : undefined),
      policies: () => undefined,
      publicAccess: () => undefined,
    },
    translate: options.translate ?? (() => undefined),
    failed: (error) => failures.push(error),
    newId: () => `00000000-0000-0000-0000-${String(++ids).padStart(12, '0')}`,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5) + 0.6789,
    pathStyleOnly: false,
  });
  const listener = await Listener.open(endpoint, {
    host: '127.0.0.1',
    port: 0,
    finished: (one) => finished.push(one),
    ...options.listen,
  });
  t.after(() => listener.stop(0));
  return { address: { port: listener.address.port }, listener, finished, failures };
}
