// How commands reach the store: through the socket of a server that runs, else by opening the folder themselves.
// Either way the same calls are answered (calls.ts).

import http from 'node:http';
import { hasCode } from '../../base/files.js';
import type { Account } from '../../services/common/accounts.js';
import { UsageError } from '../command-line.js';
import { type DataFolder, dataFolder, socketPath } from '../data-folder.js';
import { Faults } from '../faults.js';
import { Metrics } from '../metrics.js';
import { openStore } from '../open-store.js';
import { findRow, type Progress } from './calls.js';

export interface AdminClient extends AsyncDisposable {
  readonly isRemote: boolean;
  call(
    method: string,
    path: string,
    body?: Readonly<Record<string, unknown>>,
    progress?: (done: Progress) => void,
  ): Promise<unknown>;
}

/** `accounts`: those that a folder is to have which no server has open, as at a start. */
export async function connect(location: string, accounts: readonly Account[] = []): Promise<AdminClient> {
  const folder = dataFolder(location);
  return (await remote(folder)) ?? (await local(location, accounts));
}

/** Nothing if no server runs. */
export async function remote(folder: DataFolder): Promise<AdminClient | undefined> {
  const path = socketPath(folder);
  try {
    await ask(path, 'GET', '/health/live', {}, () => {});
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ECONNREFUSED')) return undefined;
    if (hasCode(error, 'EACCES')) {
      throw new UsageError(`${path} belongs to another user: run this as who runs the server`);
    }
    throw error;
  }
  return {
    isRemote: true,
    call: (method, at, body = {}, progress = () => {}) => ask(path, method, at, body, progress),
    async [Symbol.asyncDispose]() {},
  };
}

async function local(location: string, accounts: readonly Account[]): Promise<AdminClient> {
  const store = await openStore({ data: { location }, accounts });
  const parts = { store, metrics: new Metrics(), faults: new Faults(), urls: {}, testing: false };
  return {
    isRemote: false,
    async call(method, path, body = {}, progress = () => {}) {
      const found = findRow(method, path);
      if (found === undefined) throw new UsageError(`there is no ${method} ${path}`);
      return found.row[3]({ ...parts, name: found.name, body, progress });
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

function ask(
  socket: string,
  method: string,
  path: string,
  body: Readonly<Record<string, unknown>>,
  progress: (done: Progress) => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = JSON.stringify(body);
    const headers = {
      Accept: 'application/x-ndjson',
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(sent), // node leaves it out for GET and DELETE
    };
    const request = http.request({ socketPath: socket, method, path, headers }, (response) => {
      let rest = '';
      const take = (line: string) => {
        const told = JSON.parse(line) as { progress?: Progress; error?: string; result?: unknown };
        if (told.error !== undefined) reject(new UsageError(told.error));
        else if (told.progress !== undefined) progress(told.progress);
        else resolve(told.result);
      };
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        lines.filter((line) => line !== '').forEach(take);
      });
      const cutOff = () => reject(new UsageError('the server ended before it was done: run this again'));
      response.on('end', cutOff);
      response.on('error', cutOff);
    });
    request.on('error', reject);
    request.end(sent);
  });
}
