// The marks: how far versions, stamps and the clock have come, stored with every group. A start goes on above.

import type { Version } from './engine.js';
import { reservedPrefix } from './page-reader.js';
import { decodeRecord, encodeRecord } from './record.js';
import type { Operation, Store } from './store.js';

export interface Marks {
  readonly version: Version;
  readonly stamp: number;
  /** Without a test's offset. */
  readonly clock: number;
}

const marksKey = Buffer.from([reservedPrefix, 0x6d]); // m

export function loadMarks(store: Pick<Store, 'name' | 'get'>): Marks {
  const record = store.get(marksKey, undefined);
  if (record === undefined) return { version: 0, stamp: 0, clock: 0 };
  const { value, version } = decodeRecord(marksKey, record, store.name);
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  return { version, stamp: view.getFloat64(0), clock: view.getFloat64(8) };
}

export function marksOperation({ version, stamp, clock }: Marks): Operation {
  const value = Buffer.allocUnsafe(16);
  value.writeDoubleBE(stamp, 0);
  value.writeDoubleBE(clock, 8);
  return { type: 'put', key: marksKey, value: encodeRecord(marksKey, value, version) };
}
