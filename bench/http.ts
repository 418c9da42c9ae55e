// What does HTTP cost beside node's own? A GET of 1 KiB with a SAS in its URL, answered by a bare node:http
// server and by a row that does nothing, in turns; the load comes from raw sockets in a thread of its own.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { Endpoint } from '#src/http/endpoint.js';
import { Listener } from '#src/http/listen.js';
import type { Row } from '#src/http/operation.js';
import { requestIds } from '#src/http/request-ids.js';
import type { LoadDone } from './load.js';
import { Loader } from './loader.js';
import type { Bench } from './main.js';

const sizes = { small: { rounds: 1, requests: 200 }, full: { rounds: 15, requests: 30_000 } } as const;
const connections = 16;
const body = Buffer.alloc(1024, 'x');

const sas =
  'sv=2021-12-02&ss=b&srt=sco&sp=rwdlac&se=2030-01-01T00%3A00%3A00Z&sig=A5lojdK5n3Pw5daTwv4VhWV4jt%2BL%3D';
const lines = [
  `GET /devstoreaccount1/container/blob.txt?${sas} HTTP/1.1`,
  'Host: 127.0.0.1:10000',
  'Accept: application/xml',
  'User-Agent: azsdk-js-azure-storage-blob/12.34.0',
  'x-ms-version: 2021-12-02',
  'x-ms-client-request-id: 0f8fad5b-d9cb-469f-a165-70867728950e',
  '\r\n',
];
const request = Buffer.from(lines.join('\r\n'));

const rows: readonly Row<null>[] = [
  [
    'Get Blob',
    'GET /{container}/{blob}',
    '',
    '',
    ['o:r', 'r', 'never'],
    ['MNIUT', 'checked'],
    'both',
    () => ({ status: 200, headers: ['Content-Type', 'application/octet-stream'], body }),
  ],
];

export const httpBench: Bench = async (size, print) => {
  const { rounds, requests } = sizes[size];
  const bare = createServer((_, response) => {
    response.writeHead(200, ['Content-Type', 'application/octet-stream', 'Content-Length', '1024']);
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const ours = await Listener.open(endpoint(), { host: '127.0.0.1', port: 0 });
  await using loader = new Loader();
  const ask = (port: number): Promise<LoadDone> =>
    loader.run({ port, connections, requests, seconds: Number.POSITIVE_INFINITY, request, round: 1 });
  const ratios: number[] = [];
  let answers = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const plain = await ask((bare.address() as AddressInfo).port);
      const served = await ask(ours.address.port);
      ratios.push(plain.ms / served.ms);
      answers += plain.answers + served.answers;
      const rate = ({ ms }: LoadDone) => Math.round((requests / ms) * 1000);
      print(`bare ${rate(plain)}/s, a row ${rate(served)}/s`);
    }
  } finally {
    await ours.stop(0);
    bare.closeAllConnections();
    bare.close();
  }
  ratios.sort((a, b) => a - b);
  print(`median of ${rounds} pairs: ${((ratios[rounds >> 1] ?? 0) * 100).toFixed(0)} % of bare`);
  return crc32(`${answers} answers`).toString(16);
};

function endpoint(): Endpoint<null> {
  const account = { secondary: true, cors: [] };
  return new Endpoint<null>({
    name: 'blob',
    service: null,
    operations: rows,
    account: (name) => (name === 'devstoreaccount1' ? account : undefined),
    authorize: () => ({ kind: 'key' }),
    authorizeContext: {
      now: Date.now,
      keys: () => [],
      policies: () => undefined,
      publicAccess: () => undefined,
    },
    translate: () => undefined,
    failed: (error) => {
      throw error;
    },
    newId: requestIds(),
    now: Date.now,
    pathStyleOnly: false,
  });
}
