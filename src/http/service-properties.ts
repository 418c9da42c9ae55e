// Service properties as XML, read and written. What a request leaves out is not changed; what it names
// must be whole. What values may be is said in services/common.

import type { CorsRule } from '../services/common/cors-rules.js';
import type {
  DeleteRetention,
  Logging,
  Metrics,
  RetentionDays,
  ServiceSettings,
  SmbSettings,
  StaticWebsite,
} from '../services/common/service-settings.js';
import type { ServiceName, Version } from './call.js';
import { element, optional, parent } from './xml.js';
import {
  flagChild,
  integerOf,
  onlyChildren,
  optionalFlag,
  optionalText,
  requireChild,
  requireRoot,
  textChild,
  textOf,
} from './xml-fields.js';
import { child, type XmlNode } from './xml-parser.js';

type Change = Partial<ServiceSettings>;
type Reader = (node: XmlNode) => Change;

const common: Record<string, Reader> = {
  HourMetrics: (node) => ({ hourMetrics: readMetrics(node) }),
  MinuteMetrics: (node) => ({ minuteMetrics: readMetrics(node) }),
  Cors: (node) => ({ cors: readCors(node) }),
};
const logged: Record<string, Reader> = {
  ...common,
  Logging: (node) => ({ logging: readLogging(node) }),
  Metrics: (node) => ({ hourMetrics: readMetrics(node) }), // its name before 2013-08-15
};

/** The children of the root that a service knows. */
const readers: Record<ServiceName, Record<string, Reader>> = {
  queue: logged,
  table: logged,
  blob: {
    ...logged,
    DefaultServiceVersion: (node) => ({ defaultServiceVersion: textOf(node).trim() || undefined }),
    DeleteRetentionPolicy: (node) => ({ deleteRetention: readDeleteRetention(node) }),
    StaticWebsite: (node) => ({ staticWebsite: readStaticWebsite(node) }),
  },
  file: {
    ...common,
    ShareDeleteRetentionPolicy: (node) => ({ deleteRetention: readDeleteRetention(node) }),
    ProtocolSettings: (node) => ({ smb: readSmb(node) }),
  },
};

export function readProperties(service: ServiceName, document: XmlNode): Change {
  const root = requireRoot(document, 'StorageServiceProperties');
  const known = readers[service];
  onlyChildren(root, Object.keys(known));
  return Object.assign({}, ...root.children.map((node) => known[node.name]?.(node)));
}

function readLogging(node: XmlNode): Logging {
  onlyChildren(node, ['Version', 'Delete', 'Read', 'Write', 'RetentionPolicy']);
  return {
    version: textChild(node, 'Version').trim(),
    read: flagChild(node, 'Read'),
    write: flagChild(node, 'Write'),
    delete: flagChild(node, 'Delete'),
    retentionDays: readRetention(requireChild(node, 'RetentionPolicy')),
  };
}

function readMetrics(node: XmlNode): Metrics {
  onlyChildren(node, ['Version', 'Enabled', 'IncludeAPIs', 'RetentionPolicy']);
  return {
    version: textChild(node, 'Version').trim(),
    enabled: flagChild(node, 'Enabled'),
    includeApis: optionalFlag(node, 'IncludeAPIs'),
    retentionDays: readRetention(requireChild(node, 'RetentionPolicy')),
  };
}

/** A policy that is on and names no days is refused as one that names 0. */
function readRetention(node: XmlNode): RetentionDays {
  onlyChildren(node, ['Enabled', 'Days', 'AllowPermanentDelete']);
  if (!flagChild(node, 'Enabled')) return undefined;
  const days = child(node, 'Days');
  return days === undefined ? 0 : integerOf(days);
}

function readDeleteRetention(node: XmlNode): DeleteRetention {
  return {
    days: readRetention(node),
    allowPermanentDelete: optionalFlag(node, 'AllowPermanentDelete') ?? false,
  };
}

function readCors(node: XmlNode): CorsRule[] {
  return node.children.map((rule) => {
    onlyChildren({ ...node, children: [rule] }, ['CorsRule']);
    onlyChildren(rule, [
      'AllowedOrigins',
      'AllowedMethods',
      'AllowedHeaders',
      'ExposedHeaders',
      'MaxAgeInSeconds',
    ]);
    return {
      allowedOrigins: readList(rule, 'AllowedOrigins', ','),
      allowedMethods: readList(rule, 'AllowedMethods', ','),
      allowedHeaders: readList(rule, 'AllowedHeaders', ','),
      exposedHeaders: readList(rule, 'ExposedHeaders', ','),
      maxAgeSeconds: integerOf(requireChild(rule, 'MaxAgeInSeconds')),
    };
  });
}

function readList(node: XmlNode, name: string, between: string): string[] {
  return textChild(node, name)
    .split(between)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

function readStaticWebsite(node: XmlNode): StaticWebsite {
  onlyChildren(node, ['Enabled', 'IndexDocument', 'ErrorDocument404Path', 'DefaultIndexDocumentPath']);
  return {
    enabled: flagChild(node, 'Enabled'),
    indexDocument: optionalText(node, 'IndexDocument'),
    defaultIndexDocumentPath: optionalText(node, 'DefaultIndexDocumentPath'),
    errorDocument404Path: optionalText(node, 'ErrorDocument404Path'),
  };
}

function readSmb(node: XmlNode): SmbSettings {
  onlyChildren(node, ['SMB']);
  const smb = requireChild(node, 'SMB');
  onlyChildren(smb, [...smbLists.map(([name]) => name), 'Multichannel', 'EncryptionInTransit']);
  const multichannel = child(smb, 'Multichannel');
  const encryption = child(smb, 'EncryptionInTransit');
  const list = (name: string) => (child(smb, name) === undefined ? [] : readList(smb, name, ';'));
  return {
    multichannel: multichannel !== undefined && flagChild(multichannel, 'Enabled'),
    versions: list('Versions'),
    authenticationMethods: list('AuthenticationMethods'),
    kerberosTicketEncryption: list('KerberosTicketEncryption'),
    channelEncryption: list('ChannelEncryption'),
    encryptionInTransitRequired: encryption !== undefined && flagChild(encryption, 'Required'),
  };
}

const smbLists = [
  ['Versions', 'versions'],
  ['AuthenticationMethods', 'authenticationMethods'],
  ['KerberosTicketEncryption', 'kerberosTicketEncryption'],
  ['ChannelEncryption', 'channelEncryption'],
] as const;

/** In the order of the live service; a version is told what it knows. */
export function writeProperties(service: ServiceName, settings: ServiceSettings, version: Version): string {
  const { logging, hourMetrics, minuteMetrics, cors } = settings;
  let text = service === 'file' ? '' : writeLogging(logging);
  if (version < '2013-08-15') text += writeMetrics('Metrics', hourMetrics);
  else {
    text += writeMetrics('HourMetrics', hourMetrics) + writeMetrics('MinuteMetrics', minuteMetrics);
    text += parent('Cors', cors.map(writeCorsRule).join(''));
  }
  if (service === 'blob') text += writeBlobProperties(settings, version);
  if (service === 'file' && version >= '2020-02-10') {
    text += writeRetention('ShareDeleteRetentionPolicy', settings.deleteRetention.days);
    text += writeSmb(settings.smb);
  }
  return parent('StorageServiceProperties', text);
}

function writeBlobProperties(settings: ServiceSettings, version: Version): string {
  const { days, allowPermanentDelete } = settings.deleteRetention;
  const permanent = version >= '2020-02-10' ? flag('AllowPermanentDelete', allowPermanentDelete) : '';
  let text = '';
  if (version >= '2017-07-29') text += writeRetention('DeleteRetentionPolicy', days, permanent);
  if (version >= '2018-03-28') text += writeStaticWebsite(settings.staticWebsite);
  return text + optional('DefaultServiceVersion', settings.defaultServiceVersion);
}

function flag(name: string, value: boolean): string {
  return element(name, String(value));
}

function writeLogging(logging: Logging): string {
  const flags = flag('Read', logging.read) + flag('Write', logging.write) + flag('Delete', logging.delete);
  const retention = writeRetention('RetentionPolicy', logging.retentionDays);
  return parent('Logging', element('Version', logging.version) + flags + retention);
}

function writeMetrics(name: string, metrics: Metrics): string {
  const apis = metrics.includeApis === undefined ? '' : flag('IncludeAPIs', metrics.includeApis);
  const head = element('Version', metrics.version) + flag('Enabled', metrics.enabled);
  return parent(name, head + apis + writeRetention('RetentionPolicy', metrics.retentionDays));
}

function writeRetention(name: string, days: RetentionDays, more = ''): string {
  return parent(name, flag('Enabled', days !== undefined) + optional('Days', days?.toString()) + more);
}

function writeCorsRule(rule: CorsRule): string {
  return parent(
    'CorsRule',
    element('AllowedMethods', rule.allowedMethods.join(',')) +
      element('AllowedOrigins', rule.allowedOrigins.join(',')) +
      element('AllowedHeaders', rule.allowedHeaders.join(',')) +
      element('ExposedHeaders', rule.exposedHeaders.join(',')) +
      element('MaxAgeInSeconds', String(rule.maxAgeSeconds)),
  );
}

function writeStaticWebsite(website: StaticWebsite): string {
  const documents =
    optional('IndexDocument', website.indexDocument) +
    optional('DefaultIndexDocumentPath', website.defaultIndexDocumentPath) +
    optional('ErrorDocument404Path', website.errorDocument404Path);
  return parent('StaticWebsite', flag('Enabled', website.enabled) + documents);
}

function writeSmb(smb: SmbSettings): string {
  let text = parent('Multichannel', flag('Enabled', smb.multichannel));
  for (const [name, key] of smbLists) {
    if (smb[key].length > 0) text += element(name, smb[key].join(';'));
  }
  if (smb.encryptionInTransitRequired) text += parent('EncryptionInTransit', flag('Required', true));
  return parent('ProtocolSettings', parent('SMB', text));
}
