// Running an operation of REST on a share: one transaction, which is run again after each wait for an SMB client to
// give up what it caches. Waiting ends with the request's time. A refusal is as true as a result: what led to it is
// checked at a commit too, because paths are read name by name while others move what they name.

import { LimitError, type Transaction } from '../../collections/index.js';
import { defaultSettings } from '../common/accounts.js';
import { type ErrorCode, StorageError } from '../common/errors.js';
import { type FileRefusal, FileRefused } from './refusals.js';
import type { FileService } from './service.js';
import type { Target } from './targets.js';

/** Thrown in a transaction: it ends, waits and begins again. */
export class MustWait extends Error {
  readonly changed: Promise<void>;

  constructor(changed: Promise<void>) {
    super('an SMB client has to give up what it caches first');
    this.changed = changed;
  }
}

const longestMs = 30_000;

export async function operate<T>(
  service: Pick<FileService, 'store' | 'accounts'>,
  { timeoutMs, share: [account] }: Pick<Target, 'timeoutMs' | 'share'>,
  operation: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const until = performance.now() + Math.min(timeoutMs, longestMs);
  for (;;) {
    try {
      const withinMs = Math.max(1, until - performance.now());
      const outcome = await service.store.run((tx) => judged(tx, operation), { withinMs });
      if ('refused' in outcome) throw outcome.refused;
      return outcome.result;
    } catch (error) {
      if (!(error instanceof MustWait)) throw refusalOf(service, account, error);
      await within(error.changed, until - performance.now());
    }
  }
}

type Outcome<T> = Readonly<{ result: T } | { refused: Error }>;

async function judged<T>(tx: Transaction, operation: (tx: Transaction) => Promise<T>): Promise<Outcome<T>> {
  try {
    return { result: await operation(tx) };
  } catch (error) {
    const isRefusal = error instanceof StorageError || error instanceof FileRefused;
    if (!isRefusal || tx.hasWrites) throw error;
    return { refused: error };
  }
}

/** 408 if it takes longer. */
async function within(changed: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StorageError('ClientCacheFlushDelay')), Math.max(0, ms));
  });
  try {
    await Promise.race([changed, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What REST says where the lock table says no. */
const codes: Partial<Record<FileRefusal, ErrorCode>> = {
  SharingViolation: 'SharingViolation',
  FileLockConflict: 'FileLockConflict',
  ShareNotFound: 'ShareNotFound',
  DiskFull: 'ShareSizeLimitReached',
};

function refusalOf({ accounts }: Pick<FileService, 'accounts'>, account: string, error: unknown): unknown {
  if (error instanceof LimitError) return new StorageError('ShareSizeLimitReached');
  if (!(error instanceof FileRefused)) return error;
  const { deletePendingErrorCode } = accounts.get(account)?.settings ?? defaultSettings;
  const code = error.code === 'DeletePending' ? deletePendingErrorCode : codes[error.code];
  return code === undefined ? error : new StorageError(code);
}
