// SAS tokens that the published SDKs make, verified by our code: every kind, in every version they know.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AzureNamedKeyCredential, generateAccountSas, generateTableSas } from '@azure/data-tables';
import * as blob from '@azure/storage-blob';
import * as file from '@azure/storage-file-share';
import * as queue from '@azure/storage-queue';
import azure from 'azure-storage';
import { account, callOf, key, now } from '#src/http/auth/calls.suite.js';
import { SasVerifier, type VerifiedSas } from '#src/http/auth/sas.js';
import type { Identity } from '#src/http/auth/types.js';
import { issueUserDelegationKey } from '#src/http/auth/user-delegation-key.js';
import type { ServiceName } from '#src/http/call.js';
import { knownVersions } from '#src/services/common/versions.js';

const secret = key.toString('base64');
const startsOn = new Date(now - 60_000);
const expiresOn = new Date(now + 3_600_000);
const delegationSecret = Buffer.alloc(32, 3);
const verifier = new SasVerifier();

function verify(
  service: ServiceName,
  path: string,
  token: string,
  headers: Record<string, string> = {},
): VerifiedSas {
  const call = callOf(service, `GET /${account}${path}${path.includes('?') ? '&' : '?'}${token}`, {
    headers,
  });
  return verifier.verify(call, { account: [key], delegation: delegationSecret });
}

/** A letter more than was signed. */
function widened(token: string): string {
  assert.match(token, /\bsp=/);
  return token.replace(/\bsp=/, 'sp=w').replace(/\bsp=w(\w*)w/, 'sp=$1');
}

function acceptsOnlyAsSigned(
  service: ServiceName,
  path: string,
  token: string,
  headers?: Record<string, string>,
) {
  const sas = verify(service, path, token, headers);
  assert.throws(() => verify(service, path, widened(token), headers), { code: 'AuthenticationFailed' });
  return sas;
}

const since = (version: string) => knownVersions.filter((known) => known >= version);
const ipRange = { start: '10.0.0.1', end: '10.0.0.9' };
const overrides = {
  cacheControl: 'no-cache',
  contentDisposition: 'attachment; filename="ä b.txt"',
  contentEncoding: 'gzip',
  contentLanguage: 'de',
  contentType: 'text/plain; charset=utf-8',
};
const encoded = (name: string) => name.split('/').map(encodeURIComponent).join('/');
const blobNames = ['a.txt', 'dir/ä b+c%25&=.txt', "it's/(1)/#?.txt"];

const blobKey = new blob.StorageSharedKeyCredential(account, secret);

for (const version of since('2015-04-05')) {
  test(`account SAS of ${version}`, () => {
    const values = {
      services: 'bqtf',
      resourceTypes: 'sco',
      permissions: blob.AccountSASPermissions.parse('rl'),
      startsOn,
      expiresOn,
      version,
      ipRange,
      protocol: blob.SASProtocol.HttpsAndHttp,
      ...(version >= '2020-12-06' ? { encryptionScope: 'scope' } : {}),
    };
    const token = blob.generateAccountSASQueryParameters(values, blobKey).toString();
    for (const service of ['blob', 'queue', 'table', 'file'] as const) {
      const { token: read } = acceptsOnlyAsSigned(service, '/?comp=list', token);
      assert.equal(read.permissions, 'rl');
      assert.equal(read.start, startsOn.getTime());
      assert.equal(read.expiry, expiresOn.getTime());
      assert.equal(read.encryptionScope, version >= '2020-12-06' ? 'scope' : undefined);
    }
  });

  test(`service SAS of a container and of blobs of ${version}`, () => {
    const values = { containerName: 'c', startsOn, expiresOn, version, ipRange, ...overrides };
    const permissions = blob.ContainerSASPermissions.parse('racdl');
    const token = blob.generateBlobSASQueryParameters({ ...values, permissions }, blobKey).toString();
    acceptsOnlyAsSigned('blob', '/c?restype=container&comp=list', token);
    for (const blobName of blobNames) {
      acceptsOnlyAsSigned('blob', `/c/${encoded(blobName)}`, token);
      const own = { ...values, blobName, permissions: blob.BlobSASPermissions.parse('r') };
      const ofBlob = blob.generateBlobSASQueryParameters(own, blobKey).toString();
      const { token: read } = acceptsOnlyAsSigned('blob', `/c/${encoded(blobName)}`, ofBlob);
      assert.deepEqual(read.overrides.slice(0, 2), ['Cache-Control', 'no-cache']);
      assert.throws(() => verify('blob', '/c/other', ofBlob), { code: 'AuthenticationFailed' });
      assert.throws(() => verify('blob', '/c?restype=container', ofBlob), { code: 'AuthenticationFailed' });
    }
  });

  test(`service SAS of a queue, a share, a file and a table of ${version}`, () => {
    const queueKey = new queue.StorageSharedKeyCredential(account, secret);
    const ofQueue = queue
      .generateQueueSASQueryParameters(
        {
          queueName: 'q',
          permissions: queue.QueueSASPermissions.parse('rap'),
          startsOn,
          expiresOn,
          version,
          ipRange,
        },
        queueKey,
      )
      .toString();
    verify('queue', '/q', ofQueue);
    verify('queue', '/q/messages/id', ofQueue);
    assert.throws(() => verify('queue', '/other', ofQueue), { code: 'AuthenticationFailed' });

    const fileKey = new file.StorageSharedKeyCredential(account, secret);
    const shared = { shareName: 's', startsOn, expiresOn, version, ...overrides };
    const ofShare = file.generateFileSASQueryParameters(
      { ...shared, permissions: file.ShareSASPermissions.parse('rcdl') },
      fileKey,
    );
    acceptsOnlyAsSigned('file', '/s/dir/a.txt', ofShare.toString());
    const ofFile = file.generateFileSASQueryParameters(
      { ...shared, filePath: 'dir ä/a.txt', permissions: file.FileSASPermissions.parse('rd') },
      fileKey,
    );
    acceptsOnlyAsSigned('file', `/s/${encoded('dir ä/a.txt')}`, ofFile.toString());
    assert.throws(() => verify('file', '/s/dir/b.txt', ofFile.toString()), { code: 'AuthenticationFailed' });

    const keys = { startPartitionKey: 'a', startRowKey: 'b', endPartitionKey: 'ü &', endRowKey: 'd' };
    const ofTable = generateTableSas('MyTable', new AzureNamedKeyCredential(account, secret), {
      permissions: { query: true, add: true },
      startsOn,
      expiresOn,
      version,
      ...keys,
    });
    const { token: read } = verify('table', "/mytable(PartitionKey='a',RowKey='b')", ofTable);
    assert.deepEqual(read.keys, { startPartition: 'a', startRow: 'b', endPartition: 'ü &', endRow: 'd' });
    assert.throws(() => verify('table', '/other', ofTable), { code: 'AuthenticationFailed' });
  });
}

test('account SAS of @azure/data-tables', () => {
  const token = generateAccountSas(new AzureNamedKeyCredential(account, secret), {
    permissions: { query: true, add: true },
    expiresOn,
  });
  verify('table', '/mytable', token);
});

for (const version of since('2018-11-09')) {
  test(`SAS of a snapshot and of a version of ${version}`, () => {
    const time = '2025-01-01T00:00:00.1234567Z';
    const values = {
      containerName: 'c',
      blobName: 'b',
      expiresOn,
      version,
      permissions: blob.BlobSASPermissions.parse('r'),
    };
    const ofSnapshot = blob
      .generateBlobSASQueryParameters({ ...values, snapshotTime: time }, blobKey)
      .toString();
    acceptsOnlyAsSigned('blob', `/c/b?snapshot=${time}`, ofSnapshot);
    for (const other of ['/c/b', '/c/b?snapshot=2025-01-02T00:00:00.1234567Z', `/c/b?versionid=${time}`]) {
      assert.throws(() => verify('blob', other, ofSnapshot), { code: 'AuthenticationFailed' });
    }
    if (version < '2019-10-10') return;
    const ofVersion = blob.generateBlobSASQueryParameters({ ...values, versionId: time }, blobKey).toString();
    acceptsOnlyAsSigned('blob', `/c/b?versionid=${time}`, ofVersion);
    assert.throws(() => verify('blob', '/c/b', ofVersion), { code: 'AuthenticationFailed' });
  });
}

for (const version of since('2020-02-10')) {
  test(`SAS of a directory of ${version}`, () => {
    const values = { containerName: 'c', blobName: 'a/ä b', isDirectory: true, expiresOn, version };
    const token = blob
      .generateBlobSASQueryParameters({ ...values, permissions: blob.BlobSASPermissions.parse('r') }, blobKey)
      .toString();
    assert.match(token, /sdd=2/);
    for (const inside of ['a/ä b', 'a/ä b/c', 'a/ä b/c/d/e']) {
      acceptsOnlyAsSigned('blob', `/c/${encoded(inside)}`, token);
    }
    for (const outside of ['a', 'a/b', 'a/ä b2/c', 'x/a/ä b/c']) {
      assert.throws(() => verify('blob', `/c/${encoded(outside)}`, token), { code: 'AuthenticationFailed' });
    }
  });
}

// User delegation

const owner: Identity = { kind: 'bearer', objectId: 'oid-1', tenantId: 'tid-1', role: 'contributor' };

function delegationKey(service: ServiceName, version: string) {
  const issued = issueUserDelegationKey(
    delegationSecret,
    owner,
    { account, service, version, start: startsOn.toISOString(), expiry: expiresOn.toISOString() },
    now,
  );
  return {
    signedObjectId: issued.objectId,
    signedTenantId: issued.tenantId,
    signedStartsOn: new Date(issued.start),
    signedExpiresOn: new Date(issued.expiry),
    signedService: issued.service,
    signedVersion: issued.version,
    value: issued.value,
  };
}

for (const version of since('2018-11-09')) {
  test(`user delegation SAS of a container and of blobs of ${version}`, () => {
    const userKey = delegationKey('blob', version);
    const values = { containerName: 'c', startsOn, expiresOn, version, ipRange, ...overrides };
    const agents =
      version >= '2020-02-10' ? { preauthorizedAgentObjectId: 'agent', correlationId: 'id' } : {};
    const permissions = blob.ContainerSASPermissions.parse('rl');
    const token = blob
      .generateBlobSASQueryParameters({ ...values, ...agents, permissions }, userKey, account)
      .toString();
    const { role } = acceptsOnlyAsSigned('blob', '/c/b', token);
    assert.equal(role, 'contributor');
    const own = { ...values, blobName: 'ä b', permissions: blob.BlobSASPermissions.parse('r') };
    const ofBlob = blob.generateBlobSASQueryParameters(own, userKey, account).toString();
    acceptsOnlyAsSigned('blob', `/c/${encoded('ä b')}`, ofBlob);
    for (const [field, other] of [
      ['skoid', 'oid-2'],
      ['sktid', 'tid-2'],
      ['skv', '2019-12-12x'],
      ['scid', 'other'],
    ] as const) {
      if (!token.includes(`${field}=`)) continue;
      const forged = token.replace(new RegExp(`${field}=[^&]*`), `${field}=${other}`);
      assert.throws(() => verify('blob', '/c/b', forged), { code: 'AuthenticationFailed' });
    }
  });
}

for (const version of since('2026-04-06')) {
  test(`user delegation SAS that signs headers and parameters of ${version}`, () => {
    const requestHeaders = { 'x-ms-foo': 'bar', 'x-ms-two': '2' };
    const requestQueryParameters = { prefix: 'ä b', delimiter: '/' };
    const values = {
      containerName: 'c',
      expiresOn,
      version,
      permissions: blob.ContainerSASPermissions.parse('l'),
    };
    const token = blob
      .generateBlobSASQueryParameters(
        { ...values, requestHeaders, requestQueryParameters },
        delegationKey('blob', version),
        account,
      )
      .toString();
    const path = '/c?restype=container&comp=list&delimiter=%2F&prefix=';
    for (let again = 0; again < 2; again++) {
      verify('blob', `${path}${encodeURIComponent('ä b')}`, token, requestHeaders);
      for (const [prefix, headers] of [
        ['x', requestHeaders],
        [encodeURIComponent('ä b'), { ...requestHeaders, 'x-ms-foo': 'baz' }],
      ] as const) {
        assert.throws(() => verify('blob', path + prefix, token, headers), { code: 'AuthenticationFailed' });
      }
    }
  });
}

for (const version of since('2025-07-05')) {
  test(`user delegation SAS of a queue and a file of ${version}`, () => {
    const ofQueue = queue.generateQueueSASQueryParameters(
      { queueName: 'q', permissions: queue.QueueSASPermissions.parse('r'), expiresOn, version },
      delegationKey('queue', version),
      account,
    );
    verify('queue', '/q/messages', ofQueue.toString());
    const ofFile = file.generateFileSASQueryParameters(
      {
        shareName: 's',
        filePath: 'a/b',
        permissions: file.FileSASPermissions.parse('r'),
        expiresOn,
        version,
        ...overrides,
      },
      delegationKey('file', version),
      account,
    );
    acceptsOnlyAsSigned('file', '/s/a/b', ofFile.toString());
  });
}

test('azure-storage 2.10 makes SAS that hold', () => {
  const policy = { AccessPolicy: { Permissions: 'r', Start: startsOn, Expiry: expiresOn } };
  const blobs = azure.createBlobService(account, secret);
  verify(
    'blob',
    `/container/${encoded('ä b')}`,
    blobs.generateSharedAccessSignature('container', 'ä b', policy),
  );
  verify('blob', '/container/any', blobs.generateSharedAccessSignature('container', '', policy));
  const queues = azure.createQueueService(account, secret);
  verify('queue', '/queue', queues.generateSharedAccessSignature('queue', policy));
  const tables = azure.createTableService(account, secret);
  verify('table', '/MyTable', tables.generateSharedAccessSignature('MyTable', policy));
  const files = azure.createFileService(account, secret);
  verify(
    'file',
    '/share/directory/f',
    files.generateSharedAccessSignature('share', 'directory', 'f', policy),
  );
});
