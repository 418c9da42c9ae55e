// What an SDK needs to find the services of an account.

import type { ServiceName } from '../http/call.js';
import type { Account } from '../services/common/accounts.js';
import { serviceNames } from './config.js';

export function connectionString(
  account: Pick<Account, 'name' | 'keys'>,
  urls: Readonly<Partial<Record<ServiceName, string>>>,
): string {
  const endpoints = serviceNames.flatMap((name) => {
    const url = urls[name];
    return url === undefined
      ? []
      : [`${name[0]?.toUpperCase()}${name.slice(1)}Endpoint=${url}/${account.name};`];
  });
  const protocol = Object.values(urls)[0]?.split(':')[0] ?? 'http';
  return `DefaultEndpointsProtocol=${protocol};AccountName=${account.name};AccountKey=${account.keys[0]};${endpoints.join('')}`;
}
