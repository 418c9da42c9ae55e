// List Containers on the wire.

import { formatHttpDate } from '../../base/times.js';
import * as containers from '../../services/blob/containers.js';
import type { BlobService } from '../../services/blob/service.js';
import { invalidParameter } from '../../services/common/errors.js';
import { etag, lastModifiedMs } from '../../services/common/etag.js';
import { leaseProperties } from '../../services/common/lease.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { listParameter, pageSize, parameter } from '../parameters.js';
import { element, escapeAttribute, nameElement, optional, parent, xmlAnswer } from '../xml.js';
import { accountScope, formatVersion } from './containers.js';

const includes = ['metadata', 'deleted', 'system'] as const;

/** What decides how an entry is told. */
interface Telling {
  readonly metadata: boolean;
  readonly immutability: boolean;
  readonly now: number;
}

export async function listContainers(call: Call, { store }: BlobService): Promise<Answer> {
  const prefix = parameter(call, 'prefix');
  const marker = parameter(call, 'marker');
  const include = listParameter(call, 'include', includes);
  const max = pageSize(call);
  const listing = await containers.listContainers(store, call.account, {
    prefix: prefix ?? '',
    from: marker === undefined ? undefined : parseMarker(marker, call.account),
    max,
    deleted: include.has('deleted'),
  });
  const telling = {
    metadata: include.has('metadata'),
    immutability: store.settings(call.account).versionLevelImmutability,
    now: listing.now,
  };
  const rows = listing.containers.map((container) => containerElement(container, telling));
  const asked =
    (prefix === undefined ? '' : nameElement('Prefix', prefix)) +
    optional('Marker', marker) +
    optional('MaxResults', parameter(call, 'maxresults'));
  const next = listing.next === undefined ? '' : formatMarker(listing.next, call.account);
  const body = asked + parent('Containers', rows.join('')) + element('NextMarker', next);
  const endpoint = escapeAttribute(`${call.endpoint}/`);
  return xmlAnswer(200, `<EnumerationResults ServiceEndpoint="${endpoint}">${body}</EnumerationResults>`);
}

type Position = NonNullable<containers.ContainerListing['next']>;

/** Azure's marker is the path of the next container; ours says which of those that are deleted, if it is one. */
function formatMarker({ name, stamp }: Position, account: string): string {
  return `/${account}/${name}${stamp === Number.MAX_SAFE_INTEGER ? '' : `/${stamp}`}`;
}

function parseMarker(marker: string, account: string): Position {
  const home = `/${account}/`;
  const [name = '', stamp, ...more] = (marker.startsWith(home) ? marker.slice(home.length) : marker).split(
    '/',
  );
  if (name === '' || more.length > 0 || !/^\d{0,16}$/.test(stamp ?? ''))
    throw invalidParameter('marker', marker);
  return { name, stamp: stamp === undefined ? Number.MAX_SAFE_INTEGER : Number(stamp) };
}

function containerElement(container: containers.ListedContainer, telling: Telling): string {
  const { name, properties, deleted } = container;
  const { stamp, publicAccess, metadata } = properties;
  const lease = leaseProperties(properties.lease, telling.now);
  const told =
    element('Last-Modified', formatHttpDate(lastModifiedMs(stamp))) +
    element('Etag', etag(stamp)) +
    element('LeaseStatus', lease.status) +
    element('LeaseState', lease.state) +
    optional('LeaseDuration', lease.duration) +
    (publicAccess === 'none' ? '' : element('PublicAccess', publicAccess)) +
    element('HasImmutabilityPolicy', 'false') +
    element('HasLegalHold', 'false') +
    element('DefaultEncryptionScope', accountScope) +
    element('DenyEncryptionScopeOverride', 'false') +
    element('ImmutableStorageWithVersioningEnabled', String(telling.immutability)) +
    (deleted === undefined ? '' : deletedElements(deleted, telling.now));
  const pairs = metadata.map(([key, value]) => element(key, value)).join('');
  const which =
    deleted === undefined
      ? ''
      : element('Version', formatVersion(deleted.stamp)) + element('Deleted', 'true');
  return parent(
    'Container',
    element('Name', name) +
      which +
      parent('Properties', told) +
      (telling.metadata ? parent('Metadata', pairs) : ''),
  );
}

function deletedElements(
  { at, until }: NonNullable<containers.ListedContainer['deleted']>,
  now: number,
): string {
  const days = Math.floor((until - now) / (24 * 3600 * 1000));
  return element('DeletedTime', formatHttpDate(at)) + element('RemainingRetentionDays', String(days));
}
