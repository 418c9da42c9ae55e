// Whether contents hold together: for who verifies a store. Whatever names bytes, a record or a map, names bytes that
// are there. Work may go on meanwhile: what is missing is looked for first and its owner then once more, and as bytes
// never go before the last that names them, an owner that still names them tells of damage.

import { isDeepStrictEqual } from 'node:util';
import type { Dictionary, KeyPart, Transaction } from '../../collections/index.js';
import type { Extent } from '../../extents/extents.js';
import { type ContentRows, extentKey, mapHeader, type SliceRow, unpackSlice } from './content-rows.js';

/** Each slice has its bytes, also of a map that is to be swept. A sentence for each that has not. */
export async function verifyMaps(tx: Transaction, rows: ContentRows): Promise<string[]> {
  const damage: string[] = [];
  for await (const [key, row] of rows.maps.entries(tx)) {
    const [map, start] = key;
    if (start === mapHeader) continue;
    if ((await hasBytes(tx, rows, row as SliceRow)) || !(await isSame(tx, rows.maps, key, row))) continue;
    damage.push(`map ${map} names bytes from ${start} on that are not stored`);
  }
  for await (const [key, row] of rows.kept.entries(tx)) {
    if ((await hasBytes(tx, rows, row)) || !(await isSame(tx, rows.kept, key, row))) continue;
    damage.push(`map ${key[0]} keeps bytes from ${key[2]} on that are not stored`);
  }
  return damage;
}

export async function hasMap(tx: Transaction, { maps }: ContentRows, map: number): Promise<boolean> {
  return (await maps.get(tx, [map, mapHeader], { lock: 'none' })) !== undefined;
}

export async function hasExtent(tx: Transaction, { extents }: ContentRows, extent: Extent): Promise<boolean> {
  return (await extents.get(tx, extentKey(extent), { lock: 'none' })) !== undefined;
}

async function hasBytes(tx: Transaction, rows: ContentRows, row: SliceRow): Promise<boolean> {
  const { source } = unpackSlice(0, row);
  return source.kind !== 'extent' || hasExtent(tx, rows, source.extent);
}

/** Whether the row is still what it was. */
export async function isSame<Key extends KeyPart, Value>(
  tx: Transaction,
  rows: Dictionary<Key, Value>,
  key: Key,
  row: Value,
): Promise<boolean> {
  const now = await rows.get(tx, key, { lock: 'none' });
  return isDeepStrictEqual(now, row);
}
