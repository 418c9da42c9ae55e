// The blob service, as the server serves it.

import { blobOperations } from '../../http/blob/operations.js';
import { clearBlobs } from '../../services/blob/clear.js';
import { containerAccess } from '../../services/blob/containers.js';
import { openBlobService } from '../../services/blob/service.js';
import type { Ground, ServedService } from '../services.js';

export async function open({ store, garbage, accounts, content }: Ground): Promise<ServedService> {
  const service = await openBlobService(store, garbage, accounts, content);
  return {
    name: 'blob',
    service,
    operations: blobOperations,
    policies: async (account, name) => (await containerAccess(service.store, [account, name]))?.policies,
    publicAccess: async (account, name) => {
      const access = (await containerAccess(service.store, [account, name]))?.publicAccess;
      return access === 'none' ? undefined : access;
    },
    clear: (account) => clearBlobs(service.store, account),
  };
}
