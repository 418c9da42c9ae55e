import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { readAddress } from './address.js';

const accounts = ['acct', 'devstoreaccount1', '127'];

// `127` is a lawful account name, and no part of an IP address.
const addresses = `
  host                                url                          style   account            secondary   resource
  127.0.0.1:10000                     /acct/c/b                    path    acct               no          /c/b
  127.0.0.1:10000                     /acct                        path    acct               no          -
  127.0.0.1:10000                     /acct/                       path    acct               no          /
  127.0.0.1:10000                     /acct?comp=list              path    acct               no          -
  localhost:10000                     /devstoreaccount1/c          path    devstoreaccount1   no          /c
  azurite:10000                       /acct/c                      path    acct               no          /c
  acct:10000                          /acct/c                      path    acct               no          /c
  host.docker.internal:10000          /acct/c                      path    acct               no          /c
  storage.svc.cluster.local           /acct/c                      path    acct               no          /c
  [::1]:10000                         /acct/c                      path    acct               no          /c
  [::ffff:127.0.0.1]:10000            /acct/c                      path    acct               no          /c
  127.0.0.1                           /127/c                       path    127                no          /c
  acct.blob.localhost:10000           /c/b                         host    acct               no          /c/b
  ACCT.blob.localhost                 /                            host    acct               no          /
  127.blob.localhost                  /c                           host    127                no          /c
  acct-secondary.blob.localhost       /c/b                         host    acct               yes         /c/b
  127.0.0.1:10000                     /acct-secondary/c/b          path    acct               yes         /c/b
  acct.blob.core.windows.net          /acct/c                      host    acct               no          /acct/c
  acct.blob.localhost                 //c//b                       host    acct               no          //c//b
  ignored                             http://acct.blob.localhost/c?x=1   host   acct          no          /c
  ignored                             http://localhost:1/acct/c    path    acct               no          /c
  127.0.0.1                           /acct/%2e%2e/./b             path    acct               no          /%2e%2e/./b
  127.0.0.1                           /unknown/c                   ResourceNotFound            -   -      -
  unknown.blob.localhost              /c/b                         ResourceNotFound            -   -      -
  127.0.0.1                           /                            ResourceNotFound            -   -      -
  127.0.0.1                           /acct/grüße                  InvalidUri                  -   -      -
  127.0.0.1                           *                            InvalidUri                  -   -      -
  127.0.0.1                           ftp://acct/c                 InvalidUri                  -   -      -
`;

const options = {
  account: (name: string) => (accounts.includes(name) ? {} : undefined),
  pathStyleOnly: false,
};

for (const row of rows(addresses)) {
  test(`${row.host} ${row.url} is ${row.style} ${row.account} ${row.resource}`, () => {
    const read = () => readAddress(row.url ?? '', row.host, options);
    if (row.style !== 'path' && row.style !== 'host') assert.throws(read, { code: row.style });
    else {
      const address = read();
      assert.equal(address.style, row.style);
      assert.equal(address.account, row.account);
      assert.equal(address.secondary, row.secondary === 'yes');
      assert.equal(address.resourcePath, row.resource === '-' ? '' : row.resource);
    }
  });
}

test('the raw path keeps the account and the query stays as it was sent', () => {
  const address = readAddress('/acct/c%20d?a=%41&b', 'localhost', options);
  assert.equal(address.rawPath, '/acct/c%20d');
  assert.equal(address.rawQuery, 'a=%41&b');
});

test('without a host there is no address', () => {
  assert.throws(() => readAddress('/acct/c', undefined, options), { code: 'HostInformationNotPresent' });
  assert.throws(() => readAddress('/acct/c', '', options), { code: 'HostInformationNotPresent' });
});

test('path-style alone where the host must not name the account', () => {
  const address = readAddress('/acct/c', 'acct.blob.localhost', { ...options, pathStyleOnly: true });
  assert.equal(address.style, 'path');
  assert.equal(address.resourcePath, '/c');
});
