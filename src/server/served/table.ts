// The table service, as the server serves it.

import { tableOperations } from '../../http/table/operations.js';
import { clearTables } from '../../services/table/clear.js';
import { openTableService } from '../../services/table/service.js';
import { tablePolicies } from '../../services/table/tables.js';
import type { Ground, ServedService } from '../services.js';

export async function open({ store, garbage, accounts, report }: Ground): Promise<ServedService> {
  const service = await openTableService(store, garbage, accounts, report);
  return {
    name: 'table',
    service,
    operations: tableOperations,
    policies: (account, name) => tablePolicies(service.store, account, name),
    clear: (account) => clearTables(service.store, account),
    close: () => service.indexBuilder.close(),
  };
}
