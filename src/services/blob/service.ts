// The blob service as protocols see it: its store, and its accounts.

import type { AccountStore } from '../common/account-store.js';
import { defaultSettings } from '../common/accounts.js';
import type { ContentStore } from '../common/content-store.js';
import type { Garbage } from '../common/garbage.js';
import type { Store } from '../common/store.js';
import { registerBlockLists } from './block-lists.js';
import { sweepDue } from './due.js';
import { type BlobStore, openBlobStore, type PendingCopy } from './model.js';
import { type FetchedSource, PendingCopies } from './pending-copies.js';
import { registerContainers } from './sweep.js';
import { registerUploads } from './uploads.js';

/** Asks another server for a source, with these headers. */
export type FetchSource = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) => Promise<FetchedAnswer>;

export interface FetchedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
  /** Gives it up, whatever still comes. */
  discard(): void;
}

export interface BlobService {
  readonly store: BlobStore;
  readonly accounts: AccountStore;
  readonly pending: PendingCopies;
  readonly fetchSource: FetchSource;
  close(): Promise<void>;
}

export interface BlobServiceGround {
  readonly store: Store;
  readonly garbage: Garbage;
  readonly accounts: AccountStore;
  readonly content: ContentStore;
  readonly fetchSource: FetchSource;
  report(error: unknown): void;
}

export async function openBlobService(ground: BlobServiceGround): Promise<BlobService> {
  const { store, garbage, accounts, fetchSource, report } = ground;
  const { contents, maps, slices } = ground.content;
  const settings = (account: string) => accounts.get(account)?.settings ?? defaultSettings;
  const retentionDays = (account: string) => accounts.serviceSettings(account, 'blob').deleteRetention.days;
  const blobs = await openBlobStore({ store, contents, maps, slices, garbage, settings, retentionDays });
  registerBlockLists(blobs);
  registerUploads(blobs);
  registerContainers(blobs);
  garbage.also(() => sweepDue(blobs));
  const pending = new PendingCopies(blobs, (copy, signal) => fetchAgain(fetchSource, copy, signal), report);
  await pending.resume();
  return { store: blobs, accounts, pending, fetchSource, close: () => pending.close() };
}

/** The source of a pending copy, which must still be what it was when the copy began. */
async function fetchAgain(
  fetchSource: FetchSource,
  { url, etag, authorization }: PendingCopy,
  signal: AbortSignal,
): Promise<FetchedSource> {
  const answer = await fetchSource(
    url,
    {
      ...(etag === undefined ? {} : { 'if-match': etag }),
      ...(authorization === undefined ? {} : { authorization, 'x-ms-version': '2023-11-03' }),
    },
    signal,
  );
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  if (answer.status === 200 && Number.isSafeInteger(length)) return { length, body: answer.body };
  answer.discard();
  throw new Error(`the source answered ${answer.status}`);
}
