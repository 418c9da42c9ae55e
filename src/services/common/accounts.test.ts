import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import {
  AccountError,
  changeSettings,
  createAccount,
  defaultSettings,
  developmentAccount,
  hasPublishedKey,
  keyBytes,
  newKey,
  parseAzuriteAccounts,
} from './accounts.js';

const k1 = Buffer.alloc(64, 1).toString('base64');
const k2 = Buffer.alloc(64, 2).toString('base64');

test('an account allows what an emulator allows', () => {
  assert.deepEqual(developmentAccount.settings, {
    kind: 'StorageV2',
    sku: 'Standard_RAGRS',
    versioning: false,
    versionLevelImmutability: false,
    containerRetentionDays: 0,
    lastAccessTime: false,
    publicAccess: true,
    secondary: true,
    deletePendingErrorCode: 'SMBDeletePending',
    notifySmbOnRest: false,
    nameHeldMs: 30_000,
  });
});

test('the development account has its published key', () => {
  assert.equal(developmentAccount.name, 'devstoreaccount1');
  assert.equal(keyBytes(developmentAccount)[0]?.length, 64);
  assert.ok(hasPublishedKey(developmentAccount));
  assert.ok(!hasPublishedKey(createAccount('other', [k1, k2])));
});

test('a published key is noticed as the second key too', () => {
  assert.ok(hasPublishedKey(createAccount('other', [k1, developmentAccount.keys[0]])));
});

const variables = `
  text                      gives
  abc:K1:K2                 abc 2
  abc:K1                    abc 1
  abc:K1:                   abc 1
  abc:K1:K2;                abc 2
  ; abc:K1:K2 ; def:K1 ;    abc 2, def 1
  abc:K1;abc:K2             AZURITE_ACCOUNTS names an account twice
  abc                       AZURITE_ACCOUNTS: account abc must be written name:key1 or name:key1:key2
  abc:                      AZURITE_ACCOUNTS: account abc must be written name:key1 or name:key1:key2
  abc:K1:K2:K1              AZURITE_ACCOUNTS: account abc must be written name:key1 or name:key1:key2
  ab:K1                     an account name is 3 to 24 lower-case letters and digits, not ab
  ABC:K1                    an account name is 3 to 24 lower-case letters and digits, not ABC
  abc:not base64            a key of account abc is not Base64
  abc:K1:?                  a key of account abc is not Base64
  ;                         AZURITE_ACCOUNTS names no account: name:key1:key2;...
`;

for (const { text = '', gives } of rows(variables)) {
  test(`AZURITE_ACCOUNTS ${text} gives ${gives}`, () => {
    const shown = () =>
      parseAzuriteAccounts(text.replaceAll('K1', k1).replaceAll('K2', k2))
        .map(({ name, keys }) => `${name} ${keys.length}`)
        .join(', ');
    try {
      assert.equal(shown(), gives);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      assert.equal(error.message, gives);
      assert.ok(!error.message.includes(k1), 'a key is not shown');
    }
  });
}

const settings = `
  name                       text         gives
  versioning                 true         true
  versioning                 FALSE        false
  versioning                 yes          versioning must be true or false, not yes
  containerRetentionDays     7            7
  containerRetentionDays     0            0
  containerRetentionDays     365          365
  containerRetentionDays     366          containerRetentionDays must be a number of days from 0 to 365, not 366
  containerRetentionDays     -1           containerRetentionDays must be a number of days from 0 to 365, not -1
  lastAccessTime             true         true
  lastAccessTime             daily        lastAccessTime must be true or false, not daily
  kind                       blobstorage  BlobStorage
  publicAccess               false        false
  secondary                  false        false
  deletePendingErrorCode     deletepending  DeletePending
  deletePendingErrorCode     Gone         deletePendingErrorCode must be one of SMBDeletePending, DeletePending, not Gone
  notifySmbOnRest            true         true
  nameHeldMs                 0            0
  nameHeldMs                 3600001      nameHeldMs must be a number of milliseconds from 0 to 3600000, not 3600001
  versionLevelImmutability   true         versionLevelImmutability needs versioning: set both
`;

for (const { name = '', text = '', gives } of rows(settings)) {
  test(`setting ${name} to ${text} gives ${gives}`, () => {
    const change = () => String(changeSettings(defaultSettings, [[name, text]])[name as 'kind']);
    try {
      assert.equal(change(), gives);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      assert.equal(error.message, gives);
    }
  });
}

test('what one setting needs can be set with it', () => {
  const changed = changeSettings(defaultSettings, [
    ['versionLevelImmutability', 'true'],
    ['versioning', 'true'],
  ]);
  assert.deepEqual(changed, { ...defaultSettings, versioning: true, versionLevelImmutability: true });
  assert.throws(() => changeSettings(changed, [['versioning', 'false']]), AccountError);
});

test('an unknown setting is told with those there are', () => {
  for (const name of ['colour', '__proto__', 'toString']) {
    assert.throws(
      () => changeSettings(defaultSettings, [[name, 'x']]),
      /there is no setting .*; there are kind,/,
    );
  }
});

test('a new key is 64 bytes from the source given', () => {
  assert.equal(
    newKey((count) => new Uint8Array(count).fill(1)),
    k1,
  );
});
