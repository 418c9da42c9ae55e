// What an account has set of SMB (Set File Service Properties): which versions, which ciphers, whether all is encrypted. It
// is known only when a client has said who it is, after versions and ciphers were agreed on: one that does not fit is
// refused then.

import type { CipherName, Dialect } from './crypto/keys.js';

/** Each list empty: whatever the server has. */
export interface AccountPolicy {
  readonly versions: readonly string[];
  readonly authenticationMethods: readonly string[];
  readonly channelEncryption: readonly string[];
  readonly encryptionInTransitRequired: boolean;
}

export const openPolicy: AccountPolicy = {
  versions: [],
  authenticationMethods: [],
  channelEncryption: [],
  encryptionInTransitRequired: false,
};

/** As Azure calls them; the oldest one it does not have. */
const versionNames: Readonly<Record<Dialect, string>> = {
  514: 'SMB2.0.2',
  528: 'SMB2.1',
  768: 'SMB3.0',
  770: 'SMB3.0',
  785: 'SMB3.1.1',
};

export function isAllowed(
  policy: AccountPolicy,
  { dialect, cipher }: { readonly dialect: Dialect; readonly cipher: CipherName | undefined },
): boolean {
  const allows = (list: readonly string[], name: string) => list.length === 0 || list.includes(name);
  if (!allows(policy.versions, versionNames[dialect])) return false;
  if (!allows(policy.authenticationMethods, 'NTLMv2')) return false;
  return cipher === undefined
    ? !policy.encryptionInTransitRequired
    : allows(policy.channelEncryption, cipher);
}
