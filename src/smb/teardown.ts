// What ends with what: a handle, a tree with its handles, a session with its trees.

import { action, nameChange } from '../services/file/changes.js';
import { closeFile } from '../services/file/close-file.js';
import type { Volume } from '../services/file/file-system.js';
import type { OpenHandle } from '../services/file/open-handles.js';
import type { Connection } from './connection.js';
import type { Open } from './open.js';
import type { ServerContext } from './server.js';
import type { Session } from './session.js';

/** Closes one open and runs what its closing means for the file. */
export async function closeOpen(server: ServerContext, session: Session, open: Open): Promise<void> {
  if (!session.opens.delete(open.id)) return;
  if (open.kind !== 'file') return;
  server.durables.forget(open);
  if (open.watch) server.watches.remove(open.volume.id, open.watch);
  await closeHandle(server, open.volume, open.handle);
}

/** Closes a handle; if the file goes with it, those who watch its directory are told. */
export async function closeHandle(server: ServerContext, volume: Volume, handle: OpenHandle): Promise<void> {
  const closed = await closeFile(volume, server.opens, handle);
  if (closed.markedDirectory) server.watches.endDirectory(volume.id, handle.file);
  if (closed.removed) await server.watches.post(volume, [nameChange(closed.removed, action.removed)]);
}

async function closeOpens(server: ServerContext, session: Session, opens: readonly Open[]): Promise<void> {
  for (const open of opens) {
    // One file that cannot be removed must not keep the rest open.
    await closeOpen(server, session, open).catch((error) => server.report(error));
  }
}

export async function endTree(server: ServerContext, session: Session, treeId: number): Promise<void> {
  const tree = session.trees.get(treeId);
  session.trees.delete(treeId);
  await closeOpens(
    server,
    session,
    [...session.opens.values()].filter((open) => open.tree === tree),
  );
}

/** Ends a session and closes what it has open. `lost`: durable handles wait for their client to come back. */
export async function endSession(connection: Connection, session: Session, lost = false): Promise<void> {
  const { server } = connection;
  session.ended = true;
  connection.sessions.delete(session.id);
  server.sessions.delete(session.id);
  session.trees.clear();
  if (lost) {
    for (const open of [...session.opens.values()]) {
      if (open.kind === 'file') server.durables.keep(server, session, open);
    }
  }
  await closeOpens(server, session, [...session.opens.values()]);
  connection.waits.cancelAll(session);
  // Whoever logged off may stay a while; whoever never logged on has its first time limit still.
  if (session.secured && connection.sessions.size === 0) connection.expect(server.limits.idleMs);
}
