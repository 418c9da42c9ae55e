// How fast is the file service over HTTP, every acknowledged write on disk? Put Range and Get File of 4 KiB and 4 MiB,
// Create File, a listing of 1,000 of 10,000 files. There is nothing to compare it with: no other server has it.

import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { crc32 } from 'node:zlib';
import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import type { Bench, Size } from './main.js';
import { startLazuli } from './targets.js';

const sas = signSas(
  { service: 'file', account: developmentAccount.name },
  { sv: '2021-12-02', ss: 'f', srt: 'sco', sp: 'rwdlc', se: '2099-01-01T00:00:00Z' },
  Buffer.from(developmentAccount.keys[0], 'base64'),
);

interface Work {
  readonly name: string;
  readonly bytes: number;
  readonly connections: readonly number[];
  request(n: number): Ask;
}

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

const small = 4096;
const large = 4 * 2 ** 20;
const spread = 16;
const bytesOf = { [small]: Buffer.alloc(small, 'lazuli '), [large]: Buffer.alloc(large, 'lazuli ') };

function put(path: string, at: number, size: number): Ask {
  const range = `bytes=${at}-${at + size - 1}`;
  const headers = { 'x-ms-write': 'update', 'x-ms-range': range };
  return { method: 'PUT', path: `${path}?comp=range`, headers, body: bytesOf[size] ?? Buffer.alloc(size) };
}

const create = (path: string, length: number): Ask => ({
  method: 'PUT',
  path,
  headers: { 'x-ms-type': 'file', 'x-ms-content-length': String(length) },
});

const file = (n: number) => `/bench/data/file${n % spread}`;

// biome-ignore format: a table
const works: readonly Work[] = [
  { name: 'Put Range 4 KiB',  bytes: small, connections: [1, 16, 64], request: (n) => put(file(n), (n % 1024) * small, small) },
  { name: 'Get File 4 KiB',   bytes: small, connections: [1, 16, 64], request: (n) => get(file(n), (n % 1024) * small, small) },
  { name: 'Put Range 4 MiB',  bytes: large, connections: [1, 4],      request: (n) => put(file(n), 0, large) },
  { name: 'Get File 4 MiB',   bytes: large, connections: [1, 4],      request: (n) => get(file(n), 0, large) },
  { name: 'Create File',      bytes: 0,     connections: [1, 16, 64], request: (n) => create(`/bench/new/file${n}`, 0) },
  { name: 'List 1,000',       bytes: 0,     connections: [1, 4],      request: () => ({ method: 'GET', path: '/bench/many?restype=directory&comp=list&maxresults=1000' }) },
];

function get(path: string, at: number, size: number): Ask {
  return { method: 'GET', path, headers: { 'x-ms-range': `bytes=${at}-${at + size - 1}` } };
}

const seconds: Record<Size, number> = { small: 0.05, full: 3 };
const listed: Record<Size, number> = { small: 20, full: 10_000 };

export const fileBench: Bench = async (size, print) => {
  await using server = await startLazuli();
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const send = (one: Ask) => ask(server.ports.file, agent, one);
  await send({ method: 'PUT', path: '/bench?restype=share' });
  for (const name of ['data', 'new', 'many']) {
    await send({ method: 'PUT', path: `/bench/${name}?restype=directory` });
  }
  for (let n = 0; n < spread; n++) {
    await send(create(file(n), large));
    await send(put(file(n), 0, large));
  }
  const many = [...Array(listed[size]).keys()];
  await inParallel(many, 32, (n) => send(create(`/bench/many/file${String(n).padStart(6, '0')}`, 10)));
  let next = 0;
  for (const work of works) {
    for (const connections of size === 'full' ? work.connections : [2]) {
      const times: number[] = [];
      const started = performance.now();
      const until = started + seconds[size] * 1000;
      await inParallel([...Array(connections).keys()], connections, async () => {
        do {
          const sent = performance.now();
          await send(work.request(next++));
          times.push(performance.now() - sent);
        } while (performance.now() < until);
      });
      print(told(work, connections, times, performance.now() - started));
    }
  }
  agent.destroy();
  return crc32(works.map(({ name }) => name).join()).toString(16);
};

function told({ name, bytes }: Work, connections: number, times: number[], ms: number): string {
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(2);
  const rate = (times.length / ms) * 1000;
  const through = bytes >= large ? `, ${Math.round((rate * bytes) / 1e6)} MB/s` : '';
  const numbers = `${Math.round(rate)}/s${through} (p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ms)`;
  return `${name.padEnd(16)} ${String(connections).padStart(3)} connections: ${numbers}`;
}

async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let at = next++; at < items.length; at = next++) await work(items[at] as T);
    }),
  );
}

async function ask(port: number, agent: Agent, { method, path, headers, body }: Ask): Promise<void> {
  const target = `/${developmentAccount.name}${path}${path.includes('?') ? '&' : '?'}${sas}`;
  const all = { 'x-ms-version': '2021-12-02', 'Content-Length': String(body?.length ?? 0), ...headers };
  const request = httpRequest({ host: '127.0.0.1', port, agent, method, path: target, headers: all });
  request.end(body);
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode}`);
}
