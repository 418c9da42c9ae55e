// Signatures of messages: 16 bytes at offset 48 of the header, made over the message with these zeroed.
// A message may come in pieces, the first of which holds the whole header.

import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { type CmacKey, cmac, cmacKey } from './cmac.js';

export type SigningName = 'HMAC-SHA256' | 'AES-CMAC' | 'AES-GMAC';

export type Signer = Readonly<
  | { name: 'HMAC-SHA256'; key: Buffer }
  | { name: 'AES-CMAC'; key: CmacKey }
  | { name: 'AES-GMAC'; key: Buffer }
>;

export function signer(name: SigningName, key: Buffer): Signer {
  return name === 'AES-CMAC' ? { name, key: cmacKey(key) } : { name, key };
}

const signatureAt = 48;
const flagsAt = 16;
const signedFlag = 8;
const responseFlag = 1;
const cancelCommand = 12;

/** Marks the message as signed and puts the signature in. */
export function sign(signer: Signer, message: readonly Buffer[]): void {
  const head = message[0] as Buffer;
  head.writeUInt32LE(head.readUInt32LE(flagsAt) | signedFlag, flagsAt);
  head.fill(0, signatureAt, signatureAt + 16);
  head.set(signature(signer, message), signatureAt);
}

/** Whether the signature in the message is right. The message is as it was afterwards. */
export function verify(signer: Signer, message: Buffer): boolean {
  const claimed = Buffer.from(message.subarray(signatureAt, signatureAt + 16));
  message.fill(0, signatureAt, signatureAt + 16);
  const right = signature(signer, [message]);
  message.set(claimed, signatureAt);
  return timingSafeEqual(claimed, right);
}

function signature(signer: Signer, message: readonly Buffer[]): Buffer {
  switch (signer.name) {
    case 'HMAC-SHA256': {
      const hmac = createHmac('sha256', signer.key);
      for (const piece of message) hmac.update(piece);
      return hmac.digest().subarray(0, 16);
    }
    case 'AES-CMAC':
      return cmac(signer.key, message);
    case 'AES-GMAC': {
      const gcm = createCipheriv('aes-128-gcm', signer.key, gmacNonce(message[0] as Buffer));
      for (const piece of message) gcm.setAAD(piece);
      gcm.final();
      return gcm.getAuthTag();
    }
  }
}

/** The message id, then a bit for the server's messages and one for a cancel, which reuses an id. */
function gmacNonce(head: Buffer): Buffer {
  const nonce = Buffer.alloc(12);
  head.copy(nonce, 0, 24, 32);
  const fromServer = head.readUInt32LE(flagsAt) & responseFlag ? 1 : 0;
  const cancel = head.readUInt16LE(12) === cancelCommand ? 2 : 0;
  nonce.writeUInt32LE(fromServer | cancel, 8);
  return nonce;
}
