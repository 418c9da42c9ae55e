// What does it cost to find out who is asking? The call is parsed already; each line is one way to ask, over
// and over: a GET of a small blob as the SDKs send it.

import { crc32 } from 'node:zlib';
import { formatHttpDate } from '#src/base/times.js';
import { createAuthorize } from '#src/http/auth/authorize.js';
import { account, callOf, contextOf, key, now } from '#src/http/auth/calls.suite.js';
import { signRequest, signSas } from '#src/http/auth/sign.js';
import type { Call } from '#src/http/call.js';
import { takeApart } from '#src/http/dispatch.js';
import type { Bench } from './main.js';

const rounds = { small: 200, full: 200_000 } as const;
const getBlob = takeApart<never>([
  'Get Blob',
  'GET /{container}/{blob}',
  '',
  '',
  ['o:r', 'r', 'blobs/read', 'blob'],
  ['', 'none'],
  'both',
  () => ({ status: 200, headers: [] }),
]);

const headers = {
  'x-ms-version': '2025-11-05',
  'x-ms-client-request-id': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'x-ms-date': formatHttpDate(now),
  accept: 'application/xml',
  'user-agent': 'azsdk-js-azure-storage-blob/12.34.0 core-rest-pipeline/1.22.2 Node/20.20.2 OS/(x64-Linux)',
};
const se = '2026-05-02T00:00:00Z';
const target = { service: 'blob', account, container: 'container', name: 'folder/blob.txt' } as const;
const path = `/${account}/container/folder/blob.txt`;

function bySas(fields: Record<string, string>, round = 0): Call {
  const query = signSas(
    { ...target, name: round ? `${target.name}${round}` : target.name },
    { sv: '2025-11-05', ...fields },
    key,
  );
  return callOf('blob', `GET ${path}${round || ''}?${query}`, { headers });
}

function byKey(scheme: 'SharedKey' | 'SharedKeyLite'): Call {
  const authorization = signRequest(scheme, callOf('blob', `GET ${path}`, { headers }), key);
  return callOf('blob', `GET ${path}`, { headers: { ...headers, authorization } });
}

export const authBench: Bench = async (size, print) => {
  const context = contextOf({
    policies: () => [{ id: 'policy', start: undefined, expiry: `${se}`, permission: 'r' }],
    publicAccess: () => 'blob',
  });
  const blobSas = { sr: 'b', sp: 'r', st: '2026-05-01', se, spr: 'https,http' };
  const fresh = Array.from({ length: 20_000 }, (_, round) => bySas(blobSas, round + 1));
  const ways: [what: string, call: (round: number) => Call][] = [
    ['account SAS, remembered', always(bySas({ ss: 'b', srt: 'sco', sp: 'rl', se }))],
    ['blob SAS, remembered', always(bySas(blobSas))],
    ['container SAS with a policy', always(bySas({ sr: 'c', si: 'policy' }))],
    ['blob SAS, never seen', (round) => fresh[round % fresh.length] as Call],
    ['shared key', always(byKey('SharedKey'))],
    ['shared key lite', always(byKey('SharedKeyLite'))],
    ['anonymous', always(callOf('blob', `GET ${path}`, { headers }))],
  ];
  let checksum = 0;
  for (const [what, callAt] of ways) {
    const authorize = createAuthorize();
    const ask = (round: number) => authorize(callAt(round), getBlob, context);
    for (let round = 0; round < rounds[size] / 10; round++) ask(round);
    const before = performance.now();
    for (let round = 0; round < rounds[size]; round++) ask(round);
    const us = ((performance.now() - before) * 1000) / rounds[size];
    print(`${what.padEnd(30)} ${us.toFixed(2).padStart(7)} us`);
    checksum = crc32(Buffer.from(`${what} ${JSON.stringify(await ask(0))}`), checksum);
  }
  return checksum.toString(16);
};

function always(call: Call): () => Call {
  return () => call;
}
