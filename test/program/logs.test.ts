// What is logged, and what must never be: a signature, a key, a token.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { developmentAccount } from '#src/services/common/accounts.js';
import { startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

test('one line a request: time, method, path, status, milliseconds, operation, client id; no secrets anywhere', async (t) => {
  const debug = join(temporaryFolder(t), 'debug.log');
  const program = await startProgram(t, ['--inMemoryPersistence', '-d', debug]);
  const url = program.urls['blob'] ?? '';
  const headers = { 'x-ms-client-request-id': 'id-of-mine' };
  await rest('blob', url, '/photos?restype=container', { method: 'PUT', headers });
  await rest('blob', url, '/photos?restype=container', { key: Buffer.from('wrong').toString('base64') });
  const secret = 'c2VjcmV0LXNpZ25hdHVyZQ%3D%3D';
  await fetch(`${url}/devstoreaccount1/photos/a%0Ab?sv=2021-12-02&sr=b&sp=r&se=2030-01-01&sig=${secret}`);
  await fetch(`${url}/devstoreaccount1/photos/x?SIG=${secret}`, {
    headers: { Authorization: `Bearer ${secret}` },
  });
  const { stdout } = await program.stop();
  const time = /^\d\d:\d\d:\d\d\.\d{3} /;
  const lines = stdout.split('\n').filter((line) => time.test(line));
  assert.equal(lines.length, 4, stdout);
  assert.match(
    lines[0] ?? '',
    /^\S+ PUT \/devstoreaccount1\/photos\?restype=container 201 \d+\.\d ms Create Container id-of-mine$/,
  );
  assert.match(lines[1] ?? '', / 403 AuthenticationFailed \d+\.\d ms Get Container Properties -$/);
  for (const text of [stdout, readFileSync(debug, 'utf8')]) {
    for (const hidden of [secret, decodeURIComponent(secret), developmentAccount.keys[0]]) {
      assert.equal(text.includes(hidden), false);
    }
    assert.match(text, /sig=REDACTED/i);
    assert.doesNotMatch(text, /SharedKey devstoreaccount1:(?!REDACTED)/);
  }
});
