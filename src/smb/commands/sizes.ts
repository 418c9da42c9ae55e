// How much one request may transfer, and that it paid for it.

import type { Call } from '../call.js';
import { Refused } from '../status.js';

const bytesPerCredit = 65_536;

export function maxSize(call: Call): number {
  return call.connection.negotiated?.maxSize ?? bytesPerCredit;
}

/** From 2.1 on each 64 KiB sent or asked for costs a credit. */
export function checkCharge(call: Call, size: number): void {
  if (size > call.connection.charge(call.header) * bytesPerCredit) throw new Refused('INVALID_PARAMETER');
}
