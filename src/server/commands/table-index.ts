// `lazuli index ...`: indexes on properties of tables, for queries that filter by them.

import type { IndexState } from '../../services/table/indexes.js';
import type { CommandLine } from '../command-line.js';
import { accountOf, client, type Reach, reach, stepOf, word } from './reach.js';

type Step = (line: CommandLine, at: Reach) => Promise<number>;

const steps: Readonly<Record<string, Step>> = { create, list, delete: remove };

export function index(line: CommandLine): Promise<number> {
  return stepOf(line, steps)(line, reach(line));
}

function asked(line: CommandLine, at: Reach) {
  return {
    account: accountOf(at),
    table: word(line, 1, 'a table'),
    property: word(line, 2, 'a property'),
  };
}

async function create(line: CommandLine, at: Reach): Promise<number> {
  const body = asked(line, at);
  await using admin = await client(at);
  const made = (await admin.call('PUT', '/api/table-index', body)) as IndexState;
  const told =
    made.state === 'ready'
      ? 'is there.'
      : admin.isRemote
        ? 'is being built; lazuli index list tells how far it is.'
        : 'will be built when the server runs.';
  at.tell(made, [`The index on ${made.property} of ${made.table} ${told}`]);
  return 0;
}

async function list(_: CommandLine, at: Reach): Promise<number> {
  await using admin = await client(at);
  const found = (await admin.call('GET', '/api/table-index')) as IndexState[];
  const lines = found.map(
    ({ account, table, property, state, done }) =>
      `${account}/${table}  ${property}  ${state}${done === undefined ? '' : `, ${done} entities done`}`,
  );
  at.tell(found, lines.length === 0 ? ['No table has one.'] : lines);
  return 0;
}

async function remove(line: CommandLine, at: Reach): Promise<number> {
  const body = asked(line, at);
  await using admin = await client(at);
  const gone = await admin.call('DELETE', '/api/table-index', body);
  at.tell(gone, [`The index on ${body.property} of ${body.table} is gone.`]);
  return 0;
}
