// The file service, as the server serves it.

import { fileOperations } from '../../http/file/operations.js';
import { clearShares } from '../../services/file/clear.js';
import { openFileService } from '../../services/file/service.js';
import { sharePolicies } from '../../services/file/shares.js';
import type { Ground, ServedService } from '../services.js';

export async function open(ground: Ground): Promise<ServedService> {
  const service = await openFileService(ground);
  return {
    name: 'file',
    service,
    operations: fileOperations,
    policies: (account, name) => sharePolicies(service.store, [account, name]),
    clear: (account) => clearShares(service, account),
    close: () => service.close(),
  };
}
