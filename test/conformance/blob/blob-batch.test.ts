import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signRequest } from '#src/http/auth/sign.js';
import { newestVersion } from '#src/http/versions.js';
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

for (const names of [true, false]) {
  test(`a request inside ${names ? 'names' : 'leaves out'} the account, and signs what it sends`, async (t) => {
    const { blob, server } = await given(t, { content: 'v1' });
    const { name, keys } = server.account;
    const path = names ? `/${name}${blob.path}` : blob.path;
    const date = new Date().toUTCString();
    const signed = {
      service: 'blob',
      verb: 'DELETE',
      account: name,
      rawPath: path,
      rawQuery: '',
      rawHeaders: ['x-ms-date', date, 'Content-Length', '0'],
      version: newestVersion,
    } as const;
    const signature = signRequest('SharedKey', signed, Buffer.from(keys[0], 'base64'));
    const lines = [
      '--b1',
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      '',
      `DELETE ${path} HTTP/1.1`,
      `x-ms-date: ${date}`,
      `Authorization: ${signature}`,
      'Content-Length: 0',
      '',
      '--b1--',
      '',
    ];
    const headers = { 'Content-Type': 'multipart/mixed; boundary=b1' };
    const asked = { method: 'POST', path: '/?comp=batch', headers, body: lines.join('\r\n') };
    const { text } = await gives(server.ask(asked), 202);
    assert.match(text, /HTTP\/1\.1 202 Accepted/);
    assert.equal((await blob.head()).status, 404);
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
