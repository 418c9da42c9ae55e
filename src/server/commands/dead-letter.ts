// `lazuli dead-letter ...`: where the messages of a queue go that were handed out too often.

import type { DeadLetterOf } from '../../services/queue/queues.js';
import { type CommandLine, UsageError } from '../command-line.js';
import { formOf } from '../command-table.js';
import { accountOf, client, type Reach, reach, stepOf, word } from './reach.js';

type Step = (line: CommandLine, at: Reach) => Promise<number>;

const steps: Readonly<Record<string, Step>> = { set, list, delete: remove };

export function deadLetter(line: CommandLine): Promise<number> {
  return stepOf(line, steps)(line, reach(line));
}

async function set(line: CommandLine, at: Reach): Promise<number> {
  const queue = word(line, 1, 'a queue');
  const target = word(line, 2, 'another queue');
  const afterDequeues = Number(line.words[3] ?? 5);
  if (Number.isNaN(afterDequeues))
    throw new UsageError(`${line.words[3]} is no number: lazuli ${formOf('dead-letter', ['set'])}`);
  const body = { account: accountOf(at), queue, target, afterDequeues };
  await using admin = await client(at);
  const made = await admin.call('PUT', '/api/dead-letter', body);
  at.tell(made, [
    `A message of ${queue} that was handed out ${afterDequeues} times goes to ${target} when it is due again.`,
  ]);
  return 0;
}

async function list(_: CommandLine, at: Reach): Promise<number> {
  await using admin = await client(at);
  const found = (await admin.call('GET', '/api/dead-letter')) as DeadLetterOf[];
  const lines = found.map(
    ({ account, queue, target, afterDequeues }) => `${account}/${queue} -> ${target} after ${afterDequeues}`,
  );
  at.tell(found, lines.length === 0 ? ['No queue has one.'] : lines);
  return 0;
}

async function remove(line: CommandLine, at: Reach): Promise<number> {
  const queue = word(line, 1, 'a queue');
  await using admin = await client(at);
  const made = await admin.call('PUT', '/api/dead-letter', { account: accountOf(at), queue });
  at.tell(made, [`Messages of ${queue} stay there.`]);
  return 0;
}
