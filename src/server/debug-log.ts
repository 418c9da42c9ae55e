// `--debug file`: all that happens, a line of JSON each (pino), for who wants to find out why. Every text of a client
// passes through `redact`.

import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { redact } from '../http/auth/redact.js';
import { clientIdOf } from '../http/call.js';
import type { Finished } from '../http/exchange.js';
import { shownUrl } from './access-log.js';

export interface DebugLog {
  finished(finished: Finished): void;
  failed(error: unknown, requestId?: string, operation?: string): void;
  said(line: string): void;
  close(): Promise<void>;
}

const longestDetail = 4096;

export async function openDebugLog(file: string): Promise<DebugLog> {
  const { default: pino } = await import('pino');
  // Before pino has it: that would still write to what it could not open when the process ends.
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, '');
  const destination = pino.destination({ dest: file, sync: false });
  await new Promise<void>((resolve, reject) => {
    destination.once('ready', () => resolve());
    destination.once('error', reject);
  });
  const log = pino({ level: 'debug', base: { pid: process.pid } }, destination);
  return {
    finished: (finished) => log.info(describe(finished), 'request'),
    failed: (error, requestId, operation) => log.error({ err: error, requestId, operation }, 'failed'),
    said: (line) => log.info(line),
    close: () =>
      new Promise((resolve) => {
        destination.once('close', () => resolve());
        destination.end();
      }),
  };
}

function describe({ reply, head, ms, isComplete, service, bytesIn, bytesOut }: Finished): object {
  const isRefusal = reply.errorCode !== undefined;
  return {
    service,
    operation: reply.operation,
    method: head.method,
    url: shownUrl(head.url),
    status: reply.status,
    ...(isRefusal && { error: reply.errorCode, detail: detailOf(reply.body) }),
    ms: Math.round(ms * 10) / 10,
    requestId: reply.id,
    clientRequestId: clientIdOf(head.headers),
    version: head.headers['x-ms-version'],
    userAgent: redact(head.headers['user-agent'] ?? '').slice(0, 512),
    remote: head.remoteAddress,
    bytesIn,
    bytesOut,
    isComplete,
  };
}

/** What the client was told: of a 403, which string was to be signed. */
function detailOf(body: unknown): string | undefined {
  return typeof body === 'string' ? redact(body).slice(0, longestDetail) : undefined;
}
