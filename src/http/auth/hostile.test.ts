// Whatever is sent, the answer is a refusal from the catalogue, never a bug of ours, and never a welcome.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StorageError } from '../../services/common/errors.js';
import type { Call, ServiceName } from '../call.js';
import { takeApart } from '../dispatch.js';
import { createAuthorize } from './authorize.js';
import { account, callOf, contextOf, key, now } from './calls.suite.js';
import { sasParameters } from './sas-forms.js';
import { signSas } from './sign.js';

const seed = 20260501;
const runs = 3000;
console.log(`seed ${seed}`);

const authorize = createAuthorize({ bearer: { mode: 'basic' } });
const getBlob = takeApart<never>([
  'Get',
  'GET /',
  '',
  '',
  ['o:r', 'r', 'blobs/read'],
  ['', 'none'],
  'both',
  () => assert.fail(),
]);
const context = contextOf({ delegationSecret: () => Buffer.alloc(32, 4) });

async function refused(make: () => Call): Promise<void> {
  try {
    await authorize(make(), getBlob, context);
  } catch (error) {
    assert.ok(error instanceof StorageError, String(error));
    return;
  }
  assert.fail('let in');
}

const service = fc.constantFrom<ServiceName>('blob', 'queue', 'table', 'file');
const path = fc.constantFrom(
  '/',
  '/c',
  '/c?restype=container',
  '/c/b',
  '/c/d/e',
  '/$batch',
  "/t(PartitionKey='a',RowKey='b')",
);
const plausible = fc.constantFrom(
  ...[
    '2025-11-05',
    '2018-11-09',
    '2012-02-12',
    '2026-06-06',
    '2030-01-01',
    '2026-01-01T00:00Z',
    'r',
    'rwdl',
    'sco',
    'bqtf',
  ],
  ...[
    'b',
    'c',
    'd',
    'bs',
    'https',
    'https,http',
    '1.1.1.1',
    '1.1.1.1-2.2.2.2',
    '1',
    'A'.repeat(43),
    `${'A'.repeat(43)}=`,
  ],
);
const value = fc.oneof(plausible, fc.string(), fc.string({ unit: 'binary' }));
const query = fc.array(fc.tuple(fc.constantFrom(...sasParameters, 'snapshot', 'versionid'), value), {
  maxLength: 24,
});

function written(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&');
}

function at(where: string, more: string): string {
  return `GET /${account}${where}${where.includes('?') ? '&' : '?'}${more}`;
}

test('any SAS that was not signed is refused', async () => {
  await fc.assert(
    fc.asyncProperty(service, path, query, (name, where, pairs) =>
      refused(() => callOf(name, at(where, `${written(pairs)}&sig=${'B'.repeat(43)}%3D`))),
    ),
    { seed, numRuns: runs },
  );
});

test('any Authorization is refused that was not signed', async () => {
  const scheme = fc.constantFrom('SharedKey ', 'SharedKeyLite ', 'Bearer ', '', 'Basic ');
  const rest = fc.oneof(
    fc.string(),
    value.map((text) => `${account}:${text}`),
    fc.string().map((text) => `a.${Buffer.from(text).toString('base64url')}.c`),
  );
  const header = fc.tuple(
    fc.constantFrom('x-ms-date', 'date', 'x-ms-meta-a', 'content-length', 'range'),
    value,
  );
  await fc.assert(
    fc.asyncProperty(
      service,
      path,
      scheme,
      rest,
      fc.array(header, { maxLength: 6 }),
      (name, where, before, after, headers) =>
        refused(() =>
          callOf(name, at(where, 'a=b'), {
            secure: true,
            rawHeaders: ['authorization', before + after, ...headers.flat()],
          }),
        ),
    ),
    { seed, numRuns: runs },
  );
});

test('a token that is good is refused once any signed field is changed', async () => {
  const fields = {
    sv: '2025-11-05',
    sr: 'c',
    sp: 'r',
    st: '2026-01-01',
    se: '2027-01-01',
    spr: 'https,http',
    rscc: 'x',
  };
  const token = new URLSearchParams(signSas({ service: 'blob', account, container: 'c' }, fields, key));
  const good = callOf('blob', at('/c/b', written([...token])));
  assert.equal((await authorize(good, getBlob, context)).kind, 'sas');
  assert.ok(now > Date.parse('2026-01-01'));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...token.keys()), value, async (name, text) => {
      fc.pre(text !== token.get(name));
      fc.pre(name !== 'sig' || !text.startsWith(`${token.get('sig')}`.slice(0, 43)));
      const changed = [...token].map(([known, old]) => [known, known === name ? text : old] as const);
      await refused(() => callOf('blob', at('/c/b', written(changed))));
    }),
    { seed, numRuns: runs },
  );
});
