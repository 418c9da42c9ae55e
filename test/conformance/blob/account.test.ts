// Get Account Information, Blob Service Properties and Stats.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('account information is told at every address', async (t) => {
  const { server } = await given(t);
  for (const path of ['/', '/photos', '/photos/x', '/none']) {
    for (const method of ['GET', 'HEAD']) {
      const got = await gives(server.ask({ method, path: `${path}?restype=account&comp=properties` }), 200);
      assert.equal(header(got, 'x-ms-sku-name'), 'Standard_RAGRS');
      assert.equal(header(got, 'x-ms-account-kind'), 'StorageV2');
      assert.equal(header(got, 'x-ms-is-hns-enabled'), 'false');
    }
  }
});

test('service properties are changed one by one', async (t) => {
  const { server } = await given(t);
  const path = '/?restype=service&comp=properties';
  const body =
    '<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>';
  await gives(server.ask({ method: 'PUT', path, body }), 202);
  const got = await gives(server.ask({ path }), 200);
  assert.match(got.text, /<DeleteRetentionPolicy><Enabled>true<\/Enabled><Days>7<\/Days>/);
});

test('stats are told by the secondary, which writes nothing', async (t) => {
  const { server } = await given(t);
  await refuses(server.ask({ path: '/?restype=service&comp=stats' }), 403, 'InsufficientAccountPermissions');
});
