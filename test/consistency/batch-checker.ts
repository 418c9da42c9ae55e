// What a batch promises: all of it or nothing, seen by every reader. Checked on a partition that is only ever written
// by batches which give all of its rows the same value: whoever looks at several rows sees one value.

import type { Recorded } from './history.js';
import type { PartitionCall, Result } from './models.js';
import type { Problem } from './queue-checker.js';

export function checkBatches(history: readonly Recorded[]): Problem[] {
  const problems: Problem[] = [];
  const batches = new Map<string, Recorded>();
  for (const record of history) {
    const call = record.call as PartitionCall;
    if (call.op === 'batch') batches.set(call.writes[0]?.value ?? '', record);
  }
  for (const record of history as readonly Recorded<PartitionCall, Result>[]) {
    const { call, result } = record;
    if (!result || !('ok' in result) || (call.op !== 'query' && call.op !== 'read')) continue;
    const rows = call.op === 'query' ? (result.rows ?? {}) : { [call.row]: result.value ?? '' };
    const values = [...new Set(Object.values(rows))];
    const isHalf =
      values.length > 1 ||
      (call.op === 'query' && values.length === 1 && Object.keys(rows).length < call.rows.length);
    const written = values.flatMap((value) => batches.get(value) ?? []);
    if (isHalf) problems.push({ what: 'half a batch was seen', records: [...written, record] });
    for (const value of values) {
      const batch = batches.get(value);
      if (!batch) problems.push({ what: `${value} was read and never written`, records: [record] });
      else if (batch.result && 'code' in (batch.result as Result))
        problems.push({ what: 'a batch that was refused was seen', records: [batch, record] });
    }
  }
  return problems;
}
