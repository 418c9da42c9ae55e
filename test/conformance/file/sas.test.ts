// What a SAS lets its holder do with files, where the operation alone does not tell.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signSas } from '#src/http/auth/sign.js';
import { type File, type Given, given, header } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const expiry = '2099-01-01T00:00:00Z';
const version = '2024-11-04';

function signed(
  { server }: Given,
  fields: Record<string, string>,
  container?: string,
  name?: string,
): string {
  const resource = { service: 'file' as const, account: server.account.name };
  const inside = container === undefined ? {} : { container, name: name ?? '' };
  return signSas(
    { ...resource, ...inside },
    { sv: version, se: expiry, ...fields },
    Buffer.from(server.account.keys[0], 'base64'),
  );
}

const accountSas = (it: Given, letters: string) => signed(it, { ss: 'f', srt: 'sco', sp: letters });
const shareSas = (it: Given, letters: string) => signed(it, { sr: 's', sp: letters }, 'files');
const fileSas = (it: Given, letters: string, name: string) =>
  signed(it, { sr: 'f', sp: letters }, 'files', name);

function ask(file: File, method: string, query: string, headers: Record<string, string> = {}, body?: string) {
  const sent = { 'x-ms-version': version, ...headers };
  const request = { method, path: `${file.path}?${query}`, headers: sent, as: 'anybody' as const };
  return file.server.ask({ ...request, ...(body === undefined ? {} : { body }) });
}

const create = { 'x-ms-type': 'file', 'x-ms-content-length': '3' };

for (const [kind, sas] of [
  ['account', accountSas],
  ['share', shareSas],
] as const) {
  test(`a SAS of the ${kind} to create creates, and overwrites nothing`, async (t) => {
    const it = await given(t);
    const c = sas(it, 'c');
    await gives(ask(it.file, 'PUT', c, create), 201);
    await refuses(ask(it.file, 'PUT', c, create), 403, 'AuthorizationPermissionMismatch');
    await gives(ask(it.file, 'PUT', sas(it, 'w'), create), 201);
    await refuses(ask(it.file, 'GET', c), 403, 'AuthorizationPermissionMismatch');
    await gives(ask(it.file, 'GET', sas(it, 'r')), 200);
  });
}

test('a SAS of a file opens that file alone, and says what its headers are', async (t) => {
  const it = await given(t, { file: 'docs/a.txt' });
  await gives(it.share.file('docs/b.txt').create(1), 201);
  const sas = fileSas(it, 'r', 'docs/a.txt');
  assert.equal((await gives(ask(it.file, 'GET', sas), 200)).text, 'hello world');
  await refuses(ask(it.share.file('docs/b.txt'), 'GET', sas), 403, 'AuthenticationFailed');
  const typed = signed(it, { sr: 'f', sp: 'r', rsct: 'text/x' }, 'files', 'docs/a.txt');
  assert.equal(header(await gives(ask(it.file, 'GET', typed), 200), 'content-type'), 'text/x');
});

test('a rename needs rights at both ends', async (t) => {
  const it = await given(t, { file: 'a.txt' });
  const target = it.share.file('b.txt');
  const from = (sas: string) => ({ 'x-ms-file-rename-source': `${it.file.url}?${sas}` });
  const to = `comp=rename&${shareSas(it, 'w')}`;
  await refuses(ask(target, 'PUT', to, from(shareSas(it, 'r'))), 403, 'AuthorizationPermissionMismatch');
  await refuses(ask(target, 'PUT', to, from(shareSas(it, 'd'))), 403, 'AuthorizationPermissionMismatch');
  // A SAS of the target says nothing of the source.
  const own = await ask(target, 'PUT', `comp=rename&${fileSas(it, 'wd', 'b.txt')}`, {
    'x-ms-file-rename-source': it.file.url,
  });
  assert.ok(own.status === 401 || own.status === 403 || own.status === 404, String(own.status));
  await gives(ask(target, 'PUT', to, from(shareSas(it, 'wd'))), 200);
});

test('the source of a copy is read with its own SAS', async (t) => {
  const it = await given(t, { file: 'a.txt' });
  const target = it.share.file('b.txt');
  const copy = (sas: string) => ({ 'x-ms-copy-source': `${it.file.url}?${sas}` });
  const write = fileSas(it, 'w', 'b.txt');
  await refuses(ask(target, 'PUT', write, copy(fileSas(it, 'w', 'a.txt'))), 403, 'CannotVerifyCopySource');
  const none = await ask(target, 'PUT', write, { 'x-ms-copy-source': it.file.url });
  assert.ok(none.status >= 400, String(none.status));
  await gives(ask(target, 'PUT', write, copy(fileSas(it, 'r', 'a.txt'))), 202);
  assert.equal(await target.text(), 'hello world');
});
