// The recorded sessions of test/fixtures/smb-vectors.json, with their messages as bytes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CipherName, Dialect } from '#src/smb/crypto/keys.js';
import type { SigningName } from '#src/smb/crypto/signing.js';

export interface RecordedSession {
  readonly name: string;
  readonly dialect: Dialect;
  readonly cipher: CipherName | undefined;
  readonly signing: SigningName;
  readonly user: string;
  readonly domain: string;
  readonly password: string;
  readonly derived: Readonly<Record<string, string>>;
  readonly messages: readonly { from: 'client' | 'server'; bytes: Buffer }[];
}

interface Stored extends Omit<RecordedSession, 'dialect' | 'messages' | 'cipher'> {
  readonly dialect: string;
  readonly cipher: CipherName | 'None';
  readonly messages: readonly { from: 'client' | 'server'; hex: string }[];
}

const file = join(import.meta.dirname, '../../../test/fixtures/smb-vectors.json');

export const recordedSessions: readonly RecordedSession[] = (
  JSON.parse(readFileSync(file, 'utf8')) as { sessions: Stored[] }
).sessions.map((session) => ({
  ...session,
  dialect: Number(session.dialect) as Dialect,
  cipher: session.cipher === 'None' ? undefined : session.cipher,
  messages: session.messages.map(({ from, hex }) => ({ from, bytes: Buffer.from(hex, 'hex') })),
}));
