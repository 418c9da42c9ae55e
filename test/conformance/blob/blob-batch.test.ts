import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given } from '../../support/given.js';
import { gives, refuses, type TestServer } from '../../support/server.js';

function batch(server: TestServer, parts: readonly string[], path = '/?comp=batch', boundary = 'b1') {
  const body = parts.map(
    (part, index) =>
      `--${boundary}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: ${index}\r\n\r\n${part} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`,
  );
  return server.ask({
    method: 'POST',
    path,
    headers: { 'Content-Type': `multipart/mixed; boundary=${boundary}` },
    body: `${body.join('')}--${boundary}--\r\n`,
  });
}

test('each request needs its own authorization', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  const answer = await gives(batch(server, [`DELETE /${server.account.name}${blob.path}`]), 202);
  assert.match(answer.text, /HTTP\/1\.1 401/);
  assert.match(answer.text, /NoAuthenticationInformation/);
  assert.equal(await blob.text(), 'v1');
});

test('a batch that cannot be is refused as a whole', async (t) => {
  const { server, blob } = await given(t, { content: 'v1' });
  const remove = `DELETE /${server.account.name}${blob.path}`;
  await refuses(batch(server, []), 400, 'InvalidInput');
  await refuses(
    batch(server, [remove, `PUT /${server.account.name}${blob.path}?comp=tier`]),
    400,
    'InvalidInput',
  );
  await refuses(batch(server, [`GET /${server.account.name}${blob.path}`]), 400, 'InvalidInput');
  await refuses(
    batch(
      server,
      Array.from({ length: 257 }, () => remove),
    ),
    400,
    'InvalidInput',
  );
  await refuses(batch(server, [remove], '/videos?restype=container&comp=batch'), 400, 'InvalidInput');
  const raw = { method: 'POST', path: '/?comp=batch', body: 'x' };
  await refuses(server.ask(raw), 400, 'InvalidInput');
});
