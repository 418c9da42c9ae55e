// What a service whose resources have contents is opened on.

import type { AccountStore } from './account-store.js';
import type { ContentStore } from './content-store.js';
import type { Garbage } from './garbage.js';
import type { FetchSource } from './sources.js';
import type { Store } from './store.js';

export interface Ground {
  readonly store: Store;
  readonly garbage: Garbage;
  readonly accounts: AccountStore;
  readonly content: ContentStore;
  readonly fetchSource: FetchSource;
  report(error: unknown): void;
}
