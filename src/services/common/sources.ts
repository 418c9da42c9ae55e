// Where a service asks for the bytes of a copy that it does not have itself: another service of this server, which is
// asked inside the process, or another server.

import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from './errors.js';

export interface SourceAddress {
  /** As the client named it. */
  readonly url: string;
  /** A service of this server has it; it is asked as this client would. Nothing: another server has it. */
  readonly own?: OwnSource | undefined;
}

export interface OwnSource {
  readonly service: 'blob' | 'file';
  readonly remoteAddress: string;
  readonly secure: boolean;
}

/** Asks for a source, with these headers. */
export type FetchSource = (
  source: SourceAddress,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) => Promise<FetchedAnswer>;

export interface FetchedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
  /** Gives it up, whatever still comes. */
  discard(): void;
}

/** A copy that goes on in the background: what its source was when it began. */
export interface PendingCopy extends SourceAddress {
  readonly id: string;
  /** The source must still have it. */
  readonly etag: string | undefined;
  readonly authorization?: string;
  readonly began: number;
}

export type ToldSource = SourceAddress & {
  readonly etag: string | undefined;
  readonly authorization: string | undefined;
};

export function pendingCopy(
  { url, own, etag, authorization }: ToldSource,
  id: string,
  began: number,
): PendingCopy {
  return {
    ...{ id, url, etag, began },
    ...(own === undefined ? {} : { own }),
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** Why a copy failed, as its target tells it. */
export class CopyFailure extends Error {
  /** Another attempt may go well. */
  readonly passes: boolean;

  constructor(message: string, { passes }: { readonly passes: boolean } = { passes: false }) {
    super(message);
    this.passes = passes;
  }
}

/** The source of a pending copy from the beginning, which must still be what it was. */
export async function fetchAgain(
  fetchSource: FetchSource,
  copy: PendingCopy,
  signal: AbortSignal,
): Promise<{ readonly length: number; readonly body: AsyncIterable<Buffer> }> {
  const { etag, authorization } = copy;
  const token = {
    ...(authorization === undefined ? {} : { authorization, 'x-ms-version': '2025-07-05' }),
    ...(authorization === undefined ? {} : { 'x-ms-file-request-intent': 'backup' }),
  };
  const answer = await fetchSource(copy, token, signal).catch(unreached);
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  // Compared here, not asked for: files take no conditions.
  const isSame = etag === undefined || answer.headers['etag'] === etag;
  if (answer.status === 200 && isSame && Number.isSafeInteger(length))
    return { length, body: whole(answer.body) };
  answer.discard();
  if (answer.status === 200 && !isSame) throw new CopyFailure('412 ConditionNotMet');
  const passes = answer.status >= 500 || answer.status === 408 || answer.status === 429;
  throw new CopyFailure(`500 InternalError "the source answered ${answer.status}"`, { passes });
}

/** Nobody answered; but what must not be asked stays so. */
function unreached(error: unknown): never {
  const isRefused = !(error instanceof StorageError) || error.code !== 'CannotVerifyCopySource';
  if (isRefused || error.status !== undefined) throw error;
  throw new CopyFailure(`500 InternalError "${error.message}"`, { passes: true });
}

/** The source may break off. */
async function* whole(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CopyFailure(`500 InternalError "the source broke off: ${why}"`, { passes: true });
  }
}

/** Whether it ended within this time. */
export async function endsWithin(ended: Promise<void>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const late = delay(ms, false, { signal: stop.signal, ref: false }).catch(() => false);
  try {
    return await Promise.race([ended.then(() => true), late]);
  } finally {
    stop.abort();
  }
}
