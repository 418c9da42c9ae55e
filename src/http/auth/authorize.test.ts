import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatHttpDate } from '../../base/times.js';
import type { Call } from '../call.js';
import { takeApart } from '../dispatch.js';
import type { Operation, Row } from '../operation.js';
import { createAuthorize } from './authorize.js';
import { account, callOf, contextOf, type Extra, key, now } from './calls.suite.js';
import { openIssuer, type TestIssuer } from './issuer.suite.js';
import { signRequest, signSas } from './sign.js';
import type { Authorize, AuthorizeContext, Identity, StoredPolicy } from './types.js';
import { issueUserDelegationKey } from './user-delegation-key.js';

let issuer: TestIssuer;
let authorize: Authorize;

before(async () => {
  issuer = await openIssuer();
  const roles = { boss: 'owner', reader: 'reader', demoted: 'reader', gone: {} } as const;
  authorize = createAuthorize({ bearer: { mode: 'verified', issuer: issuer.url, roles } });
});
after(() => issuer.close());

function operation(...access: Row<never>[4]): Operation {
  const handler = () => assert.fail('not called');
  return takeApart<never>(['Test', 'GET /', '', '', access, ['', 'none'], 'both', handler]);
}

const getBlob = operation('o:r', 'r', 'blobs/read', 'blob');
const putBlob = operation('o:cw', 'cw', 'blobs/write');
const secret = Buffer.alloc(32, 8);
const context = contextOf({ delegationSecret: () => secret });
const se = '2026-05-01T13:00:00Z';
const dated = { 'x-ms-date': formatHttpDate(now), 'x-ms-version': '2025-11-05' };

async function ask(
  call: Call,
  asked: Operation = getBlob,
  within: AuthorizeContext = context,
): Promise<Identity> {
  return await authorize(call, asked, within);
}

function blob(query = '', extra: Extra = {}): Call {
  return callOf('blob', `GET /${account}/c/b${query && `?${query}`}`, extra);
}

function token(oid = 'boss'): Promise<string> {
  const claims = { iss: issuer.url, aud: 'https://storage.azure.com', exp: now / 1000 + 60, oid, tid: 't' };
  return issuer.sign(claims);
}

function sas(fields: Record<string, string> = {}): string {
  return signSas(
    { service: 'blob', account, container: 'c', name: 'b' },
    { sv: '2025-11-05', sr: 'b', sp: 'r', se, ...fields },
    key,
  );
}

function signed(query = ''): Call {
  const unsigned = blob(query, { headers: dated });
  return blob(query, { headers: { ...dated, Authorization: signRequest('SharedKey', unsigned, key) } });
}

test('the scheme follows from what the request has', async () => {
  assert.equal((await ask(signed())).kind, 'key');
  assert.equal((await ask(blob(sas()))).kind, 'sas');
  const authorization = `Bearer ${await token()}`;
  assert.equal((await ask(blob('', { secure: true, headers: { ...dated, authorization } }))).kind, 'bearer');
  const open = contextOf({ publicAccess: () => 'container' });
  assert.equal((await ask(blob(), getBlob, open)).kind, 'anonymous');
  await assert.rejects(ask(blob()), { code: 'ResourceNotFound' });
});

test('a key and a SAS in use are answered at once, without a promise', () => {
  assert.ok(!(authorize(signed(), getBlob, context) instanceof Promise));
  assert.ok(!(authorize(blob(sas()), getBlob, context) instanceof Promise));
});

test('of a header and a SAS the header counts', async () => {
  assert.equal((await ask(signed(sas({ sp: 'd' })))).kind, 'key');
  const wrong = blob(sas(), {
    headers: { ...dated, Authorization: `SharedKey ${account}:${'A'.repeat(43)}=` },
  });
  await assert.rejects(ask(wrong), { code: 'AuthenticationFailed' });
});

for (const authorization of ['Basic dTpw', 'Negotiate x', '', 'Bear x']) {
  test(`Authorization '${authorization}' is none of the schemes`, async () => {
    await assert.rejects(ask(blob('', { headers: { ...dated, authorization } })), {
      code: 'InvalidAuthenticationInfo',
    });
  });
}

test('a SAS for an account that does not exist is refused', async () => {
  await assert.rejects(ask(blob(sas()), getBlob, contextOf({ keys: () => undefined })), {
    code: 'AuthenticationFailed',
  });
});

test('a role that does not cover the operation', async () => {
  const authorization = `Bearer ${await token('reader')}`;
  const call = blob('', { secure: true, headers: { ...dated, authorization } });
  assert.equal((await ask(call)).kind, 'bearer');
  await assert.rejects(ask(call, putBlob), { code: 'AuthorizationPermissionMismatch' });
});

// Stored policies

const policy: StoredPolicy = { id: 'p', start: undefined, expiry: se, permission: 'r' };
const byPolicy = sas({ si: 'p', sp: '', se: '' });

test('a stored policy is asked for each time, and gone it revokes', async () => {
  const asked: unknown[] = [];
  let policies: readonly StoredPolicy[] | undefined = [{ ...policy, id: 'q' }, policy];
  const within = contextOf({
    policies: (...where) => {
      asked.push(where);
      return policies;
    },
  });
  assert.equal((await ask(blob(byPolicy), getBlob, within)).kind, 'sas');
  assert.deepEqual(asked, [['blob', account, 'c']]);
  policies = [{ ...policy, permission: 'w' }];
  await assert.rejects(ask(blob(byPolicy), getBlob, within), { code: 'AuthorizationPermissionMismatch' });
  for (const none of [[], [{ ...policy, id: 'P' }], undefined]) {
    policies = none;
    await assert.rejects(ask(blob(byPolicy), getBlob, within), {
      code: 'AuthenticationFailed',
      details: {
        AuthenticationErrorDetail: 'SAS identifier cannot be found for specified signed identifier',
      },
    });
  }
});

test('a stored policy may come by a promise', async () => {
  const within = contextOf({ policies: async () => [policy] });
  assert.equal((await ask(blob(byPolicy), getBlob, within)).kind, 'sas');
});

test('a table transaction asks for the policies of the table that the SAS names', async () => {
  const fields = { sv: '2025-11-05', tn: 'MyTable', si: 'p' };
  const ofTable = signSas({ service: 'table', account, container: 'MyTable' }, fields, key);
  const within = contextOf({ policies: (_, __, name) => (name === 'mytable' ? [policy] : undefined) });
  const identity = await ask(
    callOf('table', `POST /${account}/$batch?${ofTable}`),
    operation('any', 'any', 'entities/write'),
    within,
  );
  assert.ok(identity.kind === 'sas');
  assert.equal(identity.table, 'mytable');
});

// User delegation

function delegated(oid: string, change: Record<string, string> = {}, delegatedTenantId?: string): string {
  const identity = { kind: 'bearer', objectId: oid, tenantId: 't', role: 'contributor' } as const;
  const request = {
    account,
    service: 'blob',
    version: '2025-11-05',
    start: undefined,
    expiry: se,
    delegatedTenantId,
  } as const;
  const issued = issueUserDelegationKey(secret, identity, request, now);
  const fields = {
    ...{ sv: '2025-11-05', sr: 'b', sp: 'rw', se },
    ...{ skoid: oid, sktid: 't', skt: issued.start, ske: issued.expiry, sks: 'b', skv: issued.version },
    ...(delegatedTenantId === undefined ? {} : { skdutid: delegatedTenantId }),
    ...change,
  };
  return signSas(
    { service: 'blob', account, container: 'c', name: 'b' },
    fields,
    Buffer.from(issued.value, 'base64'),
  );
}

test('a delegation gives what its owner had, and no more than they have now', async () => {
  assert.equal((await ask(blob(delegated('somebody')), putBlob)).kind, 'sas');
  assert.equal((await ask(blob(delegated('boss')), putBlob)).kind, 'sas');
  assert.equal((await ask(blob(delegated('demoted')), getBlob)).kind, 'sas');
  await assert.rejects(ask(blob(delegated('demoted')), putBlob), { code: 'AuthorizationPermissionMismatch' });
  await assert.rejects(ask(blob(delegated('gone')), getBlob), { code: 'AuthorizationPermissionMismatch' });
});

test('a delegation does not outlive its secret', async () => {
  const within = contextOf({ delegationSecret: () => Buffer.alloc(32, 9) });
  await assert.rejects(ask(blob(delegated('boss')), getBlob, within), { code: 'AuthenticationFailed' });
  await assert.rejects(ask(blob(delegated('boss')), getBlob, contextOf()), { code: 'AuthenticationFailed' });
});

test('a delegation for one user needs a token of that user', async () => {
  const forReader = delegated('boss', { sduoid: 'reader' }, 't');
  const as = async (oid: string, query = forReader) => {
    const authorization = `Bearer ${await token(oid)}`;
    return ask(blob(query, { secure: true, headers: { ...dated, authorization } }));
  };
  assert.equal((await as('reader')).kind, 'sas');
  await assert.rejects(as('boss'), { code: 'AuthenticationFailed' });
  await assert.rejects(as('reader', delegated('boss', { sduoid: 'reader' }, 'other')), {
    code: 'AuthenticationFailed',
  });
  await assert.rejects(ask(blob(forReader)), { code: 'AuthenticationFailed' });
  const shared = signed(forReader);
  await assert.rejects(ask(shared), { code: 'InvalidAuthenticationInfo' });
});

test('sduoid put on another SAS opens nothing', async () => {
  const authorization = `Bearer ${await token('reader')}`;
  const call = blob(`${sas()}&sduoid=reader`, { secure: true, headers: { ...dated, authorization } });
  await assert.rejects(ask(call), { code: 'AuthenticationFailed' });
});
