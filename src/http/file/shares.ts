// Shares on the wire.

import { formatHttpDate } from '../../base/times.js';
import { defaultSettings } from '../../services/common/accounts.js';
import { invalidHeader, invalidParameter } from '../../services/common/errors.js';
import { closeVolume } from '../../services/file/handles.js';
import { accessTiers, gib, type ShareProperties } from '../../services/file/model.js';
import type { FileService } from '../../services/file/service.js';
import { snapshotShare } from '../../services/file/share-snapshots.js';
import * as shares from '../../services/file/shares.js';
import { readAcl, writeAcl } from '../acl.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import {
  addMetadata,
  flagHeader,
  integerHeader,
  metadataOf,
  requireHeader,
  stampHeaders,
  wordHeader,
} from '../headers.js';
import { leaseActionOf, leaseAnswer } from '../leases.js';
import { element, parent, xmlAnswer } from '../xml.js';
import { leaseHeaders } from './file-headers.js';
import { leaseIdOf, refuseSnapshot, shareKey, snapshotOf, snapshotText } from './requests.js';

const largestQuotaGib = 102_400;

/** Accepted, stored and told again; they have no effect. */
const provisionedHeaders = [
  'x-ms-share-provisioned-iops',
  'x-ms-share-provisioned-bandwidth-mibps',
  'x-ms-share-paid-bursting-enabled',
  'x-ms-share-paid-bursting-max-iops',
  'x-ms-share-paid-bursting-max-bandwidth-mibps',
];

function settingsOf(call: Call): shares.ShareSettings {
  const protocols = wordHeader(call, 'x-ms-enabled-protocols', ['SMB', 'NFS']);
  if (protocols === 'NFS') throw invalidHeader('x-ms-enabled-protocols', 'NFS');
  const squash = call.header('x-ms-root-squash');
  if (squash !== undefined) throw invalidHeader('x-ms-root-squash', squash);
  const directory = 'x-ms-enable-snapshot-virtual-directory-access';
  return {
    quotaGib: integerHeader(call, 'x-ms-share-quota', 1, largestQuotaGib),
    tier: wordHeader(call, 'x-ms-access-tier', accessTiers),
    snapshotDirectory: call.header(directory) === undefined ? undefined : flagHeader(call, directory),
    provisioned: provisionedHeaders.flatMap((name) => {
      const value = call.header(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  };
}

function quotaHeaders(call: Call, { quotaGib }: { readonly quotaGib: number }): string[] {
  return call.version >= '2024-11-04' ? ['x-ms-share-quota', String(quotaGib)] : [];
}

export async function createShare(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const made = await shares.createShare(store, shareKey(call), settingsOf(call), metadataOf(call));
  return { status: 201, headers: [...stampHeaders(made.stamp), ...quotaHeaders(call, made)] };
}

export async function getShareProperties(call: Call, { store }: FileService): Promise<Answer> {
  const snapshot = snapshotOf(call);
  const share = await shares.getShare(store, shareKey(call), snapshot, leaseIdOf(call));
  const headers = [...stampHeaders(share.stamp), 'x-ms-share-quota', String(share.quotaGib)];
  if (call.version >= '2019-12-12') headers.push(...tierHeaders(share), 'x-ms-enabled-protocols', 'SMB');
  if (call.version >= '2020-02-10') headers.push(...leaseHeaders(share.lease, store.now()));
  const directory = 'x-ms-enable-snapshot-virtual-directory-access';
  if (call.version >= '2024-08-04') headers.push(directory, String(share.snapshotDirectory));
  for (const pair of share.provisioned) headers.push(...pair);
  if (snapshot !== undefined) headers.push('x-ms-snapshot', snapshotText(snapshot));
  addMetadata(headers, share.metadata);
  return { status: 200, headers };
}

function tierHeaders({ tier, tierChanged }: ShareProperties): string[] {
  return ['x-ms-access-tier', tier, 'x-ms-access-tier-change-time', formatHttpDate(tierChanged)];
}

export async function getShareMetadata(call: Call, { store }: FileService): Promise<Answer> {
  const share = await shares.getShare(store, shareKey(call), snapshotOf(call), leaseIdOf(call));
  const headers = stampHeaders(share.stamp);
  addMetadata(headers, share.metadata);
  return { status: 200, headers };
}

export async function setShareMetadata(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const share = await shares.setShareMetadata(store, shareKey(call), leaseIdOf(call), metadataOf(call));
  return { status: 200, headers: stampHeaders(share.stamp) };
}

export async function setShareProperties(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const share = await shares.setShareProperties(store, shareKey(call), leaseIdOf(call), settingsOf(call));
  return { status: 200, headers: [...stampHeaders(share.stamp), ...quotaHeaders(call, share)] };
}

export async function getShareStats(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const { stamp, usage } = await shares.getUsage(store, shareKey(call), leaseIdOf(call));
  const told =
    call.version >= '2018-11-09'
      ? element('ShareUsageBytes', String(usage))
      : element('ShareUsage', String(Math.ceil(usage / gib)));
  return xmlAnswer(200, parent('ShareStats', told), stampHeaders(stamp));
}

export async function getShareAcl(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const share = await shares.getShare(store, shareKey(call), undefined, leaseIdOf(call));
  // Clients of this service have always known every letter that a policy can have here.
  return xmlAnswer(200, writeAcl(share.policies, '2015-04-05'), stampHeaders(share.stamp));
}

export async function setShareAcl(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const policies = await readAcl(call, 'share');
  const share = await shares.setSharePolicies(store, shareKey(call), leaseIdOf(call), policies);
  return { status: 200, headers: stampHeaders(share.stamp) };
}

export async function deleteShare(call: Call, service: FileService): Promise<Answer> {
  const { store, accounts } = service;
  const { nameHeldMs } = accounts.get(call.account)?.settings ?? defaultSettings;
  const key = shareKey(call);
  const snapshot = snapshotOf(call);
  const which = wordHeader(call, 'x-ms-delete-snapshots', ['include', 'include-leased']);
  if (snapshot !== undefined) {
    if (which !== undefined) throw invalidParameter('sharesnapshot', snapshotText(snapshot));
    await closeVolume(service, await shares.deleteSnapshot(store, key, snapshot, leaseIdOf(call)));
    return { status: 202, headers: [] };
  }
  const id = await shares.deleteShare(store, key, {
    leaseId: leaseIdOf(call),
    snapshots: which ?? 'none',
    retentionDays: accounts.serviceSettings(call.account, 'file').deleteRetention.days,
    nameHeldMs,
  });
  await closeVolume(service, String(id));
  return { status: 202, headers: [] };
}

export async function restoreShare(call: Call, { store, pending }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const name = requireHeader(call, 'x-ms-deleted-share-name');
  const text = requireHeader(call, 'x-ms-deleted-share-version');
  const version = versionStamp(text);
  if (version === undefined) throw invalidHeader('x-ms-deleted-share-version', text);
  const share = await shares.restoreShare(store, shareKey(call), { name, version });
  await pending.resume();
  return { status: 201, headers: [...stampHeaders(share.stamp), ...quotaHeaders(call, share)] };
}

/** Of microseconds since 1970, which a stamp counts, to a number in hex as the reference shows it. */
export function versionText(stamp: number): string {
  return (BigInt(stamp) * 10n + ticksTo1970).toString(16).toUpperCase().padStart(16, '0');
}

const ticksTo1970 = 116_444_736_000_000_000n;

function versionStamp(text: string): number | undefined {
  if (!/^[0-9A-Fa-f]{16}$/.test(text)) return undefined;
  const ticks = BigInt(`0x${text}`) - ticksTo1970;
  // A version that no share was ever deleted in is one of none.
  return ticks >= 0n && ticks % 10n === 0n ? Number(ticks / 10n) : 0;
}

export async function snapshot(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const metadata = metadataOf(call);
  const taken = await snapshotShare(store, shareKey(call), metadata.length === 0 ? undefined : metadata);
  const headers = ['x-ms-snapshot', snapshotText(taken.second), ...stampHeaders(taken.stamp)];
  return { status: 201, headers };
}

export async function leaseShare(call: Call, { store }: FileService): Promise<Answer> {
  const action = leaseActionOf(call, 'share');
  const { stamp, lease, now } = await shares.leaseShare(store, shareKey(call), snapshotOf(call), action);
  return leaseAnswer(action, lease, now, stampHeaders(stamp));
}
