// What the requests of the blob service have in common, decoded: which blob, which guards, which properties.

import { parseHttpDate } from '../../base/times.js';
import { type BlobAddress, parseKeptTime } from '../../services/blob/address.js';
import type { NewBlob } from '../../services/blob/blobs.js';
import type { CreateGuards, Guards } from '../../services/blob/guards.js';
import { checkAllowed } from '../../services/blob/immutability.js';
import type {
  AccessTier,
  ContainerKey,
  ContentHeaders,
  ImmutabilityPolicy,
  PageTier,
} from '../../services/blob/model.js';
import { pageTiers } from '../../services/blob/page-tiers.js';
import type { BlobService } from '../../services/blob/service.js';
import {
  invalidHeader,
  invalidParameter,
  missingHeader,
  StorageError,
} from '../../services/common/errors.js';
import { parseLeaseId } from '../../services/common/lease-request.js';
import { checkName, rootContainer } from '../../services/common/names.js';
import { parseTags } from '../../services/common/tags.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { md5Header } from '../checksums.js';
import { conditionsOf } from '../condition-headers.js';
import { flagHeader, metadataOf, wordHeader } from '../headers.js';
import type { Operation } from '../operation.js';
import { parameter } from '../parameters.js';
import { customerKeyOf } from './customer-keys.js';
import { putExpiryOf } from './expiry-request.js';

export function containerKey(call: Call): ContainerKey {
  checkName('container', call.container);
  return [call.account, call.container];
}

const longestName = 1024;

/** The name of a blob that is looked for: one that no blob can have is not found, unless no key can have it. */
export function blobName(call: Call): string {
  if (call.name.length > longestName) throw new StorageError('InvalidUri');
  return call.name;
}

/** The name of a blob that may be made. */
export function newBlobName(call: Call): string {
  refuseKept(call);
  checkName(call.container === rootContainer ? 'rootBlob' : 'blob', call.name);
  return call.name;
}

/** The name of a blob that is changed: never a snapshot or a version. */
export function changedBlobName(call: Call): string {
  refuseKept(call);
  return blobName(call);
}

function refuseKept(call: Call): void {
  if (parameter(call, 'snapshot') !== undefined) throw new StorageError('InvalidOperation');
  const version = parameter(call, 'versionid');
  if (version !== undefined) throw invalidParameter('versionid', version);
}

/** The blob as it is now, or the snapshot or version that the query names. */
export function blobAddress(call: Call): BlobAddress {
  const name = blobName(call);
  const snapshot = parameter(call, 'snapshot');
  const version = parameter(call, 'versionid');
  if (snapshot !== undefined && version !== undefined) {
    throw new StorageError('MutuallyExclusiveQueryParameters');
  }
  if (snapshot !== undefined) return { name, kind: 'snapshot', stamp: parseKeptTime('snapshot', snapshot) };
  if (version !== undefined) return { name, kind: 'version', stamp: parseKeptTime('versionid', version) };
  return { name, kind: 'base' };
}

export function requireNoBody(call: Call): void {
  const length = call.body.requireLength(Number.MAX_SAFE_INTEGER);
  if (length !== 0) throw invalidHeader('Content-Length', String(length));
}

export function leaseIdOf(call: Call): string | undefined {
  return parseLeaseId('x-ms-lease-id', call.header('x-ms-lease-id'));
}

export function guardsOf(call: Call, operation: Operation, kind: 'read' | 'write'): Guards {
  return {
    conditions: conditionsOf(call, operation, kind),
    leaseId: leaseIdOf(call),
    key: customerKeyOf(call),
  };
}

function createGuardsOf(
  call: Call,
  operation: Operation,
  identity: Identity,
  kind: 'create' | 'copy' = 'create',
): CreateGuards {
  return {
    conditions: conditionsOf(call, operation, kind),
    leaseId: leaseIdOf(call),
    key: customerKeyOf(call),
    mayOverwrite: identity.kind !== 'sas' || identity.permissions.includes('w'),
  };
}

/** A blob that a request changes, and what it demands of it. */
export interface Target<Demands = Guards> {
  readonly container: ContainerKey;
  readonly name: string;
  readonly guards: Demands;
}

export function targetOf(call: Call, operation: Operation): Target {
  const guards = guardsOf(call, operation, 'write');
  return { container: containerKey(call), name: changedBlobName(call), guards };
}

/** One that it makes or replaces. */
export function newTargetOf(
  call: Call,
  operation: Operation,
  identity: Identity,
  kind: 'create' | 'copy' = 'create',
): Target<CreateGuards> {
  const container = containerKey(call);
  return { container, name: newBlobName(call), guards: createGuardsOf(call, operation, identity, kind) };
}

/** The `x-ms-blob-` properties that a request sets; a text that is empty sets nothing. */
export function contentHeadersOf(call: Call): ContentHeaders {
  const headers: { -readonly [Name in keyof ContentHeaders]: ContentHeaders[Name] } = {};
  for (const [field, name] of contentFields) {
    const text = call.header(name);
    if (text) headers[field] = text;
  }
  const md5 = md5Header(call, 'x-ms-blob-content-md5');
  if (md5 !== undefined) headers.md5 = md5;
  return headers;
}

const contentFields = [
  ['type', 'x-ms-blob-content-type'],
  ['encoding', 'x-ms-blob-content-encoding'],
  ['language', 'x-ms-blob-content-language'],
  ['disposition', 'x-ms-blob-content-disposition'],
  ['cacheControl', 'x-ms-blob-cache-control'],
] as const;

export const usualType = 'application/octet-stream';

/** The same on Put Blob, where the body's own headers stand in for what is left out. */
export function bodyHeadersOf(call: Call): ContentHeaders {
  const { header } = call;
  const standard = (name: string) => header.call(call, name) || undefined;
  const encoding = standard('content-encoding');
  const language = standard('content-language');
  const cacheControl = standard('cache-control');
  return {
    type: standard('content-type') ?? usualType,
    ...(encoding === undefined ? {} : { encoding }),
    ...(language === undefined ? {} : { language }),
    ...(cacheControl === undefined ? {} : { cacheControl }),
    ...contentHeadersOf(call),
  };
}

/** The same on Put Block List, whose body's headers are its own. */
export function listHeadersOf(call: Call): ContentHeaders {
  return { type: usualType, ...contentHeadersOf(call) };
}

export function newBlobOf(call: Call, service: BlobService, headers: ContentHeaders): NewBlob {
  const { immutability, legalHold } = protectionOf(call, service);
  return {
    headers,
    metadata: metadataOf(call),
    tags: parseTags(call.header('x-ms-tags')),
    tier: tierOf(call),
    immutability,
    legalHold,
    key: customerKeyOf(call)?.sha256,
    expiry: putExpiryOf(call),
  };
}

/** What keeps a blob from being changed from the beginning. */
export function protectionOf(
  call: Call,
  { store }: BlobService,
): { readonly immutability: ImmutabilityPolicy | undefined; readonly legalHold: boolean } {
  const immutability = policyOf(call, store.now());
  const legalHold = flagHeader(call, 'x-ms-legal-hold');
  if (immutability !== undefined || legalHold) checkAllowed(store, [call.account, call.container]);
  return { immutability, legalHold };
}

const untilHeader = 'x-ms-immutability-policy-until-date';

/** The immutability policy that a request sets; nothing if it sets none. */
export function policyOf(call: Call, now: number): ImmutabilityPolicy | undefined {
  const mode = wordHeader(call, 'x-ms-immutability-policy-mode', ['Unlocked', 'Locked']);
  const text = call.header(untilHeader);
  if (text === undefined) {
    if (mode !== undefined) throw missingHeader(untilHeader);
    return undefined;
  }
  const until = parseHttpDate(text);
  if (until === undefined || until <= now) throw invalidHeader(untilHeader, text);
  return { until, locked: mode === 'Locked' };
}

const tiers = ['Hot', 'Cool', 'Cold', 'Archive', ...pageTiers] as const satisfies readonly (
  | AccessTier
  | PageTier
)[];
const coldSince = '2021-12-02';

/** `x-ms-access-tier`; nothing if it is not there. */
export function tierOf(call: Call): AccessTier | PageTier | undefined {
  const tier = wordHeader(call, 'x-ms-access-tier', tiers);
  if (tier === 'Cold' && call.version < coldSince) throw invalidHeader('x-ms-access-tier', tier);
  return tier;
}
