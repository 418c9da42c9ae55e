// `lazuli verify`: reads everything and says what is damaged. Where no server runs the files of the store are read
// as well, each to its end.

import type { CommandLine } from '../command-line.js';
import { dataFolder } from '../data-folder.js';
import { formatBytes } from '../terminal.js';
import type { ContentsReport } from '../verify.js';
import { client, reach, requireData } from './reach.js';

export async function verify(line: CommandLine): Promise<number> {
  const at = reach(line);
  requireData(at.location);
  const damage: string[] = [];
  const { remote } = await import('../admin/client.js');
  if ((await remote(dataFolder(at.location))) === undefined) {
    const { verifyStore } = await import('../../engine/verify.js');
    const report = await verifyStore(dataFolder(at.location).store, {
      progress: ({ bytes, totalBytes }) =>
        at.terminal.progress({ what: 'bytes', done: bytes, total: totalBytes }),
    });
    damage.push(...report.damage.map(({ message }) => message));
  }
  // A store with damaged files may not open; what is known by then is told all the same.
  let contents: ContentsReport | undefined;
  if (damage.length === 0) {
    await using admin = await client(at);
    contents = (await admin.call('POST', '/api/verify', {}, at.terminal.progress)) as ContentsReport;
    damage.push(...contents.damage);
  }
  const read = contents ?? { rows: 0, extents: 0, bytes: 0 };
  at.tell({ ...read, damage }, [
    ...damage.map((text) => at.terminal.paint('red', text)),
    damage.length === 0
      ? at.terminal.paint('green', 'All is well: ') +
        `${read.rows} rows, ${read.extents} extents, ${formatBytes(read.bytes)} of contents.`
      : `${damage.length} damaged. Restore a backup into another folder: lazuli restore <backup> --location <folder>`,
  ]);
  return damage.length === 0 ? 0 : 1;
}
