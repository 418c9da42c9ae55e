// Every key, signature and ciphertext of the recorded sessions, computed again from the password.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkProof, ntHash, ntlmSign, readAuthenticate } from '#src/smb/auth/ntlm.js';
import { readToken } from '#src/smb/auth/spnego.js';
import { type Sealer, seal, unseal } from '#src/smb/crypto/encryption.js';
import { emptyHash, extendHash, sessionKeys } from '#src/smb/crypto/keys.js';
import { sign, signer, verify } from '#src/smb/crypto/signing.js';
import { type RecordedSession, recordedSessions } from '../support/smb-vectors.js';

const sessionSetup = 1;
const commandOf = (message: Buffer) => message.readUInt16LE(12);
const flagsOf = (message: Buffer) => message.readUInt32LE(16);
const isEncrypted = (message: Buffer) => message[0] === 0xfd;

/** The security buffer of a SESSION_SETUP: requests have it at 12 of the body, responses at 4. */
function tokenOf(message: Buffer): Buffer {
  const at = 64 + (flagsOf(message) & 1 ? 4 : 12);
  return message.subarray(message.readUInt16LE(at), message.readUInt16LE(at) + message.readUInt16LE(at + 2));
}

function exchangeOf(session: RecordedSession) {
  const setups = session.messages.filter(
    ({ bytes }) => !isEncrypted(bytes) && commandOf(bytes) === sessionSetup,
  );
  const [first, second, third, fourth] = setups.map(({ bytes }) => readToken(tokenOf(bytes)));
  assert(first?.form === 'init' && second?.form === 'response' && third?.form === 'response');
  assert(fourth?.form === 'response' && first.token && second.token && third.token);
  const client = readAuthenticate(third.token);
  assert(client);
  const exchange = {
    negotiate: first.token,
    challengeToken: second.token,
    challenge: second.token.subarray(24, 32),
  };
  return { first, third, fourth, client, exchange };
}

function exportedKeyOf(session: RecordedSession): Buffer {
  const { client, exchange } = exchangeOf(session);
  const key = checkProof(exchange, client, ntHash(session.password));
  assert(key, 'the recorded client knew the password');
  return key;
}

function preauthHashOf(session: RecordedSession): Buffer {
  const setups = session.messages.filter(
    ({ bytes }) => !isEncrypted(bytes) && commandOf(bytes) <= sessionSetup,
  );
  return setups.slice(0, -1).reduce((hash, { bytes }) => extendHash(hash, bytes), emptyHash);
}

const keysOf = (session: RecordedSession) =>
  sessionKeys(session.dialect, exportedKeyOf(session), preauthHashOf(session), session.cipher);

for (const session of recordedSessions) {
  const { derived } = session;

  test(`${session.name}: the password gives the exported key`, () => {
    assert.equal(ntHash(session.password).toString('hex'), derived.ntHash);
    const { client, exchange } = exchangeOf(session);
    assert.equal(client.user, derived.user);
    assert.equal(client.domain, derived.domain);
    assert.equal(client.ntResponse.toString('hex'), derived.ntResponse);
    assert.equal(exchange.challenge.toString('hex'), derived.serverChallenge);
    assert.equal(exportedKeyOf(session).toString('hex'), derived.exportedSessionKey);
  });

  test(`${session.name}: another password, and any altered byte of the last token, is refused`, () => {
    const { client, exchange } = exchangeOf(session);
    assert.equal(checkProof(exchange, client, ntHash(`${session.password}!`)), undefined);
    for (let at = 0; at < client.token.length; at += 7) {
      const altered = Buffer.from(client.token);
      altered[at] = (altered[at] ?? 0) ^ 1;
      const read = readAuthenticate(altered);
      assert.equal(read && checkProof(exchange, read, ntHash(session.password)), undefined, `byte ${at}`);
    }
  });

  test(`${session.name}: both checks over the mechanism list`, () => {
    const { first, third, fourth } = exchangeOf(session);
    const key = exportedKeyOf(session);
    assert.deepEqual(ntlmSign(key, 'client-to-server', true, first.mechTypes), third.mechListMic);
    assert.deepEqual(ntlmSign(key, 'server-to-client', true, first.mechTypes), fourth.mechListMic);
  });

  test(`${session.name}: the session keys`, () => {
    const keys = keysOf(session);
    if (derived.preauthIntegrityHash)
      assert.equal(preauthHashOf(session).toString('hex'), derived.preauthIntegrityHash);
    assert.equal(keys.signing.toString('hex'), derived.signingKey);
    assert.equal(keys.decryption?.toString('hex'), derived.clientToServerCipherKey);
    assert.equal(keys.encryption?.toString('hex'), derived.serverToClientCipherKey);
    if (session.dialect >= 0x300) assert.equal(keys.application.toString('hex'), derived.applicationKey);
  });

  test(`${session.name}: every signature`, () => {
    const signing = signer(session.signing, keysOf(session).signing);
    let signed = 0;
    for (const { bytes } of session.messages) {
      if (isEncrypted(bytes) || !(flagsOf(bytes) & 8)) continue;
      signed++;
      assert(verify(signing, bytes), `message ${signed}`);
      const again = [Buffer.from(bytes.subarray(0, 64)), Buffer.from(bytes.subarray(64))];
      sign(signing, again);
      assert.deepEqual(Buffer.concat(again), bytes);
      const altered = Buffer.from(bytes);
      altered[altered.length - 1] = (altered[altered.length - 1] ?? 0) ^ 1;
      assert(!verify(signing, altered));
    }
    assert(signed > 0);
  });

  if (!session.name.includes('encrypted')) continue;

  test(`${session.name}: every encrypted message`, () => {
    const { cipher } = session;
    const keys = keysOf(session);
    assert(cipher && keys.decryption && keys.encryption);
    for (const { from, bytes } of session.messages.filter(({ bytes }) => isEncrypted(bytes))) {
      const sealer: Sealer = { cipher, key: from === 'client' ? keys.decryption : keys.encryption };
      const plain = unseal(sealer, bytes);
      assert.equal(plain?.readUInt32BE(0), 0xfe534d42);
      const pieces = [plain.subarray(0, 64), plain.subarray(64)];
      const sealed = seal(sealer, bytes.readBigUInt64LE(44), bytes.subarray(20, 36), pieces);
      assert.deepEqual(Buffer.concat(sealed), bytes);
      const altered = Buffer.from(bytes);
      altered[60] = (altered[60] ?? 0) ^ 1;
      assert.equal(unseal(sealer, altered), undefined);
    }
  });
}
