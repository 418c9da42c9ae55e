// Service properties as data: what Set Blob, Queue, Table and File Service Properties store for an account.
//
//                          blob  queue  table  file
//   logging                 x     x      x      -
//   hour, minute metrics    x     x      x      x
//   cors                    x     x      x      x
//   defaultServiceVersion   x     -      -      -
//   deleteRetention         x     -      -      x     blobs; shares
//   staticWebsite           x     -      -      -
//   smb                     -     -      -      x
//
// A change names some of them, each complete, and leaves the others as they are. Logging and metrics are
// stored and told again; nothing is written to $logs. The protocol reads the XML: booleans and numbers are
// such when they come here, and what the rules below refuse is told with its reason.

import { type CorsRule, checkCors } from './cors-rules.js';
import { invalidXml, invalidXmlValue, StorageError } from './errors.js';
import { knownVersions } from './versions.js';

/** Days that something is kept, 1 to 365; nothing: it is not. */
export type RetentionDays = number | undefined;

export type Logging = Readonly<{
  version: string;
  read: boolean;
  write: boolean;
  delete: boolean;
  retentionDays: RetentionDays;
}>;

export type Metrics = Readonly<{
  version: string;
  enabled: boolean;
  /** Only when enabled. */
  includeApis: boolean | undefined;
  retentionDays: RetentionDays;
}>;

export type DeleteRetention = Readonly<{ days: RetentionDays; allowPermanentDelete: boolean }>;

export type StaticWebsite = Readonly<{
  enabled: boolean;
  indexDocument: string | undefined;
  /** Instead of `indexDocument`: one document for every path. */
  defaultIndexDocumentPath: string | undefined;
  errorDocument404Path: string | undefined;
}>;

/** What the SMB endpoint offers; each list empty: all it can. */
export type SmbSettings = Readonly<{
  multichannel: boolean;
  versions: readonly string[];
  authenticationMethods: readonly string[];
  kerberosTicketEncryption: readonly string[];
  channelEncryption: readonly string[];
  encryptionInTransitRequired: boolean;
}>;

export type ServiceSettings = Readonly<{
  logging: Logging;
  hourMetrics: Metrics;
  minuteMetrics: Metrics;
  cors: readonly CorsRule[];
  defaultServiceVersion: string | undefined;
  deleteRetention: DeleteRetention;
  staticWebsite: StaticWebsite;
  smb: SmbSettings;
}>;

export type SettingsService = 'blob' | 'queue' | 'table' | 'file';

const everywhere = ['hourMetrics', 'minuteMetrics', 'cors'] as const;

/** Which of them a service has; the rest keep their defaults and are not told. */
export const settingsOf = {
  blob: ['logging', ...everywhere, 'deleteRetention', 'staticWebsite', 'defaultServiceVersion'],
  queue: ['logging', ...everywhere],
  table: ['logging', ...everywhere],
  file: [...everywhere, 'deleteRetention', 'smb'],
} as const satisfies Record<SettingsService, readonly (keyof ServiceSettings)[]>;

const noMetrics: Metrics = {
  version: '1.0',
  enabled: false,
  includeApis: undefined,
  retentionDays: undefined,
};

export const defaultServiceSettings: ServiceSettings = {
  logging: { version: '1.0', read: false, write: false, delete: false, retentionDays: undefined },
  hourMetrics: noMetrics,
  minuteMetrics: noMetrics,
  cors: [],
  defaultServiceVersion: undefined,
  deleteRetention: { days: undefined, allowPermanentDelete: false },
  staticWebsite: {
    enabled: false,
    indexDocument: undefined,
    defaultIndexDocumentPath: undefined,
    errorDocument404Path: undefined,
  },
  smb: {
    multichannel: false,
    versions: [],
    authenticationMethods: [],
    kerberosTicketEncryption: [],
    channelEncryption: [],
    encryptionInTransitRequired: false,
  },
};

/** The settings with a client's change; throws if it may not be made, and then nothing changes. */
export function changeServiceSettings(
  service: SettingsService,
  stored: ServiceSettings,
  change: Partial<ServiceSettings>,
): ServiceSettings {
  const known: readonly string[] = settingsOf[service];
  if (Object.keys(change).some((name) => !known.includes(name))) throw new StorageError('UnsupportedXmlNode');
  for (const check of Object.values(checks)) check(change);
  return { ...stored, ...change };
}

const checks = {
  logging({ logging }) {
    if (!logging) return;
    checkVersion(logging.version, ['1.0', '2.0']);
    checkDays(logging.retentionDays);
  },
  metrics({ hourMetrics, minuteMetrics }) {
    for (const metrics of [hourMetrics, minuteMetrics]) {
      if (!metrics) continue;
      checkVersion(metrics.version, ['1.0']);
      checkDays(metrics.retentionDays);
      if (metrics.enabled !== (metrics.includeApis !== undefined)) {
        throw invalidXml('IncludeAPIs must be given when metrics are enabled, and only then.');
      }
    }
  },
  cors({ cors }) {
    if (cors) checkCors(cors);
  },
  deleteRetention({ deleteRetention }) {
    if (deleteRetention) checkDays(deleteRetention.days);
  },
  staticWebsite({ staticWebsite }) {
    if (staticWebsite) checkWebsite(staticWebsite);
  },
  defaultServiceVersion({ defaultServiceVersion: version }) {
    if (version !== undefined && !knownVersions.includes(version)) {
      throw invalidXmlValue('DefaultServiceVersion', version);
    }
  },
  smb({ smb }) {
    if (smb) checkSmb(smb);
  },
} satisfies Record<string, (change: Partial<ServiceSettings>) => void>;

function checkVersion(version: string, known: readonly string[]): void {
  if (!known.includes(version)) throw invalidXmlValue('Version', version);
}

function checkDays(days: RetentionDays): void {
  if (days === undefined || (Number.isInteger(days) && days >= 1 && days <= 365)) return;
  throw invalidXml('Retention days must be greater than 0 and less than or equal to 365 days.');
}

function checkWebsite(website: StaticWebsite): void {
  const { indexDocument, defaultIndexDocumentPath, errorDocument404Path } = website;
  if (indexDocument !== undefined && defaultIndexDocumentPath !== undefined) {
    throw invalidXml('IndexDocument and DefaultIndexDocumentPath cannot be used together.');
  }
  // The index document is looked for in every folder: it is a name, not a path.
  if (indexDocument !== undefined && (indexDocument === '' || indexDocument.includes('/'))) {
    throw invalidXmlValue('IndexDocument', indexDocument);
  }
  for (const [node, path] of [
    ['DefaultIndexDocumentPath', defaultIndexDocumentPath],
    ['ErrorDocument404Path', errorDocument404Path],
  ] as const) {
    if (path !== undefined && (path === '' || path.length > 1024)) throw invalidXmlValue(node, path);
  }
}

const smbValues = {
  versions: ['SMB2.1', 'SMB3.0', 'SMB3.1.1'],
  authenticationMethods: ['NTLMv2', 'Kerberos'],
  kerberosTicketEncryption: ['RC4-HMAC', 'AES-256'],
  channelEncryption: ['AES-128-CCM', 'AES-128-GCM', 'AES-256-GCM'],
} as const;

const smbNodes = {
  versions: 'Versions',
  authenticationMethods: 'AuthenticationMethods',
  kerberosTicketEncryption: 'KerberosTicketEncryption',
  channelEncryption: 'ChannelEncryption',
} as const;

function checkSmb(smb: SmbSettings): void {
  for (const name of Object.keys(smbValues) as (keyof typeof smbValues)[]) {
    const allowed: readonly string[] = smbValues[name];
    const wrong = smb[name].find((value) => !allowed.includes(value));
    if (wrong !== undefined) throw invalidXmlValue(smbNodes[name], wrong);
  }
}
