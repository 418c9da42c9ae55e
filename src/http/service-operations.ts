// The operations that every service has on its root: Get and Set Service Properties, Get Service Stats.

import type { Awaitable } from '../base/awaitable.js';
import { formatHttpDate } from '../base/times.js';
import type { ServiceSettings } from '../services/common/service-settings.js';
import type { Answer } from './answer.js';
import type { Call } from './call.js';
import { readProperties, writeProperties } from './service-properties.js';
import { element, parent, xmlAnswer } from './xml.js';
import { parseXml } from './xml-parser.js';

/** Where the properties of one service are kept, by account. */
export interface PropertiesStore {
  read(account: string): Awaitable<ServiceSettings>;
  /** Judges the change (changeServiceSettings) and resolves when it is on disk and every later request sees it. */
  change(account: string, change: Partial<ServiceSettings>): Promise<void>;
}

const mostBytes = 64 * 1024;

export async function getServiceProperties(call: Call, store: PropertiesStore): Promise<Answer> {
  const properties = await store.read(call.account);
  const document = writeProperties(call.service, properties, call.version);
  return xmlAnswer(200, document, cachingOf(call));
}

export async function setServiceProperties(call: Call, store: PropertiesStore): Promise<Answer> {
  const document = parseXml(await call.body.readAll(mostBytes));
  await store.change(call.account, readProperties(call.service, document));
  return { status: 202, headers: [] };
}

/** There is one copy of the data, so the secondary lags by nothing. The table has it on the secondary only. */
export function getServiceStats(call: Call): Answer {
  const synced = element('LastSyncTime', formatHttpDate(call.startedAt));
  const replication = parent('GeoReplication', element('Status', 'live') + synced);
  return xmlAnswer(200, parent('StorageServiceStats', replication), cachingOf(call));
}

/** Queues and tables say of every read that it is not to be kept. */
function cachingOf(call: Call): readonly string[] {
  return call.service === 'queue' || call.service === 'table' ? ['Cache-Control', 'no-cache'] : [];
}
