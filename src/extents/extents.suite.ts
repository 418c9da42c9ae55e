// What the tests of this folder share.

import { ManualClock } from '../base/clock.js';
import type { SimulatedDisk } from '../base/files.simulated.js';
import { seededRandom } from '../base/random.js';
import { type Extent, type Extents, type ExtentsOptions, openExtents } from './extents.js';

export function openOn(disk: SimulatedDisk, options: Partial<ExtentsOptions> = {}): Promise<Extents> {
  return openExtents({ location: '/extents' }, { clock: new ManualClock(), files: disk, ...options });
}

/** Bytes that the length and the salt repeat exactly. */
export function content(length: number, salt = 0): Buffer {
  const random = seededRandom(length * 31 + salt);
  return Buffer.from(Uint8Array.from({ length }, () => random() * 256));
}

/** Written, on disk and no longer pinned. */
export async function put(extents: Extents, bytes: Buffer, chunkBytes = bytes.length || 1): Promise<Extent> {
  using writer = await extents.write(bytes.length);
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    await writer.append(bytes.subarray(start, start + chunkBytes));
  }
  const { extent, synced } = await writer.finish();
  await synced;
  return extent;
}

export async function contentOf(extents: Extents, extent: Extent): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of extents.read(extent)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
