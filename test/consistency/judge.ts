// The verdict on a round: each object judged by what it promises.

import { checkBatches } from './batch-checker.js';
import { fileModel } from './file-model.js';
import { fullModel } from './full-blob-model.js';
import { byObject, type Recorded } from './history.js';
import { linearize, type Model } from './linearizable.js';
import { appendModel, blobModel, checkETags, containerModel, partitionModel, timedModel } from './models.js';
import { drawHistory } from './picture.js';
import { checkQueue } from './queue-checker.js';
import { hung } from './sender.js';

export interface Finding {
  readonly object: string;
  readonly what: string;
  readonly records: readonly Recorded[];
  /** An SVG, where there is a history to show. */
  readonly picture?: string;
}

export const judge = 'judge.0';

// biome-ignore lint/suspicious/noExplicitAny: models of several kinds, each for its own objects
const models: Readonly<Record<string, Model<any, any, any>>> = {
  blob: blobModel,
  timed: timedModel,
  append: appendModel,
  full: fullModel,
  container: containerModel,
  mixed: partitionModel,
  whole: partitionModel,
  files: fileModel,
};

/** `jumpedMs`: by how much the server's clock was moved while it ran. */
export function judgeRound(history: readonly Recorded[], jumpedMs = 0): Finding[] {
  const findings: Finding[] = [];
  for (const [object, records] of byObject(history)) {
    const add = (what: string, blamed: readonly Recorded[]) => {
      findings.push({
        object,
        what,
        records: blamed,
        picture: drawHistory(`${object}: ${what}`, records, blamed),
      });
    };
    const [kind = ''] = object.split(' ');
    const model = models[kind];
    if (model) {
      const verdict = linearize(model, records);
      if (verdict.kind !== 'linearizable') {
        const where = `after ${verdict.order.length} of ${records.length} calls, in state ${verdict.state.slice(0, 200)}`;
        add(`${verdict.kind === 'violation' ? 'not linearizable' : 'undecided'} ${where}`, verdict.stuck);
      }
    }
    if (kind === 'queue') {
      for (const { what, records } of checkQueue(
        history.filter((one) => one.object === object),
        { judge, jumpedMs },
      ))
        add(what, records);
    }
    if (kind === 'whole') for (const { what, records: blamed } of checkBatches(records)) add(what, blamed);
    for (const what of checkETags(records.map((record) => rowNamed(record)))) add(what, records.slice(0, 1));
    const waits = records.filter(({ wire }) => wire === hung);
    if (waits.length > 0) add('a request was never answered', waits);
    const bugs = records.filter(({ wire }) => wire.includes('InternalError'));
    if (bugs.length > 0) add('the server answered with an internal error', bugs);
  }
  return findings;
}

/** ETags are of rows, not of their partition. */
function rowNamed(record: Recorded): Recorded {
  const { row } = record.call as { row?: string };
  return row === undefined ? record : { ...record, object: `${record.object} ${row}` };
}
