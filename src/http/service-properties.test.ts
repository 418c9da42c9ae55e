import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changeServiceSettings,
  defaultServiceSettings,
  type ServiceSettings,
} from '../services/common/service-settings.js';
import { callOf } from './auth/calls.suite.js';
import type { ServiceName } from './call.js';
import {
  getServiceProperties,
  getServiceStats,
  type PropertiesStore,
  setServiceProperties,
} from './service-operations.js';

const off = '<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>';
const logging = `<Logging><Version>1.0</Version><Read>true</Read><Write>false</Write><Delete>true</Delete><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging>`;
const noLogging = `<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete>${off}</Logging>`;
const hour = `<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>${off}</HourMetrics>`;
const noMetrics = `<Version>1.0</Version><Enabled>false</Enabled>${off}`;
const cors =
  '<Cors><CorsRule><AllowedMethods>GET,PUT</AllowedMethods><AllowedOrigins>http://a.com,http://b.com</AllowedOrigins><AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders /><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>';

function storeOf(service: ServiceName): PropertiesStore & { settings: ServiceSettings } {
  const store = {
    settings: defaultServiceSettings,
    read: () => store.settings,
    change: async (_: string, change: Partial<ServiceSettings>) => {
      store.settings = changeServiceSettings(service, store.settings, change);
    },
  };
  return store;
}

function put(
  service: ServiceName,
  store: PropertiesStore,
  children: string,
  root = 'StorageServiceProperties',
) {
  const request = 'PUT /devstoreaccount1?restype=service&comp=properties';
  return setServiceProperties(callOf(service, request, { body: `<${root}>${children}</${root}>` }), store);
}

async function get(service: ServiceName, store: PropertiesStore, version = '2021-12-02'): Promise<string> {
  const request = 'GET /devstoreaccount1?restype=service&comp=properties';
  const call = callOf(service, request, { headers: { 'x-ms-version': version } });
  const answer = await getServiceProperties(call, store);
  assert.equal(answer.status, 200);
  return `${answer.body}`.replace(/^.*<StorageServiceProperties>(.*)<\/StorageServiceProperties>$/, '$1');
}

test('a new blob service, and what older versions are told of it', async () => {
  const store = storeOf('blob');
  const metrics = `<HourMetrics>${noMetrics}</HourMetrics><MinuteMetrics>${noMetrics}</MinuteMetrics><Cors />`;
  const website = '<StaticWebsite><Enabled>false</Enabled></StaticWebsite>';
  const retention = (more: string) =>
    `<DeleteRetentionPolicy><Enabled>false</Enabled>${more}</DeleteRetentionPolicy>`;
  assert.equal(
    await get('blob', store),
    noLogging + metrics + retention('<AllowPermanentDelete>false</AllowPermanentDelete>') + website,
  );
  assert.equal(await get('blob', store, '2018-03-28'), noLogging + metrics + retention('') + website);
  assert.equal(await get('blob', store, '2017-07-29'), noLogging + metrics + retention(''));
  assert.equal(await get('blob', store, '2013-08-15'), noLogging + metrics);
  assert.equal(await get('blob', store, '2012-02-12'), `${noLogging}<Metrics>${noMetrics}</Metrics>`);
});

test('a change replaces what it names and leaves the rest', async () => {
  const store = storeOf('queue');
  assert.equal((await put('queue', store, logging + cors)).status, 202);
  await put('queue', store, hour);
  const minute = `<MinuteMetrics>${noMetrics}</MinuteMetrics>`;
  assert.equal(await get('queue', store), logging + hour + minute + cors);
  await put('queue', store, '<Cors />');
  assert.equal(await get('queue', store), `${logging}${hour}${minute}<Cors />`);
});

test('all that blob has comes back', async () => {
  const store = storeOf('blob');
  const retention =
    '<DeleteRetentionPolicy><Enabled>true</Enabled><Days>365</Days><AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>';
  const website =
    '<StaticWebsite><Enabled>true</Enabled><IndexDocument>index.html</IndexDocument><ErrorDocument404Path>404.html</ErrorDocument404Path></StaticWebsite>';
  const version = '<DefaultServiceVersion>2015-04-05</DefaultServiceVersion>';
  await put('blob', store, version + website + retention);
  assert.ok((await get('blob', store)).endsWith(retention + website + version));
  assert.equal(store.settings.deleteRetention.days, 365);
  assert.equal(store.settings.defaultServiceVersion, '2015-04-05');
  await put('blob', store, '<DefaultServiceVersion />');
  assert.equal(store.settings.defaultServiceVersion, undefined);
});

test('all that file has comes back', async () => {
  const store = storeOf('file');
  const retention =
    '<ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>1</Days></ShareDeleteRetentionPolicy>';
  const protocol =
    '<ProtocolSettings><SMB><Multichannel><Enabled>true</Enabled></Multichannel><Versions>SMB3.0;SMB3.1.1</Versions><AuthenticationMethods>NTLMv2</AuthenticationMethods><KerberosTicketEncryption>AES-256</KerberosTicketEncryption><ChannelEncryption>AES-128-GCM</ChannelEncryption><EncryptionInTransit><Required>true</Required></EncryptionInTransit></SMB></ProtocolSettings>';
  await put('file', store, retention + protocol);
  const text = await get('file', store);
  assert.ok(text.startsWith('<HourMetrics>'));
  assert.ok(text.endsWith(retention + protocol));
});

const retentionDays = (days: string) =>
  `<DeleteRetentionPolicy><Enabled>true</Enabled>${days}</DeleteRetentionPolicy>`;

const refused: [name: string, service: ServiceName, children: string, code: string][] = [
  ['no days', 'blob', retentionDays(''), 'InvalidXmlDocument'],
  ['0 days', 'blob', retentionDays('<Days>0</Days>'), 'InvalidXmlDocument'],
  ['366 days', 'blob', retentionDays('<Days>366</Days>'), 'InvalidXmlDocument'],
  ['days that are no number', 'blob', retentionDays('<Days>many</Days>'), 'InvalidXmlNodeValue'],
  ['a part of logging', 'blob', '<Logging><Version>1.0</Version></Logging>', 'MissingRequiredXmlNode'],
  ['a flag that is none', 'blob', logging.replace('>true<', '>yes<'), 'InvalidXmlNodeValue'],
  ['logging twice', 'blob', logging + logging, 'InvalidXmlDocument'],
  ['an unknown element', 'blob', '<Other />', 'UnsupportedXmlNode'],
  [
    'an unknown element inside',
    'blob',
    logging.replace('</Logging>', '<Other /></Logging>'),
    'UnsupportedXmlNode',
  ],
  ['logging of files', 'file', logging, 'UnsupportedXmlNode'],
  ['a website of queues', 'queue', '<StaticWebsite />', 'UnsupportedXmlNode'],
  ['a rule without origins', 'blob', cors.replace('http://a.com,http://b.com', ''), 'InvalidXmlDocument'],
  ['a rule that lacks an element', 'blob', cors.replace('<ExposedHeaders />', ''), 'MissingRequiredXmlNode'],
  ['a method that is none', 'blob', cors.replace('GET,PUT', 'GET,BREW'), 'InvalidXmlNodeValue'],
  ['what is no rule', 'blob', cors.replaceAll('CorsRule>', 'Rule>'), 'UnsupportedXmlNode'],
  [
    'a version that is none',
    'blob',
    '<DefaultServiceVersion>new</DefaultServiceVersion>',
    'InvalidXmlNodeValue',
  ],
  [
    'elements where text is',
    'blob',
    '<DefaultServiceVersion><a /></DefaultServiceVersion>',
    'InvalidXmlDocument',
  ],
  ['NFS', 'file', '<ProtocolSettings><NFS /></ProtocolSettings>', 'UnsupportedXmlNode'],
];

for (const [name, service, children, code] of refused) {
  test(`${name}: ${code}, and nothing changes`, async () => {
    const store = storeOf(service);
    await assert.rejects(put(service, store, children), { code });
    assert.equal(store.settings, defaultServiceSettings);
  });
}

test('another root, and no body at all', async () => {
  await assert.rejects(put('blob', storeOf('blob'), '', 'Other'), { code: 'InvalidXmlDocument' });
  const empty = callOf('blob', 'PUT /devstoreaccount1?restype=service&comp=properties', { body: '' });
  await assert.rejects(setServiceProperties(empty, storeOf('blob')), { code: 'InvalidXmlDocument' });
});

test('statistics', () => {
  const answer = getServiceStats(
    callOf('blob', 'GET /devstoreaccount1-secondary?restype=service&comp=stats'),
  );
  assert.equal(
    `${answer.body}`.slice(39),
    '<StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>Fri, 01 May 2026 12:00:00 GMT</LastSyncTime></GeoReplication></StorageServiceStats>',
  );
});
