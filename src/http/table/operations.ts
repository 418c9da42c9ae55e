// The operations of the table service. operation.ts tells what the columns mean. Entities have ETags and
// If-Match of their own kind, which the handlers read.

import type { TableService } from '../../services/table/service.js';
import type { Call } from '../call.js';
import type { Row } from '../operation.js';
import {
  getServiceProperties,
  getServiceStats,
  type PropertiesStore,
  setServiceProperties,
} from '../service-operations.js';
import { access } from './access.js';
import { entityGroupTransaction } from './batch.js';
import { getEntity, queryEntities, writeEntity } from './entities.js';
import { createTable, deleteTable, getTable, getTableAcl, queryTables, setTableAcl } from './tables.js';

function properties({ accounts }: TableService): PropertiesStore {
  return {
    read: (account) => accounts.serviceSettings(account, 'table'),
    change: (account, change) => accounts.changeServiceSettings(account, 'table', change),
  };
}

const getProperties = (call: Call, service: TableService) => getServiceProperties(call, properties(service));
const setProperties = (call: Call, service: TableService) => setServiceProperties(call, properties(service));

const plain = ['', 'none'] as const;
const matched = ['MN', 'none'] as const;

// biome-ignore format: a table
export const tableOperations: readonly Row<TableService>[] = [
  // name                           request                                   telling     since          account   service  role                     guards    on           handler
  ['Query Tables',                  'GET /Tables',                            '',         '',            ['c:l',   'never', 'tables/read'],           plain,    'both',      queryTables],
  ['Query Tables',                  'GET /Tables({table})',                   '',         '',            ['c:l',   'never', 'tables/read'],           plain,    'both',      getTable],
  ['Create Table',                  'POST /Tables',                           '',         '',            ['c:cw',  'never', 'tables/write'],          plain,    'primary',   createTable],
  ['Delete Table',                  'DELETE /Tables({table})',                '',         '',            ['c:d',   'never', 'tables/delete'],         plain,    'primary',   deleteTable],
  ['Get Table Service Properties',  'GET /?restype=service&comp=properties',  '',         '',            ['s:r',   'never', 'tableServices/read'],    plain,    'both',      getProperties],
  ['Set Table Service Properties',  'PUT /?restype=service&comp=properties',  '',         '',            ['s:w',   'never', 'tableServices/write'],   plain,    'primary',   setProperties],
  ['Get Table Service Stats',       'GET /?restype=service&comp=stats',       '',         '',            ['s:r',   'never', 'tableServices/read'],    plain,    'secondary', getServiceStats],
  ['Get Table ACL',                 'GET|HEAD /{table}?comp=acl',             '',         '2012-02-12',  ['never', 'never', 'never'],                 plain,    'both',      getTableAcl],
  ['Set Table ACL',                 'PUT /{table}?comp=acl',                  '',         '2012-02-12',  ['never', 'never', 'never'],                 plain,    'primary',   setTableAcl],
  ['Insert Entity',                 'POST /{table}',                          '',         '',            access.insert,                               matched,  'primary',   writeEntity],
  ['Query Entities',                'GET /{table}',                           '',         '',            access.read,                                 plain,    'both',      queryEntities],
  ['Query Entities',                'GET /{table}({keys})',                   '',         '',            access.read,                                 plain,    'both',      getEntity],
  ['Update Entity',                 'PUT /{table}({keys})',                   'if-match', '',            access.update,                               matched,  'primary',   writeEntity],
  ['Insert Or Replace Entity',      'PUT /{table}({keys})',                   '',         '2011-08-18',  access.upsert,                               matched,  'primary',   writeEntity],
  ['Merge Entity',                  'MERGE|PATCH /{table}({keys})',           'if-match', '',            access.update,                               matched,  'primary',   writeEntity],
  ['Insert Or Merge Entity',        'MERGE|PATCH /{table}({keys})',           '',         '2011-08-18',  access.upsert,                               matched,  'primary',   writeEntity],
  ['Delete Entity',                 'DELETE /{table}({keys})',                '',         '',            access.delete,                               matched,  'primary',   writeEntity],
  ['Entity Group Transaction',      'POST /$batch',                           '',         '',            ['o:any', 'any',   'entities/read|entities/write|entities/delete|entities/add/action|entities/update/action'], plain, 'primary', entityGroupTransaction],
];
