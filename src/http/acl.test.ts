import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAcl, writeAcl } from './acl.js';
import { callOf } from './auth/calls.suite.js';

const read = (body: string) =>
  readAcl(callOf('blob', 'PUT /devstoreaccount1/c?restype=container&comp=acl', { body }), 'container');
const policy = (id: string, terms = '') =>
  `<SignedIdentifier><Id>${id}</Id><AccessPolicy>${terms}</AccessPolicy></SignedIdentifier>`;
const list = (...policies: string[]) => `<SignedIdentifiers>${policies.join('')}</SignedIdentifiers>`;

test('policies are stored with times as they are told, and told again', async () => {
  const terms = '<Start>2011-10-11</Start><Expiry>2012-01-01T10:00:00Z</Expiry><Permission>rl</Permission>';
  const policies = await read(list(policy('a', terms), policy('b', '<Start /><Permission />')));
  assert.deepEqual(policies, [
    {
      id: 'a',
      start: '2011-10-11T00:00:00.0000000Z',
      expiry: '2012-01-01T10:00:00.0000000Z',
      permission: 'rl',
    },
    { id: 'b', start: undefined, expiry: undefined, permission: undefined },
  ]);
  assert.equal(
    writeAcl(policies, '2021-12-02'),
    '<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Start>2011-10-11T00:00:00.0000000Z</Start><Expiry>2012-01-01T10:00:00.0000000Z</Expiry><Permission>rl</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>b</Id><AccessPolicy /></SignedIdentifier></SignedIdentifiers>',
  );
});

test('no body and an empty list remove all', async () => {
  assert.deepEqual(await read(''), []);
  assert.deepEqual(await read('<SignedIdentifiers />'), []);
  assert.equal(writeAcl([], '2021-12-02'), '<SignedIdentifiers />');
});

test('an identifier without a policy leaves all to the SAS', async () => {
  const [only] = await read(list('<SignedIdentifier><Id>a</Id></SignedIdentifier>'));
  assert.deepEqual(only, { id: 'a', start: undefined, expiry: undefined, permission: undefined });
});

const refused: [name: string, body: string, code: string][] = [
  ['six policies', list(...[1, 2, 3, 4, 5, 6].map((n) => policy(`${n}`))), 'InvalidXmlDocument'],
  ['another root', '<Identifiers />', 'InvalidXmlDocument'],
  ['another child', list('<Identifier />'), 'InvalidXmlDocument'],
  ['no id', list('<SignedIdentifier />'), 'MissingRequiredXmlNode'],
  ['an unknown term', list(policy('a', '<End />')), 'UnsupportedXmlNode'],
  ['a time that is none', list(policy('a', '<Start>soon</Start>')), 'InvalidXmlNodeValue'],
  ['half a document', '<SignedIdentifiers>', 'InvalidXmlDocument'],
];

for (const [name, body, code] of refused) {
  test(`${name}: ${code}`, async () => {
    await assert.rejects(read(body), { code });
  });
}

test('a version that does not know a permission is told so', () => {
  const stored = [{ id: 'a', start: undefined, expiry: undefined, permission: 'c' }];
  assert.throws(() => writeAcl(stored, '2015-02-21'), { code: 'FeatureVersionMismatch' });
});
