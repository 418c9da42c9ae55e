import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container } from '../../support/given.js';
import { gives, refuses, startServer, type TestServer } from '../../support/server.js';

async function site(t: Parameters<typeof startServer>[0], properties: string): Promise<TestServer> {
  const server = await startServer(t, 'blob');
  const web = new Container(server, '$web');
  await gives(web.create(), 201);
  for (const name of ['index.html', 'docs/index.html', 'docs/page.html', '404.html']) {
    await gives(web.blob(name).upload(name, { 'x-ms-blob-content-type': 'text/html' }), 201);
  }
  const body = `<StorageServiceProperties><StaticWebsite>${properties}</StaticWebsite></StorageServiceProperties>`;
  await gives(server.ask({ method: 'PUT', path: '/?restype=service&comp=properties', body }), 202);
  return server;
}

const anybody = (server: TestServer, path: string, method = 'GET') =>
  server.ask({ method, path, as: 'anybody', headers: { 'x-ms-version': '2021-12-02' } });

test('anybody reads the pages, with their index and error documents', async (t) => {
  const server = await site(
    t,
    '<Enabled>true</Enabled><IndexDocument>index.html</IndexDocument><ErrorDocument404Path>404.html</ErrorDocument404Path>',
  );
  const pages = {
    '/$web/': [200, 'index.html'],
    '/$web/index.html': [200, 'index.html'],
    '/$web/docs/': [200, 'docs/index.html'],
    '/$web/docs/page.html': [200, 'docs/page.html'],
    '/$web/nothing': [404, '404.html'],
    '/$web/nothing/': [404, '404.html'],
  } as const;
  for (const [path, [status, text]] of Object.entries(pages)) {
    const got = await anybody(server, path);
    assert.deepEqual(
      [got.status, got.text, got.headers.get('content-type')],
      [status, text, 'text/html'],
      path,
    );
    assert.equal((await anybody(server, path, 'HEAD')).status, status);
  }
  await refuses(anybody(server, '/$web?restype=container&comp=list'), 401, 'NoAuthenticationInformation');
  await refuses(server.ask({ path: '/$web/docs/' }), 404, 'BlobNotFound');
});

test('one document for every path', async (t) => {
  const properties = '<Enabled>true</Enabled><DefaultIndexDocumentPath>index.html</DefaultIndexDocumentPath>';
  const server = await site(t, properties);
  assert.equal((await gives(anybody(server, '/$web/any/route'), 200)).text, 'index.html');
  assert.equal((await gives(anybody(server, '/$web/docs/page.html'), 200)).text, 'docs/page.html');
});

test('a website that is switched off is private', async (t) => {
  const server = await site(t, '<Enabled>false</Enabled>');
  await refuses(anybody(server, '/$web/index.html'), 401, 'NoAuthenticationInformation');
});
