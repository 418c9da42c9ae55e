// A message that was received is one request or a chain of them; here it is cut into requests.

import { Hangup } from './status.js';
import { flags, type Header, header } from './wire/header.js';
import { headerSize } from './wire/struct.js';

export interface Part {
  readonly header: Header;
  /** The request alone, header and padding included. */
  readonly message: Buffer;
  /** It cannot be told where the next one begins, or it claims to follow one that is not there. */
  readonly malformed: boolean;
}

const longestChain = 64;

/** The requests of a message, in order. What breaks the protocol itself ends the connection. */
export function splitChain(message: Buffer): Part[] {
  const parts: Part[] = [];
  let noFirst = false;
  for (let at = 0; ; ) {
    const rest = message.subarray(at);
    const head = readHeader(rest);
    const related = (head.flags & flags.related) !== 0;
    noFirst = related && (parts.length === 0 || noFirst);
    const next = head.nextCommand;
    const lost = next !== 0 && (next % 8 !== 0 || next < headerSize || next + headerSize > rest.length);
    const endless = next !== 0 && parts.length + 1 === longestChain;
    const own = next === 0 || lost ? rest : rest.subarray(0, next);
    parts.push({ header: head, message: own, malformed: lost || endless || noFirst });
    if (next === 0 || lost || endless) return parts;
    at += next;
  }
}

function readHeader(message: Buffer): Header {
  if (message.length < headerSize) throw new Hangup('message shorter than its header');
  let head: Header;
  try {
    head = header.read(message);
  } catch {
    throw new Hangup('wrong header size');
  }
  if (head.flags & flags.response) throw new Hangup('a response was received');
  return head;
}
