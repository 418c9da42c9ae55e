// A source of another service of this server, asked inside the process: it lets in whom it would let in at its port.

import { invalidHeader } from '../services/common/errors.js';
import type { FetchedAnswer, SourceAddress } from '../services/common/sources.js';
import { type AnswerBody, isStream } from './answer.js';
import { bodyOf } from './body.js';
import type { Responder } from './endpoint.js';
import { parseSource } from './source-head.js';
import { newestVersion } from './versions.js';

/** What can be copied: no listing is, nor anything else that the link would open. */
const contents = ['Get Blob', 'Get File'];

export async function fetchOwn(
  endpoint: Pick<Responder, 'respond'>,
  { url, own }: SourceAddress,
  given: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<FetchedAnswer> {
  const { host, path } = parseSource('x-ms-copy-source', url);
  const headers = { 'x-ms-version': newestVersion, ...given, host };
  const head = {
    ...{ method: 'GET', url: path, headers, rawHeaders: Object.entries(headers).flat() },
    remoteAddress: own?.remoteAddress ?? '',
    secure: own?.secure ?? false,
  };
  const reply = await endpoint.respond(head, bodyOf(Buffer.alloc(0)));
  const told: Record<string, string> = {};
  for (let at = 0; at < reply.headers.length; at += 2) {
    told[(reply.headers[at] ?? '').toLowerCase()] = reply.headers[at + 1] ?? '';
  }
  const discard = () => {
    if (isStream(reply.body)) void reply.body[Symbol.asyncIterator]().return?.();
  };
  if (reply.status < 300 && !contents.includes(reply.operation ?? '')) {
    discard();
    throw invalidHeader('x-ms-copy-source', url);
  }
  return { status: reply.status, headers: told, body: chunksOf(reply.body, signal), discard };
}

async function* chunksOf(body: AnswerBody, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  if (body === undefined) return;
  if (!isStream(body)) return yield Buffer.from(body);
  for await (const chunk of body) {
    signal?.throwIfAborted();
    yield chunk;
  }
}
