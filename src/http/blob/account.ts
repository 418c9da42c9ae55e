// What is asked of an account rather than of what is in it.

import type { BlobService } from '../../services/blob/service.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { getServiceProperties, type PropertiesStore, setServiceProperties } from '../service-operations.js';
import { getUserDelegationKey } from '../user-delegation-key.js';

export function getAccountInformation(call: Call, { store }: BlobService): Answer {
  const { sku, kind } = store.settings(call.account);
  const headers = ['x-ms-sku-name', sku, 'x-ms-account-kind', kind];
  if (call.version >= '2019-07-07') headers.push('x-ms-is-hns-enabled', 'false');
  return { status: 200, headers };
}

function properties({ accounts }: BlobService): PropertiesStore {
  return {
    read: (account) => accounts.serviceSettings(account, 'blob'),
    change: (account, change) => accounts.changeServiceSettings(account, 'blob', change),
  };
}

export function getBlobServiceProperties(call: Call, service: BlobService): Promise<Answer> {
  return getServiceProperties(call, properties(service));
}

export function setBlobServiceProperties(call: Call, service: BlobService): Promise<Answer> {
  return setServiceProperties(call, properties(service));
}

export function getDelegationKey(call: Call, { accounts }: BlobService, identity: Identity): Promise<Answer> {
  return getUserDelegationKey(call, accounts.secret(call.account), identity);
}
