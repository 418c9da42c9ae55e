import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '../../base/cells.suite.js';
import {
  changeServiceSettings,
  defaultServiceSettings,
  type ServiceSettings,
  type SettingsService,
  settingsOf,
} from './service-settings.js';

const { logging, hourMetrics, deleteRetention, staticWebsite, smb } = defaultServiceSettings;

const services = `
                          blob   queue   table   file
  logging                 yes    yes     yes     no
  hourMetrics             yes    yes     yes     yes
  minuteMetrics           yes    yes     yes     yes
  cors                    yes    yes     yes     yes
  defaultServiceVersion   yes    no      no      no
  deleteRetention         yes    no      no      yes
  staticWebsite           yes    no      no      no
  smb                     no     no      no      yes
`;

for (const { row, column, cell } of cells(services)) {
  test(`${column} has ${row}: ${cell}`, () => {
    const service = column as SettingsService;
    const name = row as keyof ServiceSettings;
    const change = { [name]: defaultServiceSettings[name] };
    assert.equal((settingsOf[service] as readonly string[]).includes(name), cell === 'yes');
    const attempt = () => changeServiceSettings(service, defaultServiceSettings, change);
    if (cell === 'yes') assert.deepEqual(attempt(), defaultServiceSettings);
    else assert.throws(attempt, { code: 'UnsupportedXmlNode' });
  });
}

test('to begin with nothing is logged, kept or served', () => {
  const flags: boolean[] = [];
  JSON.stringify(defaultServiceSettings, (_, value) => {
    if (typeof value === 'boolean') flags.push(value);
    return value;
  });
  assert.equal(flags.length, 9);
  assert.ok(!flags.includes(true));
  assert.deepEqual(defaultServiceSettings.deleteRetention, { days: undefined, allowPermanentDelete: false });
});

test('a change leaves what it does not name', () => {
  const stored = changeServiceSettings('blob', defaultServiceSettings, {
    deleteRetention: { days: 7, allowPermanentDelete: false },
  });
  const changed = changeServiceSettings('blob', stored, { logging: { ...logging, read: true } });
  assert.equal(changed.deleteRetention.days, 7);
  assert.equal(changed.logging.read, true);
});

test('the parts of a change stand or fall together', () => {
  const change = { logging: { ...logging, read: true }, deleteRetention: { ...deleteRetention, days: 366 } };
  assert.throws(() => changeServiceSettings('blob', defaultServiceSettings, change));
  assert.equal(defaultServiceSettings.logging.read, false);
});

const retention = {
  code: 'InvalidXmlDocument',
  details: { Reason: 'Retention days must be greater than 0 and less than or equal to 365 days.' },
};
const document = { code: 'InvalidXmlDocument' };
const nodeValue = { code: 'InvalidXmlNodeValue' };
const long = (length: number) => 'x'.repeat(length);
const enabled = { ...hourMetrics, enabled: true, includeApis: true };

const allowed: [string, Partial<ServiceSettings>][] = [
  ['a day', { deleteRetention: { ...deleteRetention, days: 1 } }],
  ['a year', { deleteRetention: { ...deleteRetention, days: 365 } }],
  ['logs kept for a week', { logging: { ...logging, retentionDays: 7 } }],
  ['metrics with their calls', { hourMetrics: { ...enabled, retentionDays: 5 } }],
  ['metrics without their calls', { minuteMetrics: { ...enabled, includeApis: false } }],
  ['a version', { defaultServiceVersion: '2019-12-12' }],
  ['the first version', { defaultServiceVersion: '2008-10-27' }],
  ['a web site', { staticWebsite: { ...staticWebsite, enabled: true, indexDocument: 'index.html' } }],
  ['a web site of one page', { staticWebsite: { ...staticWebsite, defaultIndexDocumentPath: 'a/b.html' } }],
  [
    'an error page of 1024 characters',
    { staticWebsite: { ...staticWebsite, errorDocument404Path: long(1024) } },
  ],
  ['no CORS rules', { cors: [] }],
];

for (const [name, change] of allowed) {
  test(`service properties allow ${name}`, () => {
    const changed = changeServiceSettings('blob', defaultServiceSettings, change);
    assert.deepEqual(changed, { ...defaultServiceSettings, ...change });
  });
}

const refused: [string, object, Partial<ServiceSettings>][] = [
  ['no days', retention, { deleteRetention: { ...deleteRetention, days: 0 } }],
  ['366 days', retention, { deleteRetention: { ...deleteRetention, days: 366 } }],
  ['half a day', retention, { deleteRetention: { ...deleteRetention, days: 0.5 } }],
  ['366 days of logs', retention, { logging: { ...logging, retentionDays: 366 } }],
  ['366 days of metrics', retention, { hourMetrics: { ...enabled, retentionDays: 366 } }],
  ['logging of version 3', nodeValue, { logging: { ...logging, version: '3.0' } }],
  ['metrics of version 2', nodeValue, { minuteMetrics: { ...hourMetrics, version: '2.0' } }],
  ['metrics that leave calls open', document, { hourMetrics: { ...enabled, includeApis: undefined } }],
  ['calls of no metrics', document, { hourMetrics: { ...hourMetrics, includeApis: true } }],
  ['a version that is none', nodeValue, { defaultServiceVersion: 'newest' }],
  ['a date that is no version', nodeValue, { defaultServiceVersion: '2019-12-13' }],
  ['a version to come', nodeValue, { defaultServiceVersion: '2099-01-01' }],
  ['an index in a folder', nodeValue, { staticWebsite: { ...staticWebsite, indexDocument: 'a/b' } }],
  [
    'an error page of 1025 characters',
    nodeValue,
    { staticWebsite: { ...staticWebsite, errorDocument404Path: long(1025) } },
  ],
  ['an index without a name', nodeValue, { staticWebsite: { ...staticWebsite, indexDocument: '' } }],
  [
    'an error page without a name',
    nodeValue,
    { staticWebsite: { ...staticWebsite, errorDocument404Path: '' } },
  ],
  [
    'two index documents',
    document,
    { staticWebsite: { ...staticWebsite, indexDocument: 'a', defaultIndexDocumentPath: 'b' } },
  ],
];

for (const [name, wanted, change] of refused) {
  test(`service properties refuse ${name}`, () => {
    assert.throws(() => changeServiceSettings('blob', defaultServiceSettings, change), wanted);
  });
}

test('SMB offers what it knows', () => {
  const change = (part: Partial<typeof smb>) => () =>
    changeServiceSettings('file', defaultServiceSettings, { smb: { ...smb, ...part } });
  change({
    versions: ['SMB2.1', 'SMB3.0', 'SMB3.1.1'],
    authenticationMethods: ['NTLMv2', 'Kerberos'],
    kerberosTicketEncryption: ['RC4-HMAC', 'AES-256'],
    channelEncryption: ['AES-128-CCM', 'AES-128-GCM', 'AES-256-GCM'],
  })();
  assert.throws(change({ versions: ['SMB1'] }), {
    details: { XmlNodeName: 'Versions', XmlNodeValue: 'SMB1' },
  });
  assert.throws(change({ channelEncryption: ['none'] }), nodeValue);
});
