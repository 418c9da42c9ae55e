// Backups of a state manager while work goes on, and a state made of them. The engine takes, verifies and
// restores them; here are the caller's words for it, and the refusals of the original.

import type { BackupInfo as EngineBackupInfo } from '../engine/engine.js';
import { FormatError } from '../engine/errors.js';
import { restore as restoreEngine } from '../engine/restore.js';
import {
  ArgumentError,
  ArgumentOutOfRangeError,
  InvalidOperationError,
  MissingFullBackupError,
  OperationCanceledError,
  TimeoutError,
  translate,
} from './errors.js';
import type { Kernel } from './kernel.js';
import { longestTimer } from './waits.js';

export interface BackupInfo extends EngineBackupInfo {
  readonly folder: string;
}

export interface BackupOptions {
  /** One that is empty, or is not there yet. */
  readonly folder: string;
  /** Full unless given. An incremental one holds what has changed since the last backup, of either kind. */
  readonly kind?: 'full' | 'incremental';
  /** A full one where there is none that an incremental one could stand on, instead of a `MissingFullBackupError`. */
  readonly orFull?: boolean;
  /** Takes the folder away to a safe place, for instance. Only if the answer is true, the backup counts. */
  readonly callback?: (info: BackupInfo, signal: AbortSignal) => boolean | Promise<boolean>;
  /** For all of it, the callback included; one hour unless given. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface RestoreOptions {
  /** A folder that holds a full backup and those that stand on it, at any depth down to four, or all their folders. */
  readonly from: string | readonly string[];
  /** Where the state shall be. No process may have it open. */
  readonly location: string;
  /** `safe`: only where nothing is, or something older. `force`: what is there is replaced. Safe unless given. */
  readonly policy?: 'safe' | 'force';
  readonly signal?: AbortSignal;
  readonly progress?: (done: { readonly rows: number; readonly totalRows: number }) => void;
}

const hourMs = 3_600_000;

export async function takeBackup(kernel: Kernel, options: BackupOptions): Promise<BackupInfo> {
  checkFolder('folder', options?.folder);
  const { folder, kind = 'full', callback, timeoutMs = hourMs } = options;
  if (kind !== 'full' && kind !== 'incremental')
    throw new ArgumentError(`kind is full or incremental, not ${String(kind)}`);
  if (callback !== undefined && typeof callback !== 'function')
    throw new ArgumentError('callback is a function');
  if (!(timeoutMs >= 0 && timeoutMs <= longestTimer))
    throw new ArgumentOutOfRangeError(`timeoutMs is from 0 to ${longestTimer}, but is ${String(timeoutMs)}`);
  kernel.assertPrimary();
  using limit = new Limit(timeoutMs, options.signal);
  const accept = async (info: EngineBackupInfo) => {
    if (callback !== undefined && (await limit.race(callback({ ...info, folder }, limit.signal))) !== true)
      throw new InvalidOperationError('the callback did not take the backup, and so it does not count');
    limit.signal.throwIfAborted();
    kernel.assertPrimary();
  };
  // Not raced: when it rejects it has ended, and the next one may begin.
  const take = (wanted: 'full' | 'incremental') =>
    kernel.engine.backup(folder, { kind: wanted, accept, signal: limit.signal });
  try {
    const info = await take(kind).catch((error) => {
      if (options.orFull && translate(error) instanceof MissingFullBackupError) return take('full');
      throw error;
    });
    return { ...info, folder };
  } catch (error) {
    throw refusal(error);
  }
}

/** All of the backups is verified before anything is changed. */
export async function restoreBackup(options: RestoreOptions): Promise<EngineBackupInfo> {
  const { from, location, policy = 'safe', signal, progress } = options ?? {};
  for (const folder of typeof from === 'string' ? [from] : (from ?? [undefined])) checkFolder('from', folder);
  checkFolder('location', location);
  if (policy !== 'safe' && policy !== 'force')
    throw new ArgumentError(`policy is safe or force, not ${String(policy)}`);
  using limit = new Limit(longestTimer, signal);
  try {
    return await restoreEngine(from, location, {
      replace: policy === 'safe' ? 'older' : 'always',
      signal: limit.signal,
      ...(progress && { progress }),
    });
  } catch (error) {
    throw refusal(error);
  }
}

/** Ends work in time, or by the caller's signal, each with an error of its own. */
class Limit implements Disposable {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #given: AbortSignal | undefined;

  constructor(timeoutMs: number, given: AbortSignal | undefined) {
    this.#given = given;
    const late = () => this.#abort.abort(new TimeoutError(`it took longer than ${timeoutMs} ms`));
    this.#timer = setTimeout(late, timeoutMs);
    given?.addEventListener('abort', this.#cancel);
    if (given?.aborted) this.#cancel();
  }

  readonly #cancel = (): void =>
    this.#abort.abort(new OperationCanceledError('it was canceled', { cause: this.#given?.reason }));

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The result, unless the signal comes first. */
  async race<T>(work: Promise<T> | T): Promise<T> {
    const { signal } = this;
    let stop = () => {};
    const ended = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
    });
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      return await Promise.race([work, ended]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#cancel);
  }
}

function checkFolder(name: string, folder: unknown): void {
  if (typeof folder !== 'string' || folder === '')
    throw new ArgumentError(`${name} is the path of a folder, not ${String(folder)}`);
}

/** A folder that cannot be taken is the caller's mistake here. */
function refusal(error: unknown): unknown {
  return error instanceof FormatError ? new ArgumentError(error.message, { cause: error }) : translate(error);
}
