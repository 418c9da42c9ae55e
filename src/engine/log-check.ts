// Looks at LevelDB's files before LevelDB does, because it skips damage in its log in silence.
//
//   CURRENT      names the MANIFEST
//   MANIFEST     a log of edits: which tables there are, and from which log on
//   *.log        what is in no table yet; the last one may have a torn end
//   *.ldb        here only that they are there, with their size; table-check.ts reads them
//
// A torn end is what a crash leaves behind a record that nobody was told of. It is cut off before LevelDB
// opens the folder, so what was judged here is what it finds. All else that cannot be read is damage, and the
// error names file and offset:
//
//   1. a record that cannot be read, and another one behind it, in the same file or in a later log;
//   2. a log shorter or broken before the length that was noted as durable (durable-mark.ts);
//   3. a log or table that the MANIFEST names and that is not there. So a MANIFEST whose last edit is
//      damaged is found as well: LevelDB removes files only after the edit that replaces them is on disk.

import { join } from 'node:path';
import { type Files, readWhole } from '../base/files.js';
import { type DurableMark, logName, logNumbers } from './durable-mark.js';
import { DamageError } from './errors.js';
import { isBatchAfter, readBatchHead } from './leveldb/batch.js';
import { MalformedError } from './leveldb/cursor.js';
import { type LogEnd, type LogRecord, laterRecord, readLog } from './leveldb/log.js';
import { ManifestReader, type ManifestState, type TableFile } from './leveldb/manifest.js';

export interface CheckedTable extends TableFile {
  readonly path: string;
}

/** A file and the length that it has to be cut to. */
export interface TornEnd {
  readonly path: string;
  readonly size: number;
}

export interface CheckedRecords {
  readonly tables: readonly CheckedTable[];
  readonly tornEnds: readonly TornEnd[];
}

/** Called with each batch in the logs, oldest first. */
type Visit = (path: string, record: LogRecord) => void;

/** Checks the LevelDB in `folder`, which nobody has open. Changes nothing. */
export async function checkRecords(
  files: Files,
  folder: string,
  mark: DurableMark | undefined,
  visit: Visit = () => {},
): Promise<CheckedRecords> {
  const names = (await files.status(folder)) === undefined ? [] : await files.list(folder);
  if (!names.includes('CURRENT')) {
    refuseLost(folder, names, mark);
    return { tables: [], tornEnds: [] };
  }
  const manifest = await readManifest(files, folder, names);
  const tables = await findTables(files, folder, names, manifest);
  const numbers = logNumbers(names).filter((number) => number >= manifest.state.logNumber);
  if (manifest.state.logNumber > 0 && !numbers.includes(manifest.state.logNumber)) {
    throw missing(manifest, join(folder, logName(manifest.state.logNumber)));
  }
  if (mark !== undefined && mark.logNumber >= manifest.state.logNumber && !numbers.includes(mark.logNumber)) {
    throw lostEnd(join(folder, logName(mark.logNumber)), 'it is missing, and held acknowledged writes');
  }
  const tornLogs = await checkLogs(files, folder, numbers, mark, visit);
  return { tables, tornEnds: [...manifest.tornEnds, ...tornLogs] };
}

/** Cuts off what `checkRecords` found torn. */
export async function cutTornEnds(files: Files, tornEnds: readonly TornEnd[]): Promise<void> {
  for (const { path, size } of tornEnds) {
    await using file = await files.open(path, 'edit');
    await file.truncate(size);
    await file.sync();
  }
}

export function damage(path: string, what: string): DamageError {
  return new DamageError(`Damaged file ${path}: ${what}. Restore a backup into another folder.`);
}

/** What was acknowledged is gone, and what is left may be all there is. */
function lostEnd(path: string, what: string): DamageError {
  return new DamageError(
    `Damaged file ${path}: ${what}. Restore a backup into another folder; or, to go on without what was ` +
      'written there, remove the file `durable` from the data folder.',
  );
}

/** What `read` returns; what it finds malformed is damage of the file. */
export function blaming<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof MalformedError ? damage(path, error.message) : error;
  }
}

/** Without CURRENT LevelDB would begin an empty store. So it does in an empty folder, or in one it had just begun. */
function refuseLost(folder: string, names: readonly string[], mark: DurableMark | undefined): void {
  const begun = new Set(['LOCK', 'LOG', 'LOG.old', 'MANIFEST-000001', '000001.dbtmp']);
  if (mark === undefined && names.every((name) => begun.has(name))) return;
  throw damage(join(folder, 'CURRENT'), 'it is missing, and the folder has held data');
}

interface Manifest {
  readonly path: string;
  readonly state: ManifestState;
  readonly tornEnds: readonly TornEnd[];
}

async function readManifest(files: Files, folder: string, names: readonly string[]): Promise<Manifest> {
  const current = join(folder, 'CURRENT');
  const name = /^(MANIFEST-\d+)\n$/.exec(((await readWhole(files, current)) ?? '').toString('latin1'))?.[1];
  if (name === undefined) throw damage(current, 'it does not name a MANIFEST');
  if (!names.includes(name)) throw damage(current, `it names ${name}, which is not there`);
  const path = join(folder, name);
  const content = await contentOf(files, path);
  const reader = new ManifestReader();
  const end = readLog(content, ({ start, payload }) => {
    blaming(`${path} at offset ${start}`, () => reader.apply(payload));
    return undefined;
  });
  const state = () => blaming(path, () => reader.state());
  if (end.kind === 'whole') return { path, state: state(), tornEnds: [] };
  refuseHole(path, content, end, () => true);
  return { path, state: state(), tornEnds: [{ path, size: end.offset }] };
}

async function findTables(
  files: Files,
  folder: string,
  names: readonly string[],
  manifest: Manifest,
): Promise<CheckedTable[]> {
  const tables: CheckedTable[] = [];
  for (const table of manifest.state.tables) {
    const stem = String(table.number).padStart(6, '0');
    const name = names.find((other) => other === `${stem}.ldb` || other === `${stem}.sst`);
    if (name === undefined) throw missing(manifest, join(folder, `${stem}.ldb`));
    const path = join(folder, name);
    const size = (await files.status(path))?.size;
    if (size !== table.size) throw damage(path, `it has ${size} bytes instead of ${table.size}`);
    tables.push({ ...table, path });
  }
  return tables;
}

/** Which file is to blame: one that is gone, or a MANIFEST that has lost the edit that replaced it. */
function missing({ path, tornEnds }: Manifest, file: string): DamageError {
  const [torn] = tornEnds;
  if (torn === undefined) return damage(file, 'it is missing');
  return damage(`${path} at offset ${torn.size}`, `it cannot be read from there on, and ${file} is missing`);
}

async function checkLogs(
  files: Files,
  folder: string,
  numbers: readonly number[],
  mark: DurableMark | undefined,
  visit: Visit,
): Promise<TornEnd[]> {
  const torn: (TornEnd & { reason: string })[] = [];
  let next: number | undefined;
  for (const number of numbers) {
    const path = join(folder, logName(number));
    const content = await contentOf(files, path);
    const end = readLog(content, (record) => {
      const [broken] = torn;
      if (broken !== undefined) throw damage(`${broken.path} at offset ${broken.size}`, broken.reason);
      const { sequence, count } = blaming(`${path} at offset ${record.start}`, () =>
        readBatchHead(record.payload),
      );
      // A new file may show what an old one left on its sectors, in place of what was not yet written there.
      if (next !== undefined && sequence < next) return 'a record is older than the one before';
      if (next !== undefined && sequence > next) {
        throw damage(`${path} at offset ${record.start}`, `write ${next} is not there`);
      }
      next = sequence + count;
      visit(path, record);
      return undefined;
    });
    const size = end.kind === 'whole' ? content.length : end.offset;
    if (mark?.logNumber === number && size < mark.size) {
      throw damage(
        `${path} at offset ${size}`,
        `${reasonOf(end)}, and ${mark.size} bytes of it were on disk`,
      );
    }
    if (end.kind === 'whole') continue;
    const before = (next ?? 0) - 1;
    refuseHole(path, content, end, (bytes) => isBatchAfter(before, bytes));
    torn.push({ path, size, reason: end.reason });
  }
  return torn;
}

function reasonOf(end: LogEnd): string {
  return end.kind === 'whole' ? 'it ends there' : end.reason;
}

function refuseHole(
  path: string,
  content: Buffer,
  end: LogEnd & { kind: 'broken' },
  plausible: (bytes: Buffer) => boolean,
): void {
  if (laterRecord(content, end.offset, plausible) === undefined) return;
  throw damage(`${path} at offset ${end.offset}`, `${end.reason}, and the file goes on behind it`);
}

async function contentOf(files: Files, path: string): Promise<Buffer> {
  const content = await readWhole(files, path);
  if (content === undefined) throw damage(path, 'it is missing');
  return content;
}
