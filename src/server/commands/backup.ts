// `lazuli backup <folder>` and `lazuli restore <folder> ...`.

import { resolve } from 'node:path';
import { type BackupReport, restoreBackup } from '../backup.js';
import type { CommandLine } from '../command-line.js';
import { formatBytes } from '../terminal.js';
import { client, reach, word } from './reach.js';

export async function backup(line: CommandLine): Promise<number> {
  const at = reach(line);
  const folder = resolve(word(line, 0, 'a folder'));
  const incremental = at.values.flag('incremental');
  await using admin = await client(at);
  const report = (await admin.call(
    'POST',
    '/api/backup',
    { folder, incremental },
    at.terminal.progress,
  )) as BackupReport;
  at.tell(report, [
    `${report.kind === 'full' ? 'Full' : 'Incremental'} backup in ${folder}`,
    `${report.segments} segments of contents, ${formatBytes(report.segmentBytes)}`,
  ]);
  return 0;
}

export async function restore(line: CommandLine): Promise<number> {
  const at = reach(line);
  word(line, 0, 'the folder of a backup');
  const info = await restoreBackup(line.words, at.location, at.terminal.progress);
  at.tell(info, [`Restored into ${at.location}, verified on the way.`]);
  return 0;
}
