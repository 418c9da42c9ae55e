// List Blobs on the wire.

import { stampToMs } from '../../base/stamps.js';
import { formatHttpDate } from '../../base/times.js';
import { formatKeptTime } from '../../services/blob/address.js';
import { committed } from '../../services/blob/guards.js';
import { lastAccess } from '../../services/blob/last-access.js';
import { type ListedEntry, listBlobs as list } from '../../services/blob/listing.js';
import {
  type BlobRecord,
  type CopyState,
  type Deleted,
  type IncrementalCopy,
  isPremium,
} from '../../services/blob/model.js';
import { inferredPageTier } from '../../services/blob/page-tiers.js';
import type { BlobService } from '../../services/blob/service.js';
import { observeTier } from '../../services/blob/tier.js';
import { invalidParameter, StorageError } from '../../services/common/errors.js';
import { bareEtag, lastModifiedMs } from '../../services/common/etag.js';
import { availableLease, type Lease, leaseProperties } from '../../services/common/lease.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call, Version } from '../call.js';
import { listParameter, pageSize, parameter } from '../parameters.js';
import { element, escapeAttribute, headerElement, nameElement, optional, parent, xmlAnswer } from '../xml.js';
import { archiveStatus, md5Text } from './blob-headers.js';
import { containerKey } from './requests.js';
import { tagsElement } from './tags-xml.js';

const includes = [
  'snapshots',
  'metadata',
  'uncommittedblobs',
  'copy',
  'deleted',
  'tags',
  'versions',
  'deletedwithversions',
  'immutabilitypolicy',
  'legalhold',
  'permissions',
] as const;

type Include = (typeof includes)[number];

/** What decides how an entry is told. */
interface Telling {
  readonly include: ReadonlySet<Include>;
  readonly version: Version;
  readonly now: number;
  /** Whether it is told when a blob was last read. */
  readonly lastAccess: boolean;
  /** Whether page blobs have tiers. */
  readonly isPremium: boolean;
}

export async function listBlobs(
  call: Call,
  { store, lastAccess: accesses }: BlobService,
  identity: Identity,
): Promise<Answer> {
  const include = listParameter(call, 'include', includes);
  const delimiter = parameter(call, 'delimiter');
  if (delimiter !== undefined && include.has('snapshots')) {
    throw invalidParameter('include', 'snapshots', 'Snapshots are not listed with a delimiter.');
  }
  checkTagsAllowed(include, identity);
  const prefix = parameter(call, 'prefix');
  const marker = parameter(call, 'marker');
  const listing = await list(store, containerKey(call), {
    prefix: prefix ?? '',
    delimiter: delimiter ?? '',
    marker,
    startFrom: parameter(call, 'startfrom'),
    max: pageSize(call),
    snapshots: include.has('snapshots'),
    versions: include.has('versions'),
    uncommitted: include.has('uncommittedblobs'),
    deleted: include.has('deleted'),
    versionsOnly: include.has('deletedwithversions'),
  });
  const told = accesses.isKept(call.account) && call.version >= '2020-02-10';
  const telling = {
    include,
    version: call.version,
    now: listing.now,
    lastAccess: told,
    isPremium: isPremium(store, containerKey(call)),
  };
  const rows = listing.entries.map((entry) => entryElement(entry, telling));
  const asked =
    named('Prefix', prefix, call.version) +
    optional('Marker', marker) +
    optional('MaxResults', parameter(call, 'maxresults')) +
    named('Delimiter', delimiter, call.version);
  const body = asked + parent('Blobs', rows.join('')) + element('NextMarker', listing.next ?? '');
  const endpoint = escapeAttribute(`${call.endpoint}/`);
  const container = escapeAttribute(call.container);
  const open = `<EnumerationResults ServiceEndpoint="${endpoint}" ContainerName="${container}">`;
  return xmlAnswer(200, `${open}${body}</EnumerationResults>`);
}

/** A SAS shows tags only to who may read them. */
function checkTagsAllowed(include: ReadonlySet<Include>, identity: Identity): void {
  if (include.has('tags') && identity.kind === 'sas' && !identity.permissions.includes('t')) {
    throw new StorageError('AuthorizationPermissionMismatch');
  }
}

/** Before 2021-02-12 a name was never encoded. */
function named(name: string, text: string | undefined, version: Version): string {
  if (text === undefined) return '';
  return version >= '2021-02-12' ? nameElement(name, text) : element(name, text);
}

function entryElement(entry: ListedEntry, telling: Telling): string {
  const name = named('Name', entry.name, telling.version);
  if (entry.kind === 'prefix') return parent('BlobPrefix', name);
  const { include } = telling;
  const blob = committed(entry.blob);
  const told =
    name +
    keptElements(entry, telling) +
    parent('Properties', propertyElements(entry, telling)) +
    (blob !== undefined && include.has('metadata') ? metadataElement(blob) : '') +
    (blob?.tags !== undefined && include.has('tags') ? tagsElement(blob.tags) : '') +
    (telling.version >= '2020-06-12' ? '<OrMetadata />' : '');
  return parent('Blob', told);
}

type BlobEntry = Exclude<ListedEntry, { kind: 'prefix' }>;

/** Which of the name's blobs it is. */
function keptElements(entry: BlobEntry, telling: Telling): string {
  const deleted = deletedOf(entry) === undefined ? '' : element('Deleted', 'true');
  switch (entry.kind) {
    case 'snapshot':
      return element('Snapshot', formatKeptTime(entry.stamp)) + deleted;
    case 'version':
      return element('VersionId', formatKeptTime(entry.stamp)) + deleted;
    case 'versions only':
      return element('HasVersionsOnly', 'true');
    case 'blob':
      return currentVersion(entry, telling) + deleted;
  }
}

function deletedOf({ blob }: BlobEntry): Deleted | undefined {
  return 'deleted' in blob ? blob.deleted : undefined;
}

function currentVersion({ blob }: BlobEntry, { include }: Telling): string {
  const version = committed(blob)?.version;
  if (version === undefined || !include.has('versions')) return '';
  return element('VersionId', formatKeptTime(version)) + element('IsCurrentVersion', 'true');
}

function propertyElements(entry: BlobEntry, telling: Telling): string {
  const blob = committed(entry.blob);
  const deleted = deletedOf(entry);
  const isCurrent = entry.kind === 'blob' && deleted === undefined;
  const lease = isCurrent ? leaseElements(entry.blob.lease, telling.now) : '';
  if (blob === undefined) {
    return (
      element('Content-Length', '0') +
      element('BlobType', 'BlockBlob') +
      tierElements({ type: 'BlockBlob', length: 0 }, telling) +
      lease +
      element('ServerEncrypted', 'true')
    );
  }
  const { version, include } = telling;
  const { sequence, sealed } = blob;
  return (
    (version >= '2017-11-09' ? element('Creation-Time', formatHttpDate(stampToMs(blob.created))) : '') +
    element('Last-Modified', formatHttpDate(lastModifiedMs(blob.stamp))) +
    element('Etag', bareEtag(blob.stamp)) +
    contentElements(blob) +
    (sequence === undefined ? '' : element('x-ms-blob-sequence-number', String(sequence))) +
    element('BlobType', blob.type) +
    (entry.kind === 'snapshot' ? '' : tierElements(blob, telling)) +
    lease +
    (blob.copy !== undefined && include.has('copy') ? copyElements(blob.copy) : '') +
    element('ServerEncrypted', 'true') +
    optional('CustomerProvidedKeySha256', blob.key) +
    (blob.incremental === undefined ? '' : incrementalElements(blob.incremental)) +
    (deleted === undefined ? '' : deletedElements(deleted, telling.now)) +
    (blob.tags !== undefined && version >= '2019-12-12'
      ? element('TagCount', String(blob.tags.length))
      : '') +
    (blob.expires !== undefined && version >= '2020-02-10'
      ? element('Expiry-Time', formatHttpDate(blob.expires))
      : '') +
    (sealed && version >= '2019-12-12' ? element('Sealed', 'true') : '') +
    (telling.lastAccess ? element('LastAccessTime', formatHttpDate(lastAccess(blob))) : '') +
    immutabilityElements(blob, telling)
  );
}

function deletedElements({ at, until }: Deleted, now: number): string {
  const days = Math.floor((until - now) / (24 * 3600 * 1000));
  return element('DeletedTime', formatHttpDate(at)) + element('RemainingRetentionDays', String(days));
}

function immutabilityElements({ immutability, legalHold }: BlobRecord, { include }: Telling): string {
  const policy =
    immutability === undefined || !include.has('immutabilitypolicy')
      ? ''
      : element('ImmutabilityPolicyUntilDate', formatHttpDate(immutability.until)) +
        element('ImmutabilityPolicyMode', immutability.locked ? 'Locked' : 'Unlocked');
  return policy + (legalHold && include.has('legalhold') ? element('LegalHold', 'true') : '');
}

function contentElements({ length, headers }: BlobRecord): string {
  return (
    element('Content-Length', String(length)) +
    headerElement('Content-Type', headers.type ?? '') +
    headerElement('Content-Encoding', headers.encoding ?? '') +
    headerElement('Content-Language', headers.language ?? '') +
    element('Content-MD5', headers.md5 === undefined ? '' : md5Text(headers.md5)) +
    headerElement('Cache-Control', headers.cacheControl ?? '') +
    headerElement('Content-Disposition', headers.disposition ?? '')
  );
}

function tierElements(
  blob: Pick<BlobRecord, 'type' | 'length' | 'tier'>,
  { version, now, isPremium }: Telling,
): string {
  if (version < '2017-04-17') return '';
  if (blob.type === 'PageBlob' && isPremium) {
    const name = blob.tier?.name ?? inferredPageTier(blob.length);
    return (
      element('AccessTier', name) + (blob.tier === undefined ? element('AccessTierInferred', 'true') : '')
    );
  }
  if (blob.type !== 'BlockBlob') return '';
  const tier = observeTier(blob.tier, now);
  if (tier === undefined) return element('AccessTier', 'Hot') + element('AccessTierInferred', 'true');
  const { rehydrating } = tier;
  return (
    element('AccessTier', tier.name) +
    element('AccessTierChangeTime', formatHttpDate(tier.changed)) +
    (rehydrating === undefined
      ? ''
      : element('ArchiveStatus', archiveStatus(rehydrating)) +
        element('RehydratePriority', rehydrating.priority))
  );
}

function leaseElements(lease: Lease | undefined, now: number): string {
  const { status, state, duration } = leaseProperties(lease ?? availableLease, now);
  return element('LeaseStatus', status) + element('LeaseState', state) + optional('LeaseDuration', duration);
}

function copyElements(copy: CopyState): string {
  return (
    element('CopyId', copy.id) +
    headerElement('CopySource', copy.source) +
    element('CopyStatus', copy.status) +
    element('CopyProgress', `${copy.copied}/${copy.total}`) +
    (copy.completed === undefined ? '' : element('CopyCompletionTime', formatHttpDate(copy.completed))) +
    optional('CopyStatusDescription', copy.description)
  );
}

function incrementalElements({ target }: IncrementalCopy): string {
  return element('IncrementalCopy', 'true') + element('DestinationSnapshot', formatKeptTime(target));
}

/** Of a blob that is encrypted with a customer's key the metadata is told to nobody here. */
function metadataElement({ metadata, key }: BlobRecord): string {
  if (key !== undefined) return '<Metadata Encrypted="true" />';
  return parent('Metadata', metadata.map(([name, value]) => element(name, value)).join(''));
}
