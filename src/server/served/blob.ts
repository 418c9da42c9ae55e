// The blob service, as the server serves it.

import { blobOperations } from '../../http/blob/operations.js';
import { clearBlobs } from '../../services/blob/clear.js';
import { containerAccess } from '../../services/blob/containers.js';
import { openBlobService } from '../../services/blob/service.js';
import { webContainer } from '../../services/common/names.js';
import type { Ground, ServedService } from '../services.js';

export async function open(ground: Ground): Promise<ServedService> {
  const service = await openBlobService(ground);
  return {
    name: 'blob',
    service,
    close: () => service.close(),
    operations: blobOperations,
    policies: async (account, name) => (await containerAccess(service.store, [account, name]))?.policies,
    publicAccess: async (account, name) => {
      const access = (await containerAccess(service.store, [account, name]))?.publicAccess;
      if (access !== 'none') return access;
      const { enabled } = ground.accounts.serviceSettings(account, 'blob').staticWebsite;
      return name === webContainer && enabled ? 'blob' : undefined;
    },
    clear: (account) => clearBlobs(service.store, account),
  };
}
