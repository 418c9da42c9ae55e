// The admin endpoints on the wire: a port for health, metrics and tests, and a socket in the data folder for the
// command line. What changes anything needs the token on the port; who can open the socket owns the data anyway.
// A page of another site cannot get here: the Host must be this machine's, and the token is no cookie.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../command-line.js';
import { hostAndPort, isLoopbackHost, type ServiceAddress } from '../config.js';
import { socketPath } from '../data-folder.js';
import { isTold } from '../told.js';
import { type AdminParts, findRow, type Progress, type Row } from './calls.js';
import { Page, pageHeaders } from './page.js';

export interface Admin {
  readonly token: string;
  /** Nothing until it listens on a port. */
  readonly url: string | undefined;
  listen(address: ServiceAddress): Promise<void>;
  close(): Promise<void>;
}

/** Bodies are small: names, settings, paths. */
const largestBody = 64 * 1024;

export async function openAdmin(parts: AdminParts): Promise<Admin> {
  const token = randomBytes(24).toString('base64url');
  const servers: http.Server[] = [];
  let url: string | undefined;
  const { folder } = parts.store;
  if (folder !== undefined) {
    const path = socketPath(folder);
    rmSync(path, { force: true }); // of a process that was killed: the folder is ours by now
    const server = http.createServer(
      (request, response) => void answer(parts, request, response, () => true),
    );
    await listening(server, { path });
    if (process.platform !== 'win32') chmodSync(path, 0o600);
    servers.push(server);
  }
  return {
    token,
    get url() {
      return url;
    },
    async listen({ host, port }) {
      const server = http.createServer((request, response) => {
        if (!isOwnHost(request.headers.host, host))
          return refuse(response, 421, 'The Host is not of this server.');
        void answer(parts, request, response, () => hasToken(request, token));
      });
      await listening(server, { host, port });
      servers.push(server);
      url = `http://${hostAndPort(host, (server.address() as AddressInfo).port)}`;
    },
    async close() {
      await Promise.all(
        servers.map(
          (server) =>
            new Promise<void>((resolve) => {
              server.close(() => resolve());
              server.closeAllConnections();
            }),
        ),
      );
    },
  };
}

function listening(
  server: http.Server,
  where: { path: string } | { host: string; port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** A name that others can point at this machine is none of its own. */
function isOwnHost(header: string | undefined, host: string): boolean {
  const name = header
    ?.replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  if (name === undefined) return false;
  if (isLoopbackHost(name) || name === host.toLowerCase()) return true;
  // Beyond loopback it is asked for by addresses and by names nobody can list; the token still guards it.
  return !isLoopbackHost(host);
}

function hasToken(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization?.replace(/^Bearer +/i, '') ?? '');
  const wanted = Buffer.from(token);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function answer(
  parts: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
  isTrusted: () => boolean,
): Promise<void> {
  try {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const found = findRow(request.method === 'HEAD' ? 'GET' : (request.method ?? ''), path);
    if (found === undefined) return refuse(response, 404, `there is no ${request.method} ${path}`);
    if (found.row[2] === 'token' && !isTrusted())
      return refuse(response, 401, 'send the token that was printed at start: Authorization: Bearer ...');
    await run(parts, found, await readBody(request), request, response);
  } catch (error) {
    const status = isTold(error) ? 400 : 500;
    if (response.headersSent) response.end(`${JSON.stringify({ error: (error as Error).message })}\n`);
    else refuse(response, status, (error as Error).message);
  }
}

async function run(
  parts: AdminParts,
  { row, name }: { row: Row; name: string },
  body: Readonly<Record<string, unknown>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Who wants to see how far it is gets a line for each step, and the result in the last one.
  const streams = request.headers.accept === 'application/x-ndjson';
  const progress = (done: Progress) => {
    if (!streams) return;
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    response.write(`${JSON.stringify({ progress: done })}\n`);
  };
  const result = await row[3]({ ...parts, name, body, progress });
  if (streams) return void response.end(`${JSON.stringify({ result }, plain)}\n`);
  if (result instanceof Page) {
    response.writeHead(200, { ...pageHeaders, 'Cache-Control': 'no-store' });
    return void response.end(result.html);
  }
  const isText = typeof result === 'string';
  const status = (result as { ready?: boolean } | undefined)?.ready === false ? 503 : 200;
  response.writeHead(status, {
    'Content-Type': isText ? 'text/plain; version=0.0.4; charset=utf-8' : 'application/json',
    'Cache-Control': 'no-store',
  });
  response.end(isText ? result : `${JSON.stringify(result ?? {}, plain, 2)}\n`);
}

/** What JSON has no form for. */
function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value === Number.POSITIVE_INFINITY ? null : value;
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) throw new UsageError(`a request has ${largestBody} bytes at most`);
    chunks.push(chunk);
  }
  if (size === 0) return {};
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new UsageError('the body is not JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new UsageError('the body is no object');
  return body as Record<string, unknown>;
}

function refuse(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(`${JSON.stringify({ error })}\n`);
}
