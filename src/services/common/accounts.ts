// Accounts: a name, one or two keys, and what Azure keeps in its management plane.
//
// Either key is valid. Settings are changed by name and text (`lazuli account set`, lazuli.json), so each has a
// row that knows how to read it. What is wrong here was written by the operator of the server, not by a
// client: it is an AccountError, whose message says what to write instead.

import { nameRules } from './names.js';

export type Account = Readonly<{
  name: string;
  /** Base64, as clients have it in their connection strings. */
  keys: readonly [key: string, second?: string];
  settings: AccountSettings;
}>;

export type AccountSettings = Readonly<{
  /** Both are only told to a client, by Get Account Information. */
  kind: string;
  sku: string;
  /** Keep earlier versions of blobs. */
  versioning: boolean;
  /** Blobs may have retention policies and legal holds; needs versioning. */
  versionLevelImmutability: boolean;
  /** Days that deleted containers can be restored; 0: not at all. */
  containerRetentionDays: number;
  /** Keep the time a blob was last read, to the day. */
  lastAccessTime: boolean;
  /** Containers may be opened to anybody. */
  publicAccess: boolean;
  /** The secondary endpoint answers reads. */
  secondary: boolean;
  /** What REST says of a file that an SMB client has marked for deletion: SDKs know `DeletePending` alone. */
  deletePendingErrorCode: 'SMBDeletePending' | 'DeletePending';
  /** SMB clients that watch a directory are told of changes over REST; Azure does not. */
  notifySmbOnRest: boolean;
  /** Milliseconds in which the name of a deleted share cannot be used. */
  nameHeldMs: number;
}>;

export class AccountError extends Error {
  override readonly name = 'AccountError';
}

export const defaultSettings: AccountSettings = {
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
};

type Reader<Value> = { wanted: string; read: (text: string) => Value | undefined };

const flag: Reader<boolean> = {
  wanted: 'true or false',
  read: (text) => ({ true: true, false: false })[text.toLowerCase()],
};

function oneOf<Value extends string>(...values: readonly Value[]): Reader<Value> {
  return {
    wanted: `one of ${values.join(', ')}`,
    read: (text) => values.find((value) => value.toLowerCase() === text.toLowerCase()),
  };
}

const days: Reader<number> = {
  wanted: 'a number of days from 0 to 365',
  read: (text) => (/^\d{1,3}$/.test(text) && Number(text) <= 365 ? Number(text) : undefined),
};

const readers = {
  kind: oneOf('StorageV2', 'Storage', 'BlobStorage', 'BlockBlobStorage', 'FileStorage'),
  sku: oneOf(
    'Standard_LRS',
    'Standard_GRS',
    'Standard_RAGRS',
    'Standard_ZRS',
    'Standard_GZRS',
    'Standard_RAGZRS',
    'Premium_LRS',
    'Premium_ZRS',
  ),
  versioning: flag,
  versionLevelImmutability: flag,
  containerRetentionDays: days,
  lastAccessTime: flag,
  publicAccess: flag,
  secondary: flag,
  deletePendingErrorCode: oneOf('SMBDeletePending', 'DeletePending'),
  notifySmbOnRest: flag,
  nameHeldMs: {
    wanted: 'a number of milliseconds from 0 to 3600000',
    read: (text) => (/^\d{1,7}$/.test(text) && Number(text) <= 3_600_000 ? Number(text) : undefined),
  },
} as const satisfies { [Name in keyof AccountSettings]: Reader<AccountSettings[Name]> };

/** The settings with those named changed, all at once or none. */
export function changeSettings(
  settings: AccountSettings,
  changes: readonly (readonly [name: string, text: string])[],
): AccountSettings {
  const changed: Record<string, unknown> = { ...settings };
  for (const [name, text] of changes) changed[settingName(name)] = readSetting(settingName(name), text);
  const result = changed as AccountSettings; // every value came from the reader of its name
  if (result.versionLevelImmutability && !result.versioning) {
    throw new AccountError('versionLevelImmutability needs versioning: set both');
  }
  return result;
}

function settingName(name: string): keyof AccountSettings {
  const names = Object.keys(readers) as (keyof AccountSettings)[];
  const found = names.find((known) => known === name);
  if (!found) throw new AccountError(`there is no setting ${name}; there are ${names.join(', ')}`);
  return found;
}

function readSetting(name: keyof AccountSettings, text: string): boolean | number | string {
  const { wanted, read } = readers[name];
  const value = read(text);
  if (value === undefined) throw new AccountError(`${name} must be ${wanted}, not ${text}`);
  return value;
}

export function createAccount(
  name: string,
  keys: readonly [key: string, second?: string | undefined],
  settings: AccountSettings = defaultSettings,
): Account {
  if (nameRules.account(name)) {
    throw new AccountError(`an account name is 3 to 24 lower-case letters and digits, not ${name}`);
  }
  const [key, second] = keys;
  for (const one of [key, second]) {
    // A key is a secret: the message does not show it.
    if (one !== undefined && !isKey(one)) throw new AccountError(`a key of account ${name} is not Base64`);
  }
  return { name, keys: second === undefined ? [key] : [key, second], settings };
}

function isKey(text: string): boolean {
  return text !== '' && Buffer.from(text, 'base64').toString('base64') === text;
}

/** 64 random bytes, as Azure's keys are. */
export function newKey(randomBytes: (count: number) => Uint8Array): string {
  return Buffer.from(randomBytes(64)).toString('base64');
}

/** The keys as signing needs them. */
export function keyBytes(account: Account): readonly Buffer[] {
  return account.keys.flatMap((key) => (key === undefined ? [] : [Buffer.from(key, 'base64')]));
}

/** The account every emulator has, with the key that is printed in its documentation. */
export const developmentAccount: Account = createAccount('devstoreaccount1', [
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
]);

/** Everybody knows this key: it protects nothing. */
export function hasPublishedKey(account: Account): boolean {
  return account.keys.includes(developmentAccount.keys[0]);
}

/** AZURITE_ACCOUNTS: `name:key1:key2;name:key1`, the second key optional. Replaces the development account. */
export function parseAzuriteAccounts(text: string): Account[] {
  const entries = text.split(';').map((entry) => entry.trim());
  const accounts = entries.filter((entry) => entry !== '').map(parseEntry);
  if (accounts.length === 0) throw new AccountError('AZURITE_ACCOUNTS names no account: name:key1:key2;...');
  const names = new Set(accounts.map(({ name }) => name));
  if (names.size < accounts.length) throw new AccountError('AZURITE_ACCOUNTS names an account twice');
  return accounts;
}

function parseEntry(entry: string): Account {
  const [name = '', key = '', second, ...rest] = entry.split(':');
  if (key === '' || rest.length > 0) {
    throw new AccountError(`AZURITE_ACCOUNTS: account ${name} must be written name:key1 or name:key1:key2`);
  }
  return createAccount(name, [key, second === '' ? undefined : second]);
}
