// Another server that sources are copied from: it holds what it is told to hold, and answers as fast as it is let.

import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { header, type Resource } from './resource.js';
import { gives, type TestServer } from './server.js';

export interface Foreign {
  readonly url: string;
  /** Every request that came. */
  readonly requests: IncomingMessage[];
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function foreignServer(
  t: Pick<TestContext, 'after'>,
  answer: Answer,
  port = 0,
): Promise<Foreign> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
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

/** What a slow source has. */
export const content = Buffer.alloc(300_000, 'slowly');

/** A source that can be asked once; later it breaks off after some bytes. */
export function breakingOff(): Answer {
  let asked = 0;
  return (request, response) => {
    if (asked++ === 0) return serving(content)(request, response);
    response.writeHead(200, { ETag: '"v1"', 'Content-Length': content.length });
    response.write('half', () => response.destroy());
  };
}

/** A source that sends a part, and the rest when it is let. */
export function slow() {
  const waiting: ServerResponse[] = [];
  return {
    answer: (_: unknown, response: ServerResponse) => {
      response.writeHead(200, {
        ETag: '"v1"',
        'Content-Length': content.length,
        'Content-Type': 'text/slow',
      });
      response.write(content.subarray(0, 100_000));
      waiting.push(response);
    },
    letGo: () => {
      for (const response of waiting.splice(0)) response.end(content.subarray(100_000));
    },
  };
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await holds()); turns++) {
    assert.ok(turns < 100_000, 'it does not come');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Asks until the copy has ended; how it did. */
export async function ended(target: Resource): Promise<string> {
  for (let tries = 0; tries < 500; tries++) {
    const status = header(await gives(target.head(), 200), 'x-ms-copy-status');
    if (status !== 'pending') return status;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return 'pending';
}

/** The same, and the time of each pause before its source is asked again passes at once. */
export async function endedInTime(target: Resource, server: TestServer): Promise<string> {
  for (let tries = 0; tries < 500; tries++) {
    const status = header(await gives(target.head(), 200), 'x-ms-copy-status');
    if (status !== 'pending') return status;
    server.pass(60);
    await server.running.sweep();
  }
  return 'pending';
}
