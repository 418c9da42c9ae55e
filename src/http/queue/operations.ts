// The operations of the queue service. operation.ts tells what the columns mean.

import type { QueueService } from '../../services/queue/service.js';
import type { Call } from '../call.js';
import type { Row } from '../operation.js';
import {
  getServiceProperties,
  getServiceStats,
  type PropertiesStore,
  setServiceProperties,
} from '../service-operations.js';
import { getUserDelegationKey } from '../user-delegation-key.js';
import {
  clearMessages,
  deleteMessage,
  getMessages,
  peekMessages,
  putMessage,
  updateMessage,
} from './messages.js';
import {
  createQueue,
  deleteQueue,
  getQueueAcl,
  getQueueMetadata,
  listQueues,
  setQueueAcl,
  setQueueMetadata,
} from './queues.js';

function properties({ accounts }: QueueService): PropertiesStore {
  return {
    read: (account) => accounts.serviceSettings(account, 'queue'),
    change: (account, change) => accounts.changeServiceSettings(account, 'queue', change),
  };
}

const getProperties = (call: Call, service: QueueService) => getServiceProperties(call, properties(service));
const setProperties = (call: Call, service: QueueService) => setServiceProperties(call, properties(service));
const delegationKey = (
  call: Call,
  { accounts }: QueueService,
  identity: Parameters<typeof getUserDelegationKey>[2],
) => getUserDelegationKey(call, accounts.secret(call.account), identity);

const never = ['', 'none'] as const;

// biome-ignore format: a table
export const queueOperations: readonly Row<QueueService>[] = [
  // name                          request                                              telling  since         account    service  role                       guards  on           handler
  ['List Queues',                  'GET /?comp=list',                                   '',      '',           ['s:l',   'never', 'queues/read'],            never,  'both',      listQueues],
  ['Get Queue Service Properties', 'GET /?restype=service&comp=properties',             '',      '',           ['s:r',   'never', 'queueServices/read'],     never,  'both',      getProperties],
  ['Set Queue Service Properties', 'PUT /?restype=service&comp=properties',             '',      '',           ['s:w',   'never', 'queueServices/write'],    never,  'primary',   setProperties],
  ['Get Queue Service Stats',      'GET /?restype=service&comp=stats',                  '',      '',           ['s:r',   'never', 'queueServices/read'],     never,  'secondary', getServiceStats],
  ['Get User Delegation Key',      'POST /?restype=service&comp=userdelegationkey',     '',      '2025-07-05', ['never', 'never', 'queueServices/generateUserDelegationKey/action'], never, 'primary', delegationKey],
  ['Create Queue',                 'PUT /{queue}',                                      '',      '',           ['c:cw',  'never', 'queues/write'],           never,  'primary',   createQueue],
  ['Delete Queue',                 'DELETE /{queue}',                                   '',      '',           ['c:d',   'never', 'queues/delete'],          never,  'primary',   deleteQueue],
  ['Get Queue Metadata',           'GET /{queue}?comp=metadata',                        '',      '',           ['c:r',   'r',     'queues/read'],            never,  'both',      getQueueMetadata],
  ['Get Queue Metadata',           'HEAD /{queue}?comp=metadata',                       '',      '',           ['c:r',   'r',     'queues/read'],            never,  'both',      getQueueMetadata],
  ['Set Queue Metadata',           'PUT /{queue}?comp=metadata',                        '',      '',           ['c:w',   'never', 'queues/write'],           never,  'primary',   setQueueMetadata],
  ['Get Queue ACL',                'GET /{queue}?comp=acl',                             '',      '2012-02-12', ['never', 'never', 'never'],                  never,  'both',      getQueueAcl],
  ['Get Queue ACL',                'HEAD /{queue}?comp=acl',                            '',      '2012-02-12', ['never', 'never', 'never'],                  never,  'both',      getQueueAcl],
  ['Set Queue ACL',                'PUT /{queue}?comp=acl',                             '',      '2012-02-12', ['never', 'never', 'never'],                  never,  'primary',   setQueueAcl],
  ['Put Message',                  'POST /{queue}/messages',                            '',      '',           ['o:a',   'a',     'messages/add/action'],    never,  'primary',   putMessage],
  ['Peek Messages',                'GET /{queue}/messages?peekonly=true',               '',      '',           ['o:r',   'r',     'messages/read'],          never,  'both',      peekMessages],
  ['Get Messages',                 'GET /{queue}/messages',                             '',      '',           ['o:p',   'p',     'messages/process/action'], never, 'primary',   getMessages],
  ['Clear Messages',               'DELETE /{queue}/messages',                          '',      '',           ['o:d',   'never', 'messages/delete'],        never,  'primary',   clearMessages],
  ['Delete Message',               'DELETE /{queue}/messages/{messageid}',              '',      '',           ['o:p',   'p',     'messages/delete|messages/process/action'], never, 'primary', deleteMessage],
  ['Update Message',               'PUT /{queue}/messages/{messageid}',                 '',      '2011-08-18', ['o:u',   'u',     'messages/write'],         never,  'primary',   updateMessage],
];
