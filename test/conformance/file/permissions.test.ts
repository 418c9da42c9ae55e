// Create Permission, Get Permission.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, type Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

const json = { 'Content-Type': 'application/json' };

function create(share: Share, body: unknown) {
  return share.put('comp=filepermission', json, typeof body === 'string' ? body : JSON.stringify(body));
}

async function created(share: Share, permission: string, format = 'sddl'): Promise<string> {
  return header(await gives(create(share, { permission, format }), 201), 'x-ms-file-permission-key');
}

test('what is stored is told again, and the same has the same key', async (t) => {
  const { share } = await given(t);
  const sddl =
    'O:S-1-5-21-1-2-3-500G:BUD:PAI(D;OICI;FW;;;WD)(A;OICIIO;GXGR;;;BU)(A;;0x1301bf;;;AU)S:AI(AU;SAFA;FA;;;WD)';
  const key = await created(share, sddl);
  assert.match(key, /^\d+\*\d+$/);
  assert.equal(await created(share, sddl), key);
  const got = await gives(share.get('comp=filepermission', { 'x-ms-file-permission-key': key }), 200);
  assert.deepEqual(JSON.parse(got.text), { permission: sddl });
  assert.equal(header(got, 'content-type'), 'application/json');
});

test('the same descriptor as text and in binary', async (t) => {
  const { share } = await given(t);
  const key = await created(share, 'O:SYG:SYD:(A;;FA;;;BA)');
  const binary = { 'x-ms-file-permission-key': key, 'x-ms-file-permission-format': 'Binary' };
  const { permission, format } = JSON.parse(
    (await gives(share.get('comp=filepermission', binary), 200)).text,
  );
  assert.equal(format, 'Binary');
  assert.equal(await created(share, permission, 'binary'), key);
  const file = share.file('a');
  const headers = { 'x-ms-file-permission': permission, 'x-ms-file-permission-format': 'Binary' };
  assert.equal(header(await gives(file.create(0, headers), 201), 'x-ms-file-permission-key'), key);
});

const bad = [
  'O:SYG:SY',
  'D:(A;;FA;;;BA)',
  'O:SYD:(A;;FA;;;BA)',
  'O:DAG:SYD:(A;;FA;;;BA)',
  'O:SYG:DUD:(A;;FA;;;BA)',
  'O:SYG:SYD:(A;;FA;;;DA)',
  'O:SYG:SYD:(Q;;FA;;;BA)',
  'O:SYG:SYD:(A;QQ;FA;;;BA)',
  'O:SYG:SYD:(A;;QQ;;;BA)',
  'O:SYG:SYD:(A;;FA;;;)',
  'O:SYG:SYD:(A;;FA;;BA)',
  'O:SYG:SYD:(A;;FA;;;S-1-99999999999)',
  'O:SYG:SYD:A',
  'nonsense',
  '',
];

for (const sddl of bad) {
  test(`${JSON.stringify(sddl)} is no permission`, async (t) => {
    const { share } = await given(t);
    await refuses(create(share, { permission: sddl }), 400, 'FileInvalidPermission');
  });
}

test('bodies that are none', async (t) => {
  const { share } = await given(t);
  for (const body of [
    '',
    'x',
    '[]',
    '{}',
    '{"permission":5}',
    '{"permission":"x","format":"yaml"}',
    'null',
  ]) {
    await refuses(create(share, body), 400, 'InvalidInput');
  }
  await refuses(create(share, { permission: 'x'.repeat(100_000) }), 413, 'RequestBodyTooLarge');
  await refuses(create(share, { permission: 'AAAA', format: 'binary' }), 400, 'FileInvalidPermission');
  await refuses(create(share, { permission: '!!', format: 'binary' }), 400, 'FileInvalidPermission');
  await gives(create(share, { Permission: 'O:SYG:SYD:', Format: 'SDDL' }), 201);
});

for (const ace of [
  'constructor;;FA;;;SY',
  '__proto__;;FA;;;SY',
  'A;;FA;;;constructor',
  'A;;1e5;;;SY',
  'A;;0b11;;;SY',
  'A;;4294967296;;;SY',
  'A;;-1;;;SY',
  'A;O;FA;;;SY',
  'A;;F;;;SY',
  'A;;FA;;',
  'A;;FA;;;SY;',
  'OA;;FA;nonsense;;SY',
]) {
  test(`(${ace}) is no entry`, async (t) => {
    const { share } = await given(t);
    await refuses(create(share, { permission: `O:SYG:SYD:(${ace})` }), 400, 'FileInvalidPermission');
  });
}

test('keys that are none', async (t) => {
  const { share } = await given(t);
  await refuses(share.get('comp=filepermission'), 400, 'MissingRequiredHeader');
  for (const key of ['1*2', 'nonsense', '*']) {
    await refuses(
      share.get('comp=filepermission', { 'x-ms-file-permission-key': key }),
      400,
      'FileInvalidPermissionKey',
    );
  }
});

test('the root of a share has the descriptor that is published', async (t) => {
  const { share } = await given(t);
  const key = header(await gives(share.root.head(), 200), 'x-ms-file-permission-key');
  const got = await gives(share.get('comp=filepermission', { 'x-ms-file-permission-key': key }), 200);
  assert.equal(
    JSON.parse(got.text).permission,
    'O:SYG:SYD:(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)(A;OICI;0x1301bf;;;AU)(A;;FA;;;SY)(A;OICIIO;GA;;;CO)',
  );
});

test('a descriptor of more than 64 KiB is none, and one that would be by being inherited is cut', async (t) => {
  const { share } = await given(t);
  const aces = (count: number, ace: string) => ({ permission: `O:SYG:SYD:${ace.repeat(count)}` });
  await refuses(create(share, aces(5000, '(A;;FA;;;SY)')), 413, 'RequestBodyTooLarge');
  await gives(create(share, aces(3200, '(A;;FA;;;SY)')), 201);
  // Rights that are generic are inherited in two parts: what they are here, and what is passed on.
  const key = header(
    await gives(create(share, aces(3200, '(A;OICI;GA;;;SY)')), 201),
    'x-ms-file-permission-key',
  );
  await gives(share.directory('d').put('', { 'x-ms-file-permission-key': key }), 201);
  await gives(share.directory('d/e').put(), 201);
  await gives(share.file('d/e/f').create(0), 201);
});
