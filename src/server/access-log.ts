// One line a request on the console, as soon as it is over: time, who, what, how it ended, how long it took and the
// client's own id for it. Nothing in it lets a reader in.
//
//   12:34:56.789 PUT /devstoreaccount1/photos/cat.jpg 201 2.1 ms Put Blob 4c5e1a2b-...
//
// Lines are gathered and written together: a write each would cost as much as the request.

import { redact } from '../http/auth/redact.js';
import { clientIdOf } from '../http/call.js';
import type { Finished } from '../http/exchange.js';

const gatherMs = 20;
const gatherLines = 1000;

export class AccessLog {
  readonly #write: (text: string) => void;
  #lines: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  readonly add = (finished: Finished): void => {
    this.#lines.push(accessLine(finished, Date.now()));
    if (this.#lines.length >= gatherLines) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), gatherMs);
  };

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length > 0) this.#write(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }
}

export function accessLine({ reply, head, ms, isComplete }: Finished, now: number): string {
  const time = new Date(now).toISOString().slice(11, 23);
  const status = isComplete ? String(reply.status) : `${reply.status} cut off`;
  const code = reply.errorCode === undefined ? '' : ` ${reply.errorCode}`;
  const client = clientIdOf(head.headers);
  return `${time} ${head.method} ${shownUrl(head.url)} ${status}${code} ${ms.toFixed(1)} ms ${reply.operation ?? '-'} ${client ?? '-'}`;
}

const longestUrl = 2048;

/** Without what would let its reader in, and on one line. */
export function shownUrl(url: string): string {
  // A signature cannot hide where there is no sign of a query.
  const safe = /[?=%&;]/.test(url) ? redact(url) : url;
  return printable(safe.length > longestUrl ? `${safe.slice(0, longestUrl)}...` : safe);
}

/** A header's bytes arrive as Latin-1: what is not visible ASCII is shown as it would be encoded. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
