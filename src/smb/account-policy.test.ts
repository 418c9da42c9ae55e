import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { isAllowed, openPolicy } from './account-policy.js';
import type { CipherName, Dialect } from './crypto/keys.js';

const cases = `
  versions          methods    ciphers                    encrypts  dialect  cipher       allowed
  -                 -          -                          no        0202     -            yes
  -                 -          -                          no        0311     AES-128-GCM  yes
  SMB2.1            -          -                          no        0210     -            yes
  SMB2.1            -          -                          no        0202     -            no
  SMB2.1            -          -                          no        0300     -            no
  SMB3.0,SMB3.1.1   -          -                          no        0302     AES-128-CCM  yes
  SMB3.0,SMB3.1.1   -          -                          no        0311     AES-256-GCM  yes
  SMB3.0,SMB3.1.1   -          -                          no        0210     -            no
  -                 NTLMv2     -                          no        0311     AES-128-GCM  yes
  -                 Kerberos   -                          no        0311     AES-128-GCM  no
  -                 -          AES-256-GCM                no        0311     AES-256-GCM  yes
  -                 -          AES-256-GCM                no        0311     AES-128-GCM  no
  -                 -          AES-256-GCM,AES-128-GCM    no        0311     AES-128-GCM  yes
  -                 -          AES-256-GCM                no        0210     -            yes
  -                 -          -                          yes       0210     -            no
  -                 -          -                          yes       0300     AES-128-CCM  yes
`;

const list = (text = '-') => (text === '-' ? [] : text.split(','));

for (const { versions, methods, ciphers, encrypts, dialect = '', cipher, allowed } of rows(cases)) {
  test(`${versions} ${methods} ${ciphers} ${encrypts}: ${dialect} with ${cipher}: ${allowed}`, () => {
    const policy = {
      ...openPolicy,
      ...{ versions: list(versions), authenticationMethods: list(methods), channelEncryption: list(ciphers) },
      encryptionInTransitRequired: encrypts === 'yes',
    };
    const agreed = {
      dialect: Number.parseInt(dialect, 16) as Dialect,
      cipher: cipher === '-' ? undefined : (cipher as CipherName),
    };
    assert.equal(isAllowed(policy, agreed), allowed === 'yes');
  });
}
