// How fast are the services beside Azurite and beside a bare node:http answer, in one run? SAS, ours with every
// acknowledged write on disk, Azurite as it comes. All three are processes of their own that get the same bytes
// from the same thread, in turns; each figure is the median of its rounds.

import { crc32 } from 'node:zlib';
import { remote } from '#src/server/admin/client.js';
import { dataFolder } from '#src/server/data-folder.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { type Contender, compare, Loader, type Score } from './loader.js';
import type { Bench, Size } from './main.js';
import { messageCycles } from './message-cycles.js';
import {
  type Asked,
  block,
  entity,
  json,
  kilobyte,
  message,
  requestOf,
  type Service,
  sas,
} from './requests.js';
import { startAzurite, startBare, startLazuli, type Target } from './targets.js';

interface Work extends Asked {
  readonly name: string;
  readonly connections: readonly number[];
  /** At least so many times Azurite, at the second and the third number of connections. */
  readonly aims: readonly [number?, number?];
  /** Whether a bare answer says something about it, and which share of it ours should be, in hundredths. */
  readonly bare?: number;
  /** So many bytes in each, where it is they that count. */
  readonly bytes?: number;
}

const largeBytes = 4 * 1024 * 1024;
const large = 'x'.repeat(largeBytes);
const noEcho = [...json, 'Prefer: return-no-content'];

const few = [1, 16, 64];
const four = [4];
const sixteen = [16];

const multipart = ['Content-Type: multipart/mixed; boundary=batch_1', 'Accept: application/json'];
/** 100 inserts in one transaction. */
const batch = [
  '--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n',
  ...Array.from({ length: 100 }, (_, at) =>
    [
      '--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n',
      `POST http://127.0.0.1/${developmentAccount.name}/bench HTTP/1.1`,
      'Content-Type: application/json\r\nAccept: application/json;odata=minimalmetadata',
      'Prefer: return-no-content\r\nDataServiceVersion: 3.0\r\n',
      `{"PartitionKey":"b{nnnnnnnnnn}","RowKey":"${at}","text":"${'x'.repeat(100)}"}`,
    ].join('\r\n'),
  ),
  '--changeset_1--\r\n--batch_1--\r\n',
].join('\r\n');
/** The same twice, so that one can have an index. */
const scanned = `{"PartitionKey":"p","RowKey":"{iiii}","text":"${'x'.repeat(100)}","plain":"{iiii}","indexed":"{iiii}"}`;
const filtered = (property: string) => `/scan()?$filter=${property}%20eq%20%27{iiii}%27`;

// biome-ignore format: a table
const works: readonly Work[] = [
  { name: 'Get Blob, 1 KiB', service: 'blob',  method: 'GET',  path: '/bench/get{iiii}',                                  connections: few, aims: [15, 15], bare: 40 },
  { name: 'Put Blob, 1 KiB', service: 'blob',  method: 'PUT',  path: '/bench/put{nnnnnnnnnn}', headers: block, body: kilobyte, connections: few, aims: [10, 18], bare: 0 },
  { name: 'Put Message',     service: 'queue', method: 'POST', path: '/bench/messages', body: message,                   connections: few, aims: [10, 15] },
  { name: 'Get Messages',    service: 'queue', method: 'GET',  path: '/full/messages?visibilitytimeout=10',              connections: few, aims: [200, 200] },
  { name: 'Insert Entity',   service: 'table', method: 'POST', path: '/bench', headers: noEcho, body: entity('{nnnnnnnnnn}'), connections: few, aims: [4, 8] },
  { name: 'point query',     service: 'table', method: 'GET',  path: "/bench(PartitionKey='p',RowKey='get{iiii}')", headers: json, connections: few, aims: [8, 8] },
  { name: 'batch of 100',    service: 'table', method: 'POST', path: '/$batch', headers: multipart, body: batch,           connections: sixteen, aims: [] },
  { name: 'page of 1,000',   service: 'table', method: 'GET',  path: '/scan()?$top=1000', headers: json,                  connections: sixteen, aims: [] },
  { name: 'filter',          service: 'table', method: 'GET',  path: filtered('plain'), headers: json,                    connections: sixteen, aims: [] },
  { name: 'filter, index',   service: 'table', method: 'GET',  path: filtered('indexed'), headers: json,                  connections: sixteen, aims: [] },
  { name: 'Get Blob, 4 MiB', service: 'blob',  method: 'GET',  path: '/bench/4m',                               bytes: largeBytes, connections: four, aims: [], bare: 60 },
  { name: 'Put Blob, 4 MiB', service: 'blob',  method: 'PUT',  path: '/bench/{iiii}4m', headers: block, body: large, bytes: largeBytes, connections: four, aims: [], bare: 55 },
];

interface Scale {
  readonly rounds: number;
  readonly seconds: number;
  /** How many blobs and entities there are to be read. */
  readonly stored: number;
}

const scales: Record<Size, Scale> = {
  small: { rounds: 1, seconds: 0.05, stored: 50 },
  full: { rounds: 3, seconds: 1, stored: 500 },
};

/** One line of the answer. */
export interface Row {
  readonly work: string;
  readonly connections: number;
  readonly ours: Score;
  readonly azurite: Score | undefined;
  readonly bare: Score | undefined;
  readonly aim: number | undefined;
  readonly aimOfBare: number | undefined;
  readonly bytes: number | undefined;
}

export function servicesBench(only?: Service, told?: (row: Row) => void): Bench {
  return async (size, print) => {
    await using ours = await startLazuli();
    await using azurite = size === 'full' ? await startAzurite() : undefined;
    await using bare = await startBare();
    await using loader = new Loader();
    const chosen = works.filter(({ service }) => only === undefined || service === only);
    for (const target of [ours, azurite]) if (target) await prepare(loader, target, size, chosen);
    for (const work of chosen) {
      for (const [at, connections] of (size === 'full' ? work.connections : [4]).entries()) {
        const row = await measure(loader, work, connections, size, [ours, azurite, bare]);
        const aimed = { ...row, aim: work.aims[at - 1] };
        told?.(aimed);
        print(shown(aimed));
      }
    }
    if (only === 'queue') {
      const path = `/${developmentAccount.name}/cycle`;
      const targets = azurite ? [ours, azurite] : [ours];
      if (azurite) await emptyQueues(loader, azurite);
      await messageCycles(size, targets, { path, sas, body: message }, print);
    }
    return crc32(chosen.map(({ name }) => name).join()).toString(16);
  };
}

async function measure(
  loader: Loader,
  work: Work,
  connections: number,
  size: Size,
  [ours, azurite, bare]: readonly [Target, Target | undefined, Target],
): Promise<Omit<Row, 'aim'>> {
  const { rounds, seconds, stored } = scales[size];
  const contender = ({ name, pid, ports }: Target): Contender => ({
    name,
    pid,
    mayRefuse: name !== ours.name,
    job: {
      port: ports[work.service],
      connections,
      request: requestOf(work),
      round: work.bytes ? 16 : stored,
    },
  });
  const asked = [ours, ...(azurite ? [azurite] : []), ...(work.bare === undefined ? [] : [bare])];
  const scores = await compare(loader, asked.map(contender), rounds, seconds);
  const of = (target: Target | undefined) => scores.find(({ name }) => name === target?.name);
  return {
    work: work.name,
    connections,
    ours: of(ours) as Score,
    azurite: of(azurite),
    bare: of(bare),
    aimOfBare: work.bare === 0 ? undefined : work.bare,
    bytes: work.bytes,
  };
}

function shown({ work, connections, ours, azurite, bare, aim, aimOfBare, bytes }: Row): string {
  const told: string[] = [];
  for (const score of [ours, azurite, bare]) {
    if (score === undefined) continue;
    const { name, perSecond, p50, p95, p99, processorUs } = score;
    const rate =
      bytes === undefined ? `${Math.round(perSecond)}/s` : `${Math.round((perSecond * bytes) / 1e6)} MB/s`;
    const cpu = processorUs === undefined ? '' : `, cpu ${Math.round(processorUs)} us`;
    const times = [p50, p95, p99].map((ms) => ms.toFixed(2)).join('/');
    told.push(`${name} ${rate} (p50/95/99 ${times} ms${cpu})`);
  }
  if (azurite !== undefined) {
    const times = (ours.perSecond / azurite.perSecond).toFixed(1);
    told.push(`${times} x Azurite${aim === undefined ? '' : ` (aim ${aim})`}`);
  }
  if (bare !== undefined) {
    const share = ((ours.perSecond / bare.perSecond) * 100).toFixed(0);
    told.push(`${share} % of bare${aimOfBare === undefined ? '' : ` (aim ${aimOfBare})`}`);
  }
  return `${work.padEnd(15)} ${String(connections).padStart(2)} connections: ${told.join('; ')}`;
}

/** What is in other queues makes each request of Azurite slower; it goes the way of a message without. Ours keeps all. */
async function emptyQueues(loader: Loader, { ports }: Target): Promise<void> {
  for (const path of ['/bench', '/full']) {
    const request = requestOf({ service: 'queue', method: 'DELETE', path });
    await loader.run({
      port: ports.queue,
      connections: 1,
      seconds: Number.POSITIVE_INFINITY,
      requests: 1,
      request,
      round: 1,
    });
  }
}

/** Containers, queues and tables, and what is read: the same in each server. */
async function prepare(loader: Loader, target: Target, size: Size, chosen: readonly Work[]): Promise<void> {
  const send = (asked: Asked, requests = 1) =>
    loader.run({
      port: target.ports[asked.service],
      connections: Math.min(requests, 64),
      seconds: Number.POSITIVE_INFINITY,
      requests,
      request: requestOf(asked),
      round: requests,
    });
  const { stored } = scales[size];
  const uses = (service: Service) => chosen.some((work) => work.service === service);
  if (uses('blob')) {
    const put = { service: 'blob', method: 'PUT', headers: block } as const;
    await send({ ...put, path: '/bench?restype=container' });
    await send({ ...put, path: '/bench/get{iiii}', body: kilobyte }, stored);
    await send({ ...put, path: '/bench/4m', body: large });
  }
  if (uses('queue')) {
    await send({ service: 'queue', method: 'PUT', path: '/bench' });
    await send({ service: 'queue', method: 'PUT', path: '/full' });
    await send({ service: 'queue', method: 'PUT', path: '/cycle' });
    // So many that none of them runs dry. Azurite is slower the more there are: it gets as few as will do.
    const messages = size === 'small' ? 500 : target.name === 'Lazuli' ? 100_000 : 1_000;
    await send({ service: 'queue', method: 'POST', path: '/full/messages', body: message }, messages);
  }
  if (uses('table')) {
    const post = { service: 'table', method: 'POST', headers: json } as const;
    await send({ ...post, path: '/Tables', body: '{"TableName":"bench"}' });
    await send({ ...post, path: '/bench', body: entity('get{iiii}') }, stored);
    await send({ ...post, path: '/Tables', body: '{"TableName":"scan"}' });
    await send({ ...post, path: '/scan', body: scanned }, stored * 4);
    if (target.name === 'Lazuli') {
      const admin = await remote(dataFolder(target.folder));
      await admin?.call('PUT', '/api/table-index', {
        account: developmentAccount.name,
        table: 'scan',
        property: 'indexed',
      });
    }
  }
}
