// What can be asked of a server by its operator: one table for the admin port, the socket of the data folder, and
// commands that find no server running and open the store themselves.

import { randomBytes } from 'node:crypto';
import type { BlobService } from '../../services/blob/service.js';
import { accountUsage } from '../../services/blob/usage.js';
import { changeSettings, createAccount, defaultSettings, newKey } from '../../services/common/accounts.js';
import { UsageError } from '../command-line.js';
import { connectionString } from '../connection-string.js';
import type { Fault, Faults } from '../faults.js';
import type { Metrics } from '../metrics.js';
import type { OpenStore } from '../open-store.js';
import { removeAccount, resetAccount, resetAll } from '../reset.js';
import type { Urls } from '../serve.js';
import { isObject } from '../values.js';
import { type Body, text } from './body.js';
import { isReady } from './health.js';
import { overviewPage } from './page.js';
import {
  createIndexOf,
  deleteIndexOf,
  listDeadLetters,
  listIndexesOf,
  setDeadLetterOf,
} from './service-calls.js';

export interface AdminParts {
  readonly store: OpenStore;
  readonly metrics: Metrics;
  readonly faults: Faults;
  readonly urls: Urls;
  readonly testing: boolean;
}

export interface AdminCall extends AdminParts {
  /** What the path names. */
  readonly name: string;
  readonly body: Body;
  /** How far it is: lines for who waits. */
  progress(done: Progress): void;
}

export interface Progress {
  readonly what: string;
  readonly done: number;
  /** Nothing where nobody knows. */
  readonly total?: number;
}

type Handler = (call: AdminCall) => unknown;

/** `open`: anybody who reaches it. `token`: who knows the token, or comes by the socket. */
export type Row = readonly [method: string, path: string, need: 'open' | 'token', handler: Handler];

// biome-ignore format: a table
export const rows: readonly Row[] = [
  ['GET',    '/',                                   'open',  overviewPage],
  ['GET',    '/health/live',                        'open',  () => ({ live: true })],
  ['GET',    '/health/ready',                       'open',  ({ store }) => isReady(store)],
  ['GET',    '/metrics',                            'open',  ({ store, metrics }) => metrics.text(store)],
  ['GET',    '/api/state',                          'token', ({ store }) => ({ ...store.state.inspect(), health: healthOf(store) })],
  ['GET',    '/api/accounts',                       'token', listAccounts],
  ['POST',   '/api/accounts',                       'token', createNew],
  ['PATCH',  '/api/accounts/{name}',                'token', change],
  ['DELETE', '/api/accounts/{name}',                'token', remove],
  ['POST',   '/api/accounts/{name}/rotate',         'token', rotate],
  ['POST',   '/api/accounts/{name}/reset',          'token', ({ store, name }) => resetAccount(store, name)],
  ['GET',    '/api/accounts/{name}/connection-string', 'token', connection],
  ['GET',    '/api/dead-letter',                    'token', listDeadLetters],
  ['GET',    '/api/accounts/{name}/usage',          'token', usageOf],
  ['PUT',    '/api/dead-letter',                    'token', setDeadLetterOf],
  ['GET',    '/api/table-index',                    'token', listIndexesOf],
  ['PUT',    '/api/table-index',                    'token', createIndexOf],
  ['DELETE', '/api/table-index',                    'token', deleteIndexOf],
  ['POST',   '/api/backup',                         'token', backup],
  ['POST',   '/api/verify',                         'token', verify],
  ['POST',   '/api/import-azurite',                 'token', importFrom],
  ['POST',   '/api/reset',                          'token', ({ store, body }) => resetAll(store, body['everything'] === true)],
  ['POST',   '/api/clock',                          'token', moveClock],
  ['GET',    '/api/faults',                         'token', ({ faults }) => faults.list()],
  ['POST',   '/api/faults',                         'token', addFault],
  ['DELETE', '/api/faults',                         'token', clearFaults],
];

export function findRow(method: string, path: string): { row: Row; name: string } | undefined {
  for (const row of rows) {
    const [before, after] = row[1].split('{name}');
    if (row[0] !== method || before === undefined || !path.startsWith(before)) continue;
    if (after === undefined) {
      if (path === before) return { row, name: '' };
      continue;
    }
    const name = path.slice(before.length, path.length - after.length);
    if (path.endsWith(after) && /^[^/]{1,256}$/.test(name)) return { row, name };
  }
  return undefined;
}

function healthOf({ engine }: OpenStore): unknown {
  const { cause, damage, ...health } = engine.health();
  return {
    ...health,
    ...(cause !== undefined && { cause: String(cause) }),
    ...(damage && { damage: damage.message }),
  };
}

function listAccounts({ store }: AdminCall): unknown {
  return store.accounts.list().map(({ name, settings }) => ({ name, settings }));
}

/** The keys are told here and never again. */
async function createNew({ store, body, urls }: AdminCall): Promise<unknown> {
  const settings = changeSettings(defaultSettings, changesOf(body));
  const keys = [newKey(randomBytes), newKey(randomBytes)] as const;
  const account = createAccount(text(body, 'name'), keys, settings);
  await store.accounts.create(account);
  return { name: account.name, keys, connectionString: connectionString(account, urls) };
}

function changesOf({ settings = {} }: AdminCall['body']): (readonly [string, string])[] {
  if (!isObject(settings)) throw new UsageError('settings is an object');
  return Object.entries(settings).map(([name, value]) => [name, String(value)] as const);
}

async function change({ store, name, body }: AdminCall): Promise<unknown> {
  const settings = await store.accounts.changeSettings(name, (old) => changeSettings(old, changesOf(body)));
  return { name, settings };
}

async function remove({ store, name }: AdminCall): Promise<unknown> {
  await removeAccount(store, name);
  return { name };
}

async function rotate({ store, name, body }: AdminCall): Promise<unknown> {
  known(store, name);
  const which = body['key'] ?? 1;
  if (which !== 1 && which !== 2) throw new UsageError('an account has keys 1 and 2');
  const key = newKey(randomBytes);
  await store.accounts.changeKey(name, which, key);
  return { name, which, key };
}

function known({ accounts }: OpenStore, name: string) {
  const account = accounts.get(name);
  if (account === undefined) throw new UsageError(`there is no account ${name}`);
  return account;
}

function connection({ store, name, urls }: AdminCall): unknown {
  return { connectionString: connectionString(known(store, name), urls) };
}

/** What each container of the account uses. */
function usageOf({ store, name }: AdminCall): Promise<unknown> {
  const blobs = (store.services.get('blob')?.service as BlobService | undefined)?.store;
  if (blobs === undefined) throw new UsageError('this server serves no blobs');
  return accountUsage(blobs, known(store, name).name);
}

// What is rarely asked for is loaded when it is.

async function verify({ store, progress }: AdminCall): Promise<unknown> {
  const { verifyContents } = await import('../verify.js');
  return verifyContents(store, progress);
}

async function backup({ store, body, progress }: AdminCall): Promise<unknown> {
  const { takeBackup } = await import('../backup.js');
  const kind = body['incremental'] === true ? 'incremental' : 'full';
  return takeBackup(store, text(body, 'folder'), kind, progress);
}

async function importFrom({ store, body, progress }: AdminCall): Promise<unknown> {
  const { importAzurite } = await import('../azurite/import.js');
  return importAzurite(store, text(body, 'folder'), progress);
}

function forTesting({ testing }: AdminCall): void {
  if (!testing) throw new UsageError('only a server that was started with --testing does this');
}

const latestMs = Date.UTC(9999, 11, 31);

function moveClock(call: AdminCall): unknown {
  forTesting(call);
  const { store, body } = call;
  const ms = body['shiftMs'];
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw new UsageError('shiftMs is a number of milliseconds');
  const now = store.engine.clock.now() + ms;
  if (now < 0 || now > latestMs) throw new UsageError('the clock goes from 1970 to 9999');
  store.engine.clock.shift(ms);
  return { now: new Date(store.engine.clock.now()).toISOString() };
}

const faultMembers = ['service', 'operation', 'account', 'container', 'times', 'delayMs', 'answer'];
/** What a timer takes. */
const largestOfFault = 2 ** 31 - 1;
const answers = ['busy', 'error', 'break before', 'break after'];

function addFault(call: AdminCall): unknown {
  forTesting(call);
  const { faults, body } = call;
  for (const [name, value] of Object.entries(body)) {
    if (!faultMembers.includes(name))
      throw new UsageError(`a fault has no ${name}; it has ${faultMembers.join(', ')}`);
    const wanted = name === 'times' || name === 'delayMs' ? 'number' : 'string';
    if (typeof value !== wanted) throw new UsageError(`${name} is a ${wanted}`);
    if (wanted === 'number' && !((value as number) >= 0 && (value as number) <= largestOfFault))
      throw new UsageError(`${name} is a number from 0 to ${largestOfFault}`);
  }
  const { answer, delayMs } = body as Fault;
  if (answer === undefined && delayMs === undefined)
    throw new UsageError('a fault has delayMs, answer or both');
  if (answer !== undefined && !answers.includes(answer))
    throw new UsageError(`answer is one of ${answers.join(', ')}`);
  return { id: faults.add(body as Fault) };
}

function clearFaults({ faults, body }: AdminCall): unknown {
  faults.clear(typeof body['id'] === 'number' ? body['id'] : undefined);
  return faults.list();
}
