// Another server that sources are copied from: it holds what it is told to hold, and answers as fast as it is let.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Foreign {
  readonly url: string;
  /** Every request that came. */
  readonly requests: IncomingMessage[];
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function foreignServer(t: Pick<TestContext, 'after'>, answer: Answer): Promise<Foreign> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/source`, requests };
}

/** Serves bytes with an ETag, and ranges of them, as any web server does. */
export function serving(content: Buffer, headers: Readonly<Record<string, string>> = {}): Answer {
  return (request, response) => {
    const all = { ETag: '"v1"', 'Content-Type': 'text/plain', ...headers };
    const match = request.headers['if-match'];
    if (match !== undefined && match !== all.ETag) return void response.writeHead(412).end();
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    if (first === undefined) {
      response.writeHead(200, { ...all, 'Content-Length': content.length }).end(content);
      return;
    }
    const part = content.subarray(Number(first), last === '' ? undefined : Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${content.length}`;
    response.writeHead(206, { ...all, 'Content-Length': part.length, 'Content-Range': range }).end(part);
  };
}
