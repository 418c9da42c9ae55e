// Who holds a handle, as the lock table knows it: shown over REST, and told of breaks and of a forced close.

import type { BreakNotice } from '../../services/file/caches.js';
import type { HandleOwner } from '../../services/file/open-handles.js';
import type { Call } from '../call.js';
import type { Session } from '../session.js';
import { sendBreak } from './oplock-break.js';

export function handleOwner(call: Call, session: Session, id: bigint): HandleOwner {
  const { connection } = call;
  const { server } = connection;
  return {
    sessionId: session.id,
    client: `${connection.address}:${connection.socket.remotePort ?? 0}`,
    clientName: session.secured?.user.workstation ?? '',
    openedAt: server.now(),
    breaking: (notice: BreakNotice) => sendBreak(connection, session, notice),
    closed: () => {
      const open = session.opens.get(id);
      if (open?.kind === 'file') server.durables.forget(open);
      session.opens.delete(id);
    },
  };
}
