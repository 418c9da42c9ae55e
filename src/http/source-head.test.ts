// Which server, and which of its services, has the source of a copy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { bodyOf } from './body.js';
import { Call } from './call.js';
import { sourceAddress, sourceHead } from './source-head.js';

const ports = { blob: 10000, file: 10003 };

function callAt(host: string): Call {
  const head = {
    ...{ method: 'PUT', url: host.startsWith('acct.') ? '/s/f' : '/acct/s/f', headers: { host } },
    ...{ rawHeaders: ['Host', host], remoteAddress: '10.1.2.3', secure: false },
  };
  const account = (name: string) => (name === 'acct' ? { secondary: false, cors: [] } : undefined);
  return new Call(head, bodyOf(Buffer.alloc(0)), 'id', 0, { service: 'file', account, pathStyleOnly: false });
}

function ownerOf(host: string, url: string): string {
  const call = callAt(host);
  if (sourceHead(call, 'x-ms-copy-source', url) !== undefined) return 'file';
  return sourceAddress(call, 'x-ms-copy-source', url, ports).own?.service ?? 'foreign';
}

const addresses = `
  asked_at                       source                                        owner
  127.0.0.1:10003                http://127.0.0.1:10003/acct/s/f               file
  127.0.0.1:10003                http://localhost:10003/acct/s/f               file
  127.0.0.1:10003                http://acct.file.localhost:10003/s/f          file
  127.0.0.1:10003                http://127.0.0.1:10000/acct/c/b               blob
  127.0.0.1:10003                http://localhost:10000/acct/c/b               blob
  127.0.0.1:10003                http://acct.blob.localhost:10000/c/b          blob
  127.0.0.1:10003                http://127.0.0.1:10001/acct/q                 foreign
  127.0.0.1:10003                http://10.0.0.1:10000/acct/c/b                foreign
  127.0.0.1:10003                http://example.org/c/b                        foreign
  storage:10003                  http://storage:10003/acct/s/f                 file
  storage:10003                  http://STORAGE:10000/acct/c/b                 blob
  storage:10003                  http://other:10000/acct/c/b                   foreign
  storage:10003                  http://127.0.0.1:10000/acct/c/b               foreign
  10.0.0.5:10003                 http://99.0.0.5:10003/acct/s/f                foreign
  one.org                        http://two.org/acct/s/f                       foreign
  acct.file.example.org          http://other.file.example.org/s/f             file
  acct.file.example.org          https://acct.blob.example.org/c/b             blob
  acct.file.example.org:10003    http://acct.blob.example.org:10000/c/b        blob
  acct.file.example.org:10003    http://acct.blob.example.org:10003/c/b        blob
  acct.file.example.org          https://acct.blob.example.com/c/b             foreign
  acct.file.example.org          https://acct.queue.example.org/q              foreign
  127.0.0.1:10003                https://devstoreaccount1.file.core.windows.net/s/f   file
  127.0.0.1:10003                https://devstoreaccount1.blob.core.windows.net/c/b   blob
  127.0.0.1:10003                https://acct.blob.core.windows.net/c/b        foreign
`;

for (const { asked_at: host = '', source = '', owner } of rows(addresses)) {
  test(`${source}, asked at ${host}, is of: ${owner}`, () => {
    assert.equal(ownerOf(host, source), owner);
  });
}

for (const url of ['', 'nonsense', 'ftp://a/b', 'http://', 'http://host', 'http:///path']) {
  test(`${url} names no source`, () => {
    assert.throws(() => ownerOf('127.0.0.1:10003', url));
  });
}
