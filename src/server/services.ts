// The services that there are, and what the server asks of each. A further one is a further row here, and a file in
// served/.

import { assert } from '../base/assert.js';
import {
  LockTimeoutError,
  mayRetry,
  OperationTooLargeError,
  OutcomeUnknownError,
} from '../collections/index.js';
import { AppendError, NoSpaceError } from '../extents/errors.js';
import type { ServiceName } from '../http/call.js';
import { serverBusy } from '../http/errors.js';
import type { Row } from '../http/operation.js';
import type { BlobService } from '../services/blob/service.js';
import type { AccessPolicy } from '../services/common/access-policy.js';
import type { AccountStore } from '../services/common/account-store.js';
import type { ContentStore } from '../services/common/content-store.js';
import { StorageError } from '../services/common/errors.js';
import type { Garbage } from '../services/common/garbage.js';
import type { FetchSource } from '../services/common/sources.js';
import type { Store } from '../services/common/store.js';
import type { FileService } from '../services/file/service.js';
import type { QueueService } from '../services/queue/service.js';
import type { TableService } from '../services/table/service.js';

/** What the server asks of a service. */
export interface ServedService {
  readonly name: ServiceName;
  /** What the handlers work on. */
  readonly service: unknown;
  readonly operations: readonly Row<never>[];
  /** The stored access policies of a container, queue, table or share; nothing if it does not exist. */
  policies(account: string, container: string): Promise<readonly AccessPolicy[] | undefined>;
  /** What anybody may read of a container. */
  publicAccess?(account: string, container: string): Promise<'blob' | 'container' | undefined>;
  /** Removes all that an account holds, whatever leases there are. */
  clear(account: string): Promise<void>;
  /** Sweeps and whatever else runs in the background ends. */
  close?(): Promise<void>;
}

/** What a service is opened with. */
export interface Ground {
  readonly store: Store;
  readonly accounts: AccountStore;
  readonly garbage: Garbage;
  /** The bytes of blobs and files. */
  readonly content: ContentStore;
  /** Asks for what copies come from. */
  readonly fetchSource: FetchSource;
  /** Told of what goes wrong in the background. */
  report(error: unknown): void;
}

/** What the handlers of each service work on. */
export interface ServiceTypes {
  readonly blob: BlobService;
  readonly queue: QueueService;
  readonly table: TableService;
  readonly file: FileService;
}

/** The service of this name, which was opened with the store. */
export function serviceOf<Name extends keyof ServiceTypes>(
  { services }: { readonly services: ReadonlyMap<ServiceName, ServedService> },
  name: Name,
): ServiceTypes[Name] {
  const served = services.get(name);
  assert(served !== undefined, `the ${name} service is open`);
  return served.service as ServiceTypes[Name];
}

/** The same, opened now unless it is. */
export async function opened<Name extends keyof ServiceTypes>(
  store: { service(name: ServiceName): Promise<ServedService> },
  name: Name,
): Promise<ServiceTypes[Name]> {
  return (await store.service(name)).service as ServiceTypes[Name];
}

/** Each is loaded when it is opened. */
export const openService: Readonly<Record<ServiceName, (ground: Ground) => Promise<ServedService>>> = {
  blob: async (ground) => (await import('./served/blob.js')).open(ground),
  queue: async (ground) => (await import('./served/queue.js')).open(ground),
  table: async (ground) => (await import('./served/table.js')).open(ground),
  file: async (ground) => (await import('./served/file.js')).open(ground),
};

/** The refusal that an error of the layers below stands for; nothing if it is a bug. */
export function translateError(error: unknown): StorageError | undefined {
  if (error instanceof LockTimeoutError || error instanceof NoSpaceError) return serverBusy(error);
  if (error instanceof OutcomeUnknownError || error instanceof AppendError) {
    return new StorageError('OperationTimedOut', { cause: error });
  }
  if (error instanceof OperationTooLargeError)
    return new StorageError('RequestBodyTooLarge', { cause: error });
  if (mayRetry(error)) return serverBusy(error);
  return undefined;
}
