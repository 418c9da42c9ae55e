// What node:http can do at best: a server that answers and does nothing else, in a process of its own.
//
//   a short GET    1 KiB from memory               a long GET     4 MiB read from a file
//   a short PUT    the body is read and dropped    a long PUT     the body is written to a file and synced
//
// A path that ends in `4m` is long. It is told the folder for its files, and tells its port.

import { createReadStream, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const short = Buffer.alloc(1024, 'x');
const longBytes = 4 * 1024 * 1024;
const folder = process.argv[2] ?? '';
const source = join(folder, 'source');
writeFileSync(source, Buffer.alloc(longBytes, 'x'));
let files = 0;

const server = createServer((request, response) => {
  const isLong = request.url?.split('?', 1)[0]?.endsWith('4m') === true;
  if (request.method === 'PUT') {
    if (isLong) void keep(request, response);
    else request.resume().on('end', () => response.writeHead(201, ['Content-Length', '0']).end());
  } else if (isLong) {
    response.writeHead(200, ['Content-Length', String(longBytes)]);
    createReadStream(source, { highWaterMark: 256 * 1024 }).pipe(response);
  } else response.writeHead(200, ['Content-Length', '1024']).end(short);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`The bare service listens at 127.0.0.1:${(server.address() as AddressInfo).port}`);
});

async function keep(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const file = await open(join(folder, String(files++ % 16)), 'w');
  try {
    for await (const chunk of request) await file.write(chunk);
    await file.datasync();
  } finally {
    await file.close();
  }
  response.writeHead(201, ['Content-Length', '0']).end();
}
