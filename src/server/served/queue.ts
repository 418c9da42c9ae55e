// The queue service, as the server serves it.

import { queueOperations } from '../../http/queue/operations.js';
import { clearQueues } from '../../services/queue/clear.js';
import { queuePolicies } from '../../services/queue/queues.js';
import { openQueueService } from '../../services/queue/service.js';
import type { Ground, ServedService } from '../services.js';

export async function open({ store, garbage, accounts }: Ground): Promise<ServedService> {
  const service = await openQueueService(store, garbage, accounts);
  return {
    name: 'queue',
    service,
    operations: queueOperations,
    policies: (account, name) => queuePolicies(service.store, [account, name]),
    clear: (account) => clearQueues(service.store, account),
  };
}
