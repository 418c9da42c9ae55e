// Ids of requests: GUID-shaped and never the same twice. Half of one is random for each start of the server,
// the rest counts: drawing a random one for every request costs five times as much.

import { randomBytes } from 'node:crypto';

export function requestIds(random: (count: number) => Buffer = randomBytes): () => string {
  const hex = random(8).toString('hex');
  const prefix = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}`;
  let count = 0;
  let upper = `${prefix}-0000-0000`;
  return () => {
    count++;
    const low = count % 0x100000000;
    if (low === 0) {
      const high = (count / 0x100000000).toString(16).padStart(8, '0');
      upper = `${prefix}-${high.slice(0, 4)}-${high.slice(4)}`;
    }
    return upper + low.toString(16).padStart(8, '0');
  };
}
