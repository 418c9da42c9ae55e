// `lazuli import-azurite [folder]`: takes over what Azurite has kept in a folder.

import { resolve } from 'node:path';
import type { ImportReport } from '../azurite/import.js';
import { type CommandLine, UsageError } from '../command-line.js';
import { isAzuriteWorkspace } from '../data-folder.js';
import { client, reach } from './reach.js';

export async function importWorkspace(line: CommandLine): Promise<number> {
  const at = reach(line);
  const folder = resolve(line.words[0] ?? at.location);
  if (!isAzuriteWorkspace(folder)) throw new UsageError(`Azurite has no data in ${folder}`);
  await using admin = await client(at, 'make');
  const report = (await admin.call(
    'POST',
    '/api/import-azurite',
    { folder },
    at.terminal.progress,
  )) as ImportReport;
  at.tell(report, [
    `Taken over from ${folder} into ${at.location}:`,
    ...Object.entries(report.counts).map(([what, count]) => `${String(count).padStart(9)} ${what}`),
    ...(report.notes.length > 0
      ? ['', 'What could not be taken over as it was:', ...report.notes.map((note) => `  ${note}`)]
      : []),
  ]);
  return 0;
}
