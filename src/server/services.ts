// The services that there are, each with the table of its operations. A further one is a further row here.

import { assert } from '../base/assert.js';
import {
  LockTimeoutError,
  mayRetry,
  OperationTooLargeError,
  OutcomeUnknownError,
} from '../collections/index.js';
import { AppendError, NoSpaceError } from '../extents/errors.js';
import { blobOperations } from '../http/blob/operations.js';
import type { ServiceName } from '../http/call.js';
import { serverBusy } from '../http/errors.js';
import { fileOperations } from '../http/file/operations.js';
import type { Row } from '../http/operation.js';
import { queueOperations } from '../http/queue/operations.js';
import { tableOperations } from '../http/table/operations.js';
import { clearBlobs } from '../services/blob/clear.js';
import { containerAccess } from '../services/blob/containers.js';
import { type BlobService, openBlobService } from '../services/blob/service.js';
import type { AccessPolicy } from '../services/common/access-policy.js';
import type { AccountStore } from '../services/common/account-store.js';
import type { ContentStore } from '../services/common/content-store.js';
import { StorageError } from '../services/common/errors.js';
import type { Garbage } from '../services/common/garbage.js';
import type { Store } from '../services/common/store.js';
import { clearShares } from '../services/file/clear.js';
import { type FileService, openFileService } from '../services/file/service.js';
import { sharePolicies } from '../services/file/shares.js';
import { clearQueues } from '../services/queue/clear.js';
import { queuePolicies } from '../services/queue/queues.js';
import { openQueueService, type QueueService } from '../services/queue/service.js';
import { clearTables } from '../services/table/clear.js';
import { openTableService, type TableService } from '../services/table/service.js';
import { tablePolicies } from '../services/table/tables.js';

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

/** The service of this name, which is always there. */
export function serviceOf<Name extends keyof ServiceTypes>(
  { services }: { readonly services: ReadonlyMap<ServiceName, ServedService> },
  name: Name,
): ServiceTypes[Name] {
  const served = services.get(name);
  assert(served !== undefined, `there is a ${name} service`);
  return served.service as ServiceTypes[Name];
}

export type OpenService = (ground: Ground) => Promise<ServedService>;

export const openService: Partial<Record<ServiceName, OpenService>> = {
  async blob({ store, garbage, accounts, content }) {
    const service = await openBlobService(store, garbage, accounts, content);
    return {
      name: 'blob',
      service,
      operations: blobOperations,
      policies: async (account, name) => (await containerAccess(service.store, [account, name]))?.policies,
      clear: (account) => clearBlobs(service.store, account),
      publicAccess: async (account, name) => {
        const access = (await containerAccess(service.store, [account, name]))?.publicAccess;
        return access === 'none' ? undefined : access;
      },
    };
  },
  async file(ground) {
    const service = await openFileService(ground);
    return {
      name: 'file',
      service,
      operations: fileOperations,
      policies: (account, name) => sharePolicies(service.store, [account, name]),
      clear: (account) => clearShares(service, account),
      close: () => service.close(),
    };
  },
  async table({ store, garbage, accounts }) {
    const service = await openTableService(store, garbage, accounts);
    return {
      name: 'table',
      service,
      operations: tableOperations,
      policies: (account, name) => tablePolicies(service.store, account, name),
      clear: (account) => clearTables(service.store, account),
    };
  },
  async queue({ store, garbage, accounts }) {
    const service = await openQueueService(store, garbage, accounts);
    return {
      name: 'queue',
      service,
      operations: queueOperations,
      policies: (account, name) => queuePolicies(service.store, [account, name]),
      clear: (account) => clearQueues(service.store, account),
    };
  },
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
