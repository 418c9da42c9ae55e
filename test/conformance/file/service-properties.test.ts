// Get and Set File Service Properties, the secondary, and requests in general.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, Resource } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const query = 'restype=service&comp=properties';

test('properties are kept as they are set; what is left out stays', async (t) => {
  const { server } = await given(t);
  const service = new Resource(server, '/');
  const cors =
    '<Cors><CorsRule><AllowedOrigins>http://a.example</AllowedOrigins><AllowedMethods>GET</AllowedMethods><AllowedHeaders>*</AllowedHeaders><ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>';
  const smb =
    '<ProtocolSettings><SMB><Versions>SMB3.0;SMB3.1.1</Versions><ChannelEncryption>AES-256-GCM</ChannelEncryption></SMB></ProtocolSettings>';
  await gives(service.put(query, {}, `<StorageServiceProperties>${cors}</StorageServiceProperties>`), 202);
  await gives(service.put(query, {}, `<StorageServiceProperties>${smb}</StorageServiceProperties>`), 202);
  const { text } = await gives(service.get(query), 200);
  assert.match(text, /<AllowedOrigins>http:\/\/a.example<\/AllowedOrigins>/);
  assert.match(text, /<Versions>SMB3.0;SMB3.1.1;?<\/Versions>/);
  assert.doesNotMatch(text, /<Logging>/);
  await refuses(service.put(query, {}, '<Storage'), 400, 'InvalidXmlDocument');
});

test('every answer has its headers', async (t) => {
  const { share } = await given(t);
  const got = await gives(share.get('', { 'x-ms-client-request-id': 'mine' }), 200);
  assert.equal(header(got, 'server'), 'Windows-Azure-File/1.0 Microsoft-HTTPAPI/2.0');
  assert.equal(header(got, 'x-ms-client-request-id'), 'mine');
  assert.match(header(got, 'x-ms-request-id'), /^[0-9a-f-]{36}$/);
});

test('the timeout is a number', async (t) => {
  const { share } = await given(t);
  for (const timeout of ['0', '-1', 'x']) {
    await refuses(share.get(`timeout=${timeout}`), 400, 'InvalidQueryParameterValue');
  }
  await gives(share.get('timeout=90'), 200);
});

test('nobody gets in without a name', async (t) => {
  const { server } = await given(t, { file: 'a' });
  const answer = await server.ask({ path: '/files/a', as: 'anybody' });
  assert.ok(answer.status === 401 || answer.status === 403 || answer.status === 404);
});
