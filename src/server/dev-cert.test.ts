import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataFolder } from './data-folder.js';
import { developmentCertificate } from './dev-cert.js';

const day = 24 * 3600 * 1000;

test('it is for this machine alone, signed by itself, and valid for no longer than clients take', () => {
  const now = Date.UTC(2026, 5, 1);
  const { cert } = developmentCertificate(undefined, now);
  const read = new X509Certificate(cert);
  assert.ok(read.verify(read.publicKey));
  for (const host of ['localhost', 'devstoreaccount1.blob.localhost'])
    assert.equal(read.checkHost(host) === undefined, false, host);
  assert.equal(read.checkHost('example.org'), undefined);
  assert.equal(read.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(read.checkIP('::1'), '::1');
  assert.equal(read.checkIP('10.0.0.1'), undefined);
  assert.equal(Date.parse(read.validTo), now + 825 * day);
  assert.equal(Date.parse(read.validFrom), now - day);
});

test('it is kept, made anew when its time is nearly over, and when its key is not its own', (t) => {
  const location = mkdtempSync(join(tmpdir(), 'lazuli-cert-'));
  t.after(() => rmSync(location, { recursive: true }));
  const folder = dataFolder(location);
  const now = Date.UTC(2026, 5, 1);
  const first = developmentCertificate(folder, now);
  assert.deepEqual(developmentCertificate(folder, now + 700 * day), first);
  const renewed = developmentCertificate(folder, now + 800 * day);
  assert.notDeepEqual(renewed.cert, first.cert);
  writeFileSync(folder.certificateKey, first.key);
  const again = developmentCertificate(folder, now + 800 * day);
  assert.notDeepEqual(again.cert, renewed.cert);
  writeFileSync(folder.certificate, again.cert.subarray(0, 100)); // the power was cut
  assert.ok(new X509Certificate(developmentCertificate(folder, now + 800 * day).cert).ca);
});
