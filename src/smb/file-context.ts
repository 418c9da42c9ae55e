// What operations on files need of a call: the store, the lock table, and how to wait for another client.

import { type Identity, keyHolder } from '../services/file/acl-rules.js';
import type { FileContext } from '../services/file/attempts.js';
import { modified } from '../services/file/changes.js';
import type { Volume } from '../services/file/file-system.js';
import { FileRefused } from '../services/file/refusals.js';
import type { Call } from './call.js';
import type { FileOpen } from './open.js';

export function fileContext(call: Call, volume: Volume): FileContext {
  const wait = (changed: Promise<void>) => call.wait(cancellable(changed));
  return { volume, opens: call.connection.server.opens, judged: judgedOf(call), wait };
}

/** Whose permissions count, if any do: whoever has logged on has a key of the account. */
export function judgedOf(call: Call): Identity | undefined {
  return call.connection.server.settings.aclMode === 'enforce' ? keyHolder : undefined;
}

/** Tells those who watch its directory that a file was changed. */
export async function postModified(call: Call, open: FileOpen, kinds: number): Promise<void> {
  const { watches } = call.connection.server;
  if (watches.count === 0) return;
  const node = await open.volume.node(open.file);
  if (node) await watches.post(open.volume, [modified(node, kinds)]);
}

function cancellable(work: Promise<void>): { result: Promise<void>; cancel(): void } {
  let cancel: () => void = () => {};
  const cancelled = new Promise<never>((_, reject) => {
    cancel = () => reject(new FileRefused('Cancelled'));
  });
  return { result: Promise.race([work, cancelled]), cancel };
}
