// The built program as a target: state to work on, requests that are sent as bytes, and a look at whether it is well.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { signSas } from '#src/http/auth/sign.js';
import type { ServiceName } from '#src/http/call.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { Program } from '../support/restartable.js';
import { Wire, type WireAnswer, type WireRequest } from '../support/wire.js';

export const seed = Number(process.env.LAZULI_SEED ?? 1);
/** How much longer than in every run. */
export const effort = process.env.LAZULI_FULL ? 20 : 1;
/** Stands beside the data; whoever can read it has left the folder. */
export const secret = 'this must never be read';
export const account = developmentAccount.name;

/** Opens everything. */
export const sas = signSas(
  { service: 'blob', account },
  { sv: '2021-08-06', ss: 'bqtf', srt: 'sco', sp: 'rwdxylacuptfi', se: '2100-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);

export interface Target {
  readonly program: Program;
  /** What the data folder lies in. */
  readonly folder: string;
}

export async function givenTarget(t: TestContext): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-hostile-'));
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'secret.txt'), secret);
  writeFileSync(join(folder, 'inner', 'secret.txt'), secret);
  const program = await Program.start(join(folder, 'inner', 'data'));
  t.after(async () => {
    await program.kill();
    rmSync(folder, { recursive: true });
  });
  return { program, folder };
}

/** It answers, it told of no bug, and it stops when it is asked to. */
export async function checkWell({ program }: Target): Promise<void> {
  assert.ok(!program.hasEnded, `the server ended: ${program.complaints}`);
  assert.equal(program.complaints, '', 'the server told of a bug');
  for (const service of ['blob', 'queue', 'table', 'file'] as const) {
    const path = service === 'table' ? '/Tables' : '/?comp=list';
    const answer = await send(program, service, { method: 'GET', target: `/${account}${path}` }, 10_000);
    assert.equal(typeof answer === 'string' ? answer : answer.status, 200, `${service} answers`);
  }
  assert.equal(await program.stop(), 0, 'it stops when it is asked to');
}

/** What there is to work on; made again when it may be gone. */
export async function makeState(program: Program): Promise<void> {
  const json = { 'Content-Type': 'application/json' };
  const requests: [ServiceName, string, string, Record<string, string>?, string?][] = [
    ['blob', 'PUT', '/box?restype=container'],
    ['blob', 'PUT', '/box/thing', { 'x-ms-blob-type': 'BlockBlob' }, 'some content'],
    ['blob', 'PUT', '/box/log', { 'x-ms-blob-type': 'AppendBlob' }],
    ['queue', 'PUT', '/box'],
    ['queue', 'POST', '/box/messages', {}, '<QueueMessage><MessageText>x</MessageText></QueueMessage>'],
    ['table', 'POST', '/Tables', json, '{"TableName":"box"}'],
    ['table', 'POST', '/box', json, '{"PartitionKey":"p","RowKey":"r","a":1}'],
    ['file', 'PUT', '/box?restype=share'],
    ['file', 'PUT', '/box/thing', { 'x-ms-type': 'file', 'x-ms-content-length': '100' }],
  ];
  for (const [service, method, path, headers = {}, body = ''] of requests) {
    await send(program, service, { method, target: `/${account}${path}`, headers, body }, 10_000);
  }
}

export function withSas(target: string): string {
  return `${target}${target.includes('?') ? '&' : '?'}${sas}`;
}

/** The answer; or how it ended without one: `closed`, `hung`, `not HTTP`. */
export async function send(
  program: Program,
  service: ServiceName,
  request: WireRequest,
  patienceMs: number,
): Promise<WireAnswer | string> {
  const headers = { 'x-ms-version': '2025-01-05', ...request.headers };
  return sendWith(program, service, patienceMs, request.method, (wire) =>
    wire.request({ ...request, target: withSas(request.target), headers }),
  );
}

export async function sendWith(
  program: Program,
  service: ServiceName,
  patienceMs: number,
  method: string | undefined,
  write: (wire: Wire) => void,
): Promise<WireAnswer | string> {
  const wire = await Wire.open({ port: program.ports[service] });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('hung'), patienceMs);
  });
  try {
    write(wire);
    const answer = wire
      .answer(method)
      .catch((error: Error) => (error.message.startsWith('not an answer') ? error.message : 'closed'));
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    wire.close();
  }
}
