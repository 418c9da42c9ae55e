// List Shares on the wire.

import { formatHttpDate } from '../../base/times.js';
import { invalidParameter } from '../../services/common/errors.js';
import { etag, lastModifiedMs } from '../../services/common/etag.js';
import { leaseProperties } from '../../services/common/lease.js';
import type { FileService } from '../../services/file/service.js';
import { type ListedShare, listShares as list, type ShareMarker } from '../../services/file/share-list.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { listParameter, pageSize, parameter } from '../parameters.js';
import { element, escapeAttribute, optional, parent, xmlAnswer } from '../xml.js';
import { snapshotText } from './requests.js';
import { versionText } from './shares.js';

export async function listShares(call: Call, { store }: FileService): Promise<Answer> {
  const prefix = parameter(call, 'prefix');
  const marker = parameter(call, 'marker');
  const include = listParameter(call, 'include', ['metadata', 'snapshots', 'deleted']);
  const listing = await list(store, call.account, {
    prefix: prefix ?? '',
    marker: readMarker(marker),
    max: pageSize(call),
    snapshots: include.has('snapshots'),
    deleted: include.has('deleted'),
  });
  const rows = listing.shares.map((share) => writeShare(call, share, listing.now, include.has('metadata')));
  const asked =
    optional('Prefix', prefix) +
    optional('Marker', marker) +
    optional('MaxResults', parameter(call, 'maxresults'));
  const next = element('NextMarker', listing.next === undefined ? '' : writeMarker(listing.next));
  const endpoint = escapeAttribute(`${call.endpoint}/`);
  const body = asked + parent('Shares', rows.join('')) + next;
  return xmlAnswer(200, `<EnumerationResults ServiceEndpoint="${endpoint}">${body}</EnumerationResults>`);
}

function writeMarker({ name, kind, number }: ShareMarker): string {
  return Buffer.from(JSON.stringify([name, kind, number])).toString('base64url');
}

function readMarker(text: string | undefined): ShareMarker | undefined {
  if (text === undefined) return undefined;
  try {
    const [name, kind, number] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const known = kind === 'snapshot' || kind === 'share' || kind === 'deleted';
    if (typeof name === 'string' && known && typeof number === 'number') return { name, kind, number };
  } catch {
    // what is no marker of ours is refused below
  }
  throw invalidParameter('marker', text);
}

function writeShare(call: Call, share: ListedShare, now: number, metadata: boolean): string {
  const { name, snapshot, deleted, properties } = share;
  let body = element('Name', name);
  if (snapshot !== undefined) body += element('Snapshot', snapshotText(snapshot));
  if (deleted !== undefined)
    body += element('Version', versionText(deleted.version)) + element('Deleted', 'true');
  body += parent('Properties', writeProperties(call, share, now));
  const pairs = properties.metadata.map(([key, value]) => element(key, value)).join('');
  return parent('Share', metadata ? body + parent('Metadata', pairs) : body);
}

const dayMs = 24 * 3600 * 1000;

function writeProperties(call: Call, { properties, quotaGib, deleted }: ListedShare, now: number): string {
  const { stamp, lease, tier, tierChanged } = properties;
  const { status, state, duration } = leaseProperties(lease, now);
  let body = element('Last-Modified', formatHttpDate(lastModifiedMs(stamp))) + element('Etag', etag(stamp));
  if (call.version >= '2020-02-10') {
    body +=
      element('LeaseStatus', status) + element('LeaseState', state) + optional('LeaseDuration', duration);
  }
  body += element('Quota', String(quotaGib));
  if (call.version >= '2019-12-12') {
    body += element('AccessTier', tier) + element('AccessTierChangeTime', formatHttpDate(tierChanged));
    body += element('EnabledProtocols', 'SMB');
  }
  if (deleted !== undefined) {
    body += element('DeletedTime', formatHttpDate(deleted.at));
    body += element('RemainingRetentionDays', String(Math.ceil((deleted.until - now) / dayMs)));
  }
  return body;
}
