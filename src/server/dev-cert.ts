// `--devCert`: a certificate for this machine, made once and kept with the data. It is signed by its own key, so a
// client must be told to trust the file; it is for localhost and nothing else.
//
// X.509 version 3 in DER, the little of it that a TLS server needs: P-256, ECDSA with SHA-256, the names of this
// machine, no authority over others but itself.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { element } from '../base/der.js';
import { hasCode } from '../base/files.js';
import type { DataFolder } from './data-folder.js';

export interface DevelopmentCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const days = 825; // clients refuse longer ones
const renewDays = 30;
const dayMs = 24 * 3600 * 1000;

/** The one in the folder, or a new one where there is none or its time is nearly over. Without a folder it is not kept. */
export function developmentCertificate(
  folder: DataFolder | undefined,
  now = Date.now(),
): DevelopmentCertificate {
  const kept = folder && readKept(folder);
  if (kept !== undefined && Date.parse(new X509Certificate(kept.cert).validTo) - now > renewDays * dayMs)
    return kept;
  const made = makeCertificate(now);
  if (folder !== undefined) {
    mkdirSync(folder.location, { recursive: true, mode: 0o700 });
    writeFileSync(folder.certificateKey, made.key, { mode: 0o600 });
    writeFileSync(folder.certificate, made.cert, { mode: 0o600 });
  }
  return made;
}

function readKept(folder: DataFolder): DevelopmentCertificate | undefined {
  let kept: DevelopmentCertificate;
  try {
    kept = { cert: readFileSync(folder.certificate), key: readFileSync(folder.certificateKey) };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  // A start that was cut off leaves half a file, or a pair that does not fit.
  try {
    return new X509Certificate(kept.cert).checkPrivateKey(createPrivateKey(kept.key)) ? kept : undefined;
  } catch {
    return undefined;
  }
}

const tag = {
  integer: 2,
  bits: 3,
  octets: 4,
  oid: 6,
  utf8: 12,
  utcTime: 23,
  sequence: 0x30,
  set: 0x31,
} as const;
const sequence = (...content: readonly Buffer[]) => element(tag.sequence, ...content);
const oid = (hex: string) => element(tag.oid, Buffer.from(hex, 'hex'));

// 1.2.840.10045.4.3.2, 2.5.4.3, 2.5.29.17, 2.5.29.19, 2.5.29.15, 2.5.29.37, 1.3.6.1.5.5.7.3.1
const ecdsaSha256 = sequence(oid('2a8648ce3d040302'));
const commonName = oid('550403');
const subjectNames = oid('551d11');
const basicConstraints = oid('551d13');
const keyUsage = oid('551d0f');
const extendedUsage = oid('551d25');
const serverAuth = oid('2b06010505070301');

const yes = Buffer.from('0101ff', 'hex');
const dnsNames = [
  'localhost',
  '*.blob.localhost',
  '*.queue.localhost',
  '*.table.localhost',
  '*.file.localhost',
];
const addresses = [Buffer.of(127, 0, 0, 1), Buffer.from('00000000000000000000000000000001', 'hex')];

function makeCertificate(now: number): DevelopmentCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(
    element(tag.set, sequence(commonName, element(tag.utf8, Buffer.from('Lazuli development')))),
  );
  const body = sequence(
    element(0xa0, element(tag.integer, Buffer.of(2))),
    element(tag.integer, Buffer.concat([Buffer.of(0x4c), randomBytes(15)])),
    ecdsaSha256,
    name,
    sequence(time(now - dayMs), time(now + days * dayMs)),
    name,
    createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })).export({
      type: 'spki',
      format: 'der',
    }),
    element(0xa3, sequence(...extensions())),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, ecdsaSha256, element(tag.bits, Buffer.of(0), signature));
  const key = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { cert: Buffer.from(pem(whole)), key };
}

function extensions(): Buffer[] {
  const names = [
    ...dnsNames.map((text) => element(0x82, Buffer.from(text))),
    ...addresses.map((address) => element(0x87, address)),
  ];
  return [
    extension(subjectNames, sequence(...names)),
    extension(basicConstraints, sequence(yes), yes),
    extension(keyUsage, element(tag.bits, Buffer.from('0284', 'hex')), yes), // signs; certificates too
    extension(extendedUsage, sequence(serverAuth)),
  ];
}

function extension(id: Buffer, value: Buffer, critical = Buffer.alloc(0)): Buffer {
  return sequence(id, critical, element(tag.octets, value));
}

/** `YYMMDDhhmmssZ`: years until 2049. */
function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '');
  return element(tag.utcTime, Buffer.from(text.slice(2)));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
