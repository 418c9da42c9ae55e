// How fast are the services beside Azurite and beside a bare node:http answer, in one run? 1 KiB, SAS, ours with
// every acknowledged write on disk, Azurite as it comes. As ratios: the machine is shared and noisy.

import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import type { Bench, Size } from './main.js';
import type { ServiceLoad, ServiceLoadDone } from './service-load.js';
import { startAzurite, startLazuli, type Target } from './targets.js';

type Service = 'blob' | 'queue' | 'table';

interface Work {
  readonly name: string;
  readonly service: Service;
  readonly method: string;
  /** After the account, with placeholders. */
  readonly path: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  /** At least so many times Azurite, at 16 and at 64 connections. */
  readonly aim: readonly [number, number];
  /** Whether a bare answer says something about it. */
  readonly bare?: boolean;
}

const kilobyte = 'x'.repeat(1024);
const message = `<QueueMessage><MessageText>${'x'.repeat(900)}</MessageText></QueueMessage>`;
const entity = `{"PartitionKey":"p","RowKey":"{n}","text":"${'x'.repeat(900)}"}`;
const json = ['Content-Type: application/json', 'Accept: application/json;odata=nometadata'];
const rounds = 500;

// biome-ignore format: a table
const works: readonly Work[] = [
  { name: 'Get Blob',      service: 'blob',  method: 'GET',  path: '/bench/get{i}',                        aim: [15, 15], bare: true },
  { name: 'Put Blob',      service: 'blob',  method: 'PUT',  path: '/bench/put{n}', headers: ['x-ms-blob-type: BlockBlob'], body: kilobyte, aim: [10, 18], bare: true },
  { name: 'Put Message',   service: 'queue', method: 'POST', path: '/bench/messages', body: message,       aim: [10, 15] },
  { name: 'Get Messages',  service: 'queue', method: 'GET',  path: '/bench/messages?visibilitytimeout=600', aim: [200, 200] },
  { name: 'Insert Entity', service: 'table', method: 'POST', path: '/bench', headers: [...json, 'Prefer: return-no-content'], body: entity, aim: [4, 8] },
  { name: 'point query',   service: 'table', method: 'GET',  path: "/bench(PartitionKey='p',RowKey='get{i}')", headers: json, aim: [8, 8] },
];

const sas = signSas(
  { service: 'blob', account: developmentAccount.name },
  { sv: '2021-12-02', ss: 'bqt', srt: 'sco', sp: 'rwdlacup', se: '2099-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);

const seconds: Record<Size, number> = { small: 0.1, full: 3 };

export function servicesBench(only?: Service): Bench {
  return async (size, print) => {
    await using ours = await startLazuli();
    await using azurite = size === 'full' ? await startAzurite() : undefined;
    const targets = azurite === undefined ? [ours] : [ours, azurite];
    for (const one of targets) await prepare(one, only);
    const bare = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200, ['Content-Length', '1024']).end(kilobyte));
    }).listen(0, '127.0.0.1');
    await once(bare, 'listening');
    const worker = new Worker(new URL('./service-load.js', import.meta.url));
    const run = async (job: ServiceLoad): Promise<ServiceLoadDone> => {
      worker.postMessage(job);
      return (await once(worker, 'message'))[0];
    };
    try {
      for (const work of works.filter(({ service }) => only === undefined || service === only)) {
        for (const connections of size === 'full' ? [1, 16, 64] : [4]) {
          await measure(
            work,
            connections,
            seconds[size],
            targets,
            (bare.address() as AddressInfo).port,
            run,
            print,
          );
        }
      }
    } finally {
      await worker.terminate();
      bare.closeAllConnections();
      bare.close();
    }
    return crc32(works.map(({ name }) => name).join()).toString(16);
  };
}

let first = 0;

async function measure(
  work: Work,
  connections: number,
  seconds: number,
  targets: readonly Target[],
  barePort: number,
  run: (job: ServiceLoad) => Promise<ServiceLoadDone>,
  print: (line: string) => void,
): Promise<void> {
  const rates: number[] = [];
  const told: string[] = [];
  for (const one of targets) {
    first += 10_000_000;
    const job = {
      port: one.ports[work.service],
      connections,
      seconds,
      request: requestOf(work),
      first,
      round: rounds,
    };
    const done = await run(job);
    if (done.refused > 0)
      throw new Error(`${one.name}: ${done.refused} refused, the first with ${done.refusal}`);
    rates.push((done.answers / done.ms) * 1000);
    const [p50, p95, p99] = done.percentiles.map((ms) => ms.toFixed(2));
    told.push(`${one.name} ${Math.round(rates.at(-1) ?? 0)}/s (p50 ${p50}, p95 ${p95}, p99 ${p99} ms)`);
  }
  if (work.bare) {
    const done = await run({
      port: barePort,
      connections,
      seconds,
      request: requestOf(work),
      first,
      round: rounds,
    });
    const rate = (done.answers / done.ms) * 1000;
    told.push(`bare ${Math.round(rate)}/s, ours ${(((rates[0] ?? 0) / rate) * 100).toFixed(0)} % of it`);
  }
  if (rates[1] !== undefined) {
    const aim = connections === 1 ? '' : `, aim ${work.aim[connections === 16 ? 0 : 1]} x`;
    told.push(`${((rates[0] ?? 0) / rates[1]).toFixed(1)} x Azurite${aim}`);
  }
  print(`${work.name.padEnd(14)} ${String(connections).padStart(3)} connections: ${told.join('; ')}`);
}

function requestOf({ method, path, headers = [], body = '' }: Work): string {
  const target = `/${developmentAccount.name}${path}${path.includes('?') ? '&' : '?'}${sas}`;
  const length = body.replaceAll('{n}', '0'.repeat(12)).length;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'x-ms-version: 2021-12-02',
    ...headers,
    ...(body === '' ? [] : [`Content-Length: ${length}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Containers, queues, tables, and what is read. */
async function prepare(one: Target, only: Service | undefined): Promise<void> {
  const send = (
    service: Service,
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body = '',
  ) =>
    ask(
      one.ports[service],
      method,
      `/${developmentAccount.name}${path}${path.includes('?') ? '&' : '?'}${sas}`,
      headers,
      body,
    );
  const names = [...Array(rounds).keys()].map((i) => `get${String(i).padStart(6, '0')}`);
  if (only === undefined || only === 'blob') {
    await send('blob', 'PUT', '/bench?restype=container');
    for (const name of names)
      await send('blob', 'PUT', `/bench/${name}`, { 'x-ms-blob-type': 'BlockBlob' }, kilobyte);
  }
  if (only === undefined || only === 'queue') await send('queue', 'PUT', '/bench');
  if (only === undefined || only === 'table') {
    const type = { 'Content-Type': 'application/json', Accept: 'application/json;odata=nometadata' };
    await send('table', 'POST', '/Tables', type, '{"TableName":"bench"}');
    for (const name of names) {
      await send(
        'table',
        'POST',
        '/bench',
        type,
        `{"PartitionKey":"p","RowKey":"${name}","text":"${'x'.repeat(900)}"}`,
      );
    }
  }
}

function ask(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const all = {
      'x-ms-version': '2021-12-02',
      'Content-Length': String(Buffer.byteLength(body)),
      ...headers,
    };
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: all }, (response) => {
      response.resume().on('end', () => {
        if ((response.statusCode ?? 500) < 300) resolve();
        else reject(new Error(`${method} ${path}: ${response.statusCode}`));
      });
    });
    request.on('error', reject).end(body);
  });
}
