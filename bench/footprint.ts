// What does it take to keep things: memory when idle and after load, and space on disk for each blob, message and
// entity of 1 KiB, beside Azurite. Space is what the files occupy, less what they did before; each kind on a server of
// its own, with contents that nothing compresses.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { Loader } from './loader.js';
import type { Bench, Size } from './main.js';
import { type Asked, block, json, requestOf } from './requests.js';
import { memoryOf, startAzurite, startLazuli, type Target } from './targets.js';

const letters = (width: number) => `{${'r'.repeat(width - 2)}}`;
const message = `<QueueMessage><MessageText>${letters(1024)}</MessageText></QueueMessage>`;
const entity = `{"PartitionKey":"p","RowKey":"{nnnnnnnnnn}","text":"${letters(1024)}"}`;

const counts: Record<Size, number> = { small: 100, full: 10_000 };
/** Azurite writes its lists down every five seconds. */
const settleMs: Record<Size, number> = { small: 10, full: 6_000 };

// biome-ignore format: a table
const kept: readonly (Asked & { readonly name: string; readonly make: Asked })[] = [
  { name: 'blob',    service: 'blob',  method: 'PUT',  path: '/disk/{nnnnnnnnnn}', headers: block, body: letters(1024), make: { service: 'blob', method: 'PUT', path: '/disk?restype=container' } },
  { name: 'message', service: 'queue', method: 'POST', path: '/disk/messages', body: message,                       make: { service: 'queue', method: 'PUT', path: '/disk' } },
  { name: 'entity',  service: 'table', method: 'POST', path: '/disk', headers: json, body: entity,  make: { service: 'table', method: 'POST', path: '/Tables', headers: json, body: '{"TableName":"disk"}' } },
];

export const footprintBench: Bench = async (size, print) => {
  for (const start of size === 'full' ? [startLazuli, startAzurite] : [startLazuli]) {
    for (const one of kept) {
      await using loader = new Loader();
      await using target = await start();
      await measure(loader, target, one, size, print);
    }
  }
  return crc32(kept.map(({ name }) => name).join()).toString(16);
};

async function measure(
  loader: Loader,
  target: Target,
  { name, make, ...asked }: (typeof kept)[number],
  size: Size,
  print: (line: string) => void,
): Promise<void> {
  const count = counts[size];
  const send = (request: Asked, requests: number) =>
    loader.run({
      port: target.ports[request.service],
      connections: Math.min(requests, 16),
      seconds: Number.POSITIVE_INFINITY,
      requests,
      request: requestOf(request),
      round: 1,
    });
  await send(make, 1);
  await delay(settleMs[size]);
  const before = spaceOf(target.folder);
  const idle = memoryLine(target);
  await send(asked, count);
  await delay(settleMs[size]);
  const each = Math.round((spaceOf(target.folder) - before) / count);
  const after = `with ${count}: ${memoryLine(target)}`;
  print(`${target.name}: each ${name} of 1 KiB takes ${each} bytes on disk; idle: ${idle}; ${after}`);
}

function memoryLine({ pid }: Target): string {
  const memory = memoryOf(pid);
  if (memory === undefined) return 'unknown without /proc';
  return `${memory.residentMb} MB of memory, ${memory.anonymousMb} MB of it its own`;
}

/** What the files occupy. The reserve for a full disk is no part of what is stored. */
function spaceOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === 'reserve') continue;
    const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    bytes += (found?.blocks ?? 0) * 512;
  }
  return bytes;
}
