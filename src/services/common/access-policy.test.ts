import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import { type AccessPolicy, checkPolicies, checkTellable, type PolicyOwner } from './access-policy.js';
import { StorageError } from './errors.js';

function policy(id: string, fields: Partial<AccessPolicy> = {}): AccessPolicy {
  return { id, start: undefined, expiry: undefined, permission: undefined, ...fields };
}

test('times are stored as they are told, what is empty is left to the SAS', () => {
  const given = policy('p', { start: '2009-09-28', expiry: '2009-09-29T10:00:00.5+02:00', permission: '' });
  assert.deepEqual(checkPolicies([given], 'container'), [
    policy('p', { start: '2009-09-28T00:00:00.0000000Z', expiry: '2009-09-29T08:00:00.5000000Z' }),
  ]);
});

test('five policies at most, each with an id of its own', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => policy(`p${i}`));
  assert.equal(checkPolicies(many(5), 'queue').length, 5);
  assert.deepEqual(checkPolicies([], 'queue'), []);
  assert.throws(() => checkPolicies(many(6), 'queue'), { code: 'InvalidXmlDocument' });
  assert.throws(() => checkPolicies([policy('p'), policy('p')], 'queue'), { code: 'InvalidXmlDocument' });
});

test('an id has 1 to 64 characters', () => {
  checkPolicies([policy('x'.repeat(64))], 'table');
  assert.throws(() => checkPolicies([policy('x'.repeat(65))], 'table'), { code: 'InvalidXmlDocument' });
  assert.throws(() => checkPolicies([policy('')], 'table'), { code: 'InvalidXmlDocument' });
});

test('a time that is none is named', () => {
  assert.throws(() => checkPolicies([policy('p', { expiry: 'soon' })], 'share'), {
    code: 'InvalidXmlNodeValue',
    details: { XmlNodeName: 'Expiry', XmlNodeValue: 'soon' },
  });
});

const permissions = `
  owner       letters           verdict
  container   racwdxyltfmeopi   ok
  container   rl                ok
  container   u                 InvalidXmlNodeValue
  container   rr                InvalidXmlNodeValue
  container   R                 InvalidXmlNodeValue
  queue       raup              ok
  queue       puar              ok
  queue       d                 InvalidXmlNodeValue
  table       raud              ok
  table       p                 InvalidXmlNodeValue
  share       rcwdl             ok
  share       a                 InvalidXmlNodeValue
`;

for (const { owner, letters, verdict } of rows(permissions)) {
  test(`permission ${letters} of a ${owner} is ${verdict}`, () => {
    const check = () => checkPolicies([policy('p', { permission: letters })], owner as PolicyOwner);
    if (verdict === 'ok') assert.equal(check()[0]?.permission, letters);
    else assert.throws(check, { code: verdict });
  });
}

test('an old client is not told of what it does not know', () => {
  const create = [policy('p', { permission: 'rc' })];
  checkTellable(create, '2015-04-05');
  checkTellable([policy('p', { permission: 'rwdl' }), policy('q')], '2012-02-12');
  assert.throws(() => checkTellable(create, '2015-02-21'), StorageError);
  assert.throws(() => checkTellable(create, '2015-02-21'), { code: 'FeatureVersionMismatch' });
});
