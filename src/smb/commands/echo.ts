// ECHO, which a client sends to see whether the server is there, and CANCEL, which has no answer.

import type { Call, Reply } from '../call.js';
import { emptyBody } from '../wire/header.js';

export function echo(call: Call): Reply {
  emptyBody.read(call.message);
  return { body: emptyBody.make({}) };
}

/** Done by the connection, which knows who waits. */
export function cancel(): Reply {
  return { body: emptyBody.make({}) };
}
