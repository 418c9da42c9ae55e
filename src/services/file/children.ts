// The entries of a directory in the order of their names in upper case: what there is now, or what a snapshot shows.

import { type Transaction, utf16 } from '../../collections/index.js';
import { fold } from './folding.js';
import type { Entry, FileStore } from './model.js';
import type { View } from './tree.js';

export interface ChildrenOptions {
  readonly directory: number;
  readonly prefix: string;
  /** From this name on, in upper case. */
  readonly from?: string | undefined;
  /** Behind this name. */
  readonly after?: string | undefined;
  readonly pageSize: number;
}

export function children(
  store: FileStore,
  tx: Transaction,
  view: View,
  options: ChildrenOptions,
): AsyncIterable<readonly [key: unknown, entry: Entry]> {
  return view.snapshot === undefined
    ? store.entries.entries(tx, rangeOf(view, options))
    : oldChildren(store, tx, view, view.snapshot, options);
}

function rangeOf({ share }: View, { directory, prefix, from, after, pageSize }: ChildrenOptions) {
  const start = (name: string) => [share.id, directory, utf16(name)] as const;
  return {
    prefix: [share.id, directory],
    ...(prefix === '' ? {} : { startsWith: utf16(fold(prefix)) }),
    ...(from === undefined ? {} : { from: start(from) }),
    ...(after === undefined ? {} : { after: start(fold(after)) }),
    pageSize,
  };
}

/** Current entries that are old enough, and those of the history: one of them at most for each name. */
async function* oldChildren(
  store: FileStore,
  tx: Transaction,
  view: View,
  snapshot: number,
  options: ChildrenOptions,
): AsyncGenerator<readonly [key: unknown, entry: Entry]> {
  const { after, ...rest } = rangeOf(view, options);
  const behind = after === undefined ? rest : { ...rest, from: after };
  const current = store.entries.entries(tx, behind)[Symbol.asyncIterator]();
  const history = store.history.entries(tx, behind)[Symbol.asyncIterator]();
  let [now, then] = [await current.next(), await history.next()];
  while (!now.done || !then.done) {
    const isCurrent = then.done || (!now.done && now.value[0][2].text <= then.value[0][2].text);
    const step = isCurrent ? now : then;
    if (step.done) return;
    const [key, entry] = step.value;
    const until = isCurrent ? Number.POSITIVE_INFINITY : (key[3] as number);
    const passed = after !== undefined && key[2].text === after[2].text;
    if (entry.epoch <= snapshot && snapshot <= until && !passed) yield [key, entry];
    if (isCurrent) now = await current.next();
    else then = await history.next();
  }
}
