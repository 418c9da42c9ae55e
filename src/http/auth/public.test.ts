import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '../../base/cells.suite.js';
import { StorageError } from '../../services/common/errors.js';
import { HeaderedError } from '../errors.js';
import { account, callOf } from './calls.suite.js';
import { authorizeAnonymous } from './public.js';

const challenge =
  'Bearer authorization_uri=https://login.example/t/oauth2/authorize resource_id=https://storage.azure.com';
const paths = { blob: '/c/b', queue: '/q', table: '/t', file: '/s/f' } as const;

function asked(
  service: keyof typeof paths,
  version: string,
  access: 'blob' | 'container' | undefined,
  anonymous: 'blob' | 'container' | undefined,
) {
  const call = callOf(
    service,
    `GET /${account}${paths[service]}`,
    version ? { headers: { 'x-ms-version': version } } : {},
  );
  return authorizeAnonymous(call, { anonymous }, { publicAccess: () => access }, challenge);
}

const opened = `
                        operation for blob   operation for container   any other operation
  private container     401                  401                       401
  public blobs          granted              401                       401
  public container      granted              granted                   401
`;
const accesses = {
  'private container': undefined,
  'public blobs': 'blob',
  'public container': 'container',
} as const;
const needs = {
  'operation for blob': 'blob',
  'operation for container': 'container',
  'any other operation': undefined,
} as const;

for (const { row, column, cell } of cells(opened)) {
  test(`${row}, ${column}: ${cell}`, () => {
    const access = accesses[row as keyof typeof accesses];
    const run = () => asked('blob', '2025-11-05', access, needs[column as keyof typeof needs]);
    if (cell === 'granted') assert.deepEqual(run(), { kind: 'anonymous', access });
    else assert.throws(run, { code: 'NoAuthenticationInformation', status: 401 });
  });
}

const answers = `
           2017-11-09             2019-12-12                    2020-12-06                    2025-11-05
  blob     ResourceNotFound       NoAuthenticationInformation   NoAuthenticationInformation   NoAuthenticationInformation
  queue    AuthenticationFailed   NoAuthenticationInformation   NoAuthenticationInformation   NoAuthenticationInformation
  table    AuthenticationFailed   AuthenticationFailed          NoAuthenticationInformation   NoAuthenticationInformation
  file     AuthenticationFailed   AuthenticationFailed          AuthenticationFailed          NoAuthenticationInformation
`;

for (const { row, column, cell } of cells(answers)) {
  test(`without credentials, ${row} in ${column}: ${cell}`, () => {
    assert.throws(() => asked(row as keyof typeof paths, column, undefined, 'container'), { code: cell });
  });
}

test('a browser, which sends no version, is told that there is nothing', () => {
  assert.throws(() => asked('blob', '', undefined, 'blob'), { code: 'ResourceNotFound' });
});

test('the challenge is a header of the answer', () => {
  assert.throws(
    () => asked('blob', '2025-11-05', undefined, undefined),
    (error) => {
      assert.ok(error instanceof HeaderedError);
      assert.deepEqual(error.headers, ['WWW-Authenticate', challenge]);
      return true;
    },
  );
});

test('access that has to be read first, and access that the account forbids', async () => {
  const call = callOf('blob', `GET /${account}/c/b`);
  const slowly = authorizeAnonymous(
    call,
    { anonymous: 'blob' },
    { publicAccess: async () => 'blob' as const },
    challenge,
  );
  assert.ok(slowly instanceof Promise);
  assert.deepEqual(await slowly, { kind: 'anonymous', access: 'blob' });
  const forbids = () => {
    throw new StorageError('PublicAccessNotPermitted');
  };
  assert.throws(() => authorizeAnonymous(call, { anonymous: 'blob' }, { publicAccess: forbids }, challenge), {
    code: 'PublicAccessNotPermitted',
  });
});
