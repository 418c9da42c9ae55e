// Pop receipts: where a message's row lies, and which hand-out it belongs to. Opaque to clients; meaningful
// only together with the message's id.
//
//   1 byte format, 8 bytes next visible, 8 bytes seq, 4 bytes nonce; in Base64

import { ok, type Result, refuse } from '../../base/result.js';

export interface Receipt {
  readonly nextVisible: number;
  readonly seq: number;
  readonly nonce: number;
}

const format = 1;
const bytes = 21;

export function encodeReceipt({ nextVisible, seq, nonce }: Receipt): string {
  const buffer = Buffer.allocUnsafe(bytes);
  buffer[0] = format;
  buffer.writeDoubleBE(nextVisible, 1);
  buffer.writeDoubleBE(seq, 9);
  buffer.writeUInt32BE(nonce, 17);
  return buffer.toString('base64');
}

export function decodeReceipt(text: string): Result<Receipt, 'InvalidQueryParameterValue'> {
  const buffer = Buffer.from(text, 'base64');
  if (buffer.length !== bytes || buffer[0] !== format || buffer.toString('base64') !== text) {
    return refuse('InvalidQueryParameterValue');
  }
  const receipt = {
    nextVisible: buffer.readDoubleBE(1),
    seq: buffer.readDoubleBE(9),
    nonce: buffer.readUInt32BE(17),
  };
  const valid = Number.isFinite(receipt.nextVisible) && Number.isFinite(receipt.seq);
  return valid ? ok(receipt) : refuse('InvalidQueryParameterValue');
}
