// LevelDB's MANIFEST: a log whose records are edits, each a change to the list of tables. What they come to
// is the state that LevelDB opens: tables by level, and the first log file that is not in a table yet.

import { Cursor, MalformedError } from './cursor.js';
import { userKey } from './table.js';

export interface TableFile {
  readonly level: number;
  readonly number: number;
  readonly size: number;
  /** Keys as users know them, both in the table. */
  readonly smallest: Buffer;
  readonly largest: Buffer;
}

export interface ManifestState {
  readonly tables: readonly TableFile[];
  /** Log files from this number on hold what no table does. */
  readonly logNumber: number;
}

const comparator = 'leveldb.BytewiseComparator';
const levels = 7;

/** The state after the edits given to `apply`. */
export class ManifestReader {
  readonly #tables = new Map<string, TableFile>();
  readonly #numbers = new Map<'log' | 'previous log' | 'next file' | 'last sequence', number>();

  apply(payload: Buffer): void {
    const cursor = new Cursor(payload);
    // Removals first, whatever their order in the edit: a table that moves is removed and added in one.
    const added: TableFile[] = [];
    while (!cursor.atEnd) this.#field(cursor, added);
    for (const table of added) this.#tables.set(`${table.level}/${table.number}`, table);
  }

  state(): ManifestState {
    const logNumber = this.#numbers.get('log');
    for (const name of ['log', 'next file', 'last sequence'] as const) {
      if (!this.#numbers.has(name)) throw new MalformedError(`it does not say the number of the ${name}`);
    }
    return { tables: [...this.#tables.values()], logNumber: logNumber ?? 0 };
  }

  #field(cursor: Cursor, added: TableFile[]): void {
    const tag = cursor.varint();
    switch (tag) {
      case 1: {
        const name = cursor.string().toString('latin1');
        if (name !== comparator) throw new MalformedError(`its keys are ordered by ${name}`);
        return;
      }
      case 2:
        this.#numbers.set('log', cursor.varint());
        return;
      case 3:
        this.#numbers.set('next file', cursor.varint());
        return;
      case 4:
        this.#numbers.set('last sequence', cursor.varint());
        return;
      case 5: // where a compaction goes on
        readLevel(cursor);
        cursor.string();
        return;
      case 6:
        this.#tables.delete(`${readLevel(cursor)}/${cursor.varint()}`);
        return;
      case 7:
        added.push({
          level: readLevel(cursor),
          number: cursor.varint(),
          size: cursor.varint(),
          smallest: userKey(cursor.string()),
          largest: userKey(cursor.string()),
        });
        return;
      case 9:
        this.#numbers.set('previous log', cursor.varint());
        return;
      default:
        throw new MalformedError(`it holds the unknown tag ${tag}`);
    }
  }
}

function readLevel(cursor: Cursor): number {
  const level = cursor.varint();
  if (level >= levels) throw new MalformedError(`it names level ${level}`);
  return level;
}
