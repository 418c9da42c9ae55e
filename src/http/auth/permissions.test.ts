import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../../services/common/errors.js';
import type { ServiceName } from '../call.js';
import { takeApart } from '../dispatch.js';
import type { Row } from '../operation.js';
import { account, callOf, type Extra, key, now } from './calls.suite.js';
import { type Access, admit, refusalOf } from './permissions.js';
import { SasVerifier } from './sas.js';
import { signSas } from './sign.js';
import type { Identity, SasIdentity, StoredPolicy } from './types.js';

/** The access column of a row, as tables have it. */
function accessOf(...access: Row<unknown>[4]): Access {
  const handler = () => assert.fail('not called');
  return takeApart(['Test', 'GET /', '', '', access, ['', 'none'], 'both', handler]);
}

const se = '2026-05-01T13:00:00Z';
const readBlob = accessOf('o:r', 'r', 'blobs/read', 'blob');

interface Try {
  readonly service?: ServiceName;
  readonly path?: string;
  readonly fields: Record<string, string>;
  readonly access?: Access;
  readonly policy?: Partial<StoredPolicy>;
  readonly extra?: Extra;
  readonly at?: number;
}

function tried({
  service = 'blob',
  path = '/c/b',
  fields,
  access = readBlob,
  policy,
  extra,
  at = now,
}: Try): SasIdentity {
  const [, container = '', ...rest] = path.split('?')[0]?.split('/') ?? [];
  const target = { service, account, container, name: rest.join('/') };
  const token = signSas(target, { sv: '2025-11-05', ...fields }, key);
  const call = callOf(service, `GET /${account}${path}?${token}`, extra);
  const verified = new SasVerifier().verify(call, { account: [key], delegation: undefined });
  const stored: StoredPolicy | undefined = policy && {
    id: 'p',
    start: undefined,
    expiry: undefined,
    permission: undefined,
    ...policy,
  };
  return admit(verified, call, access, stored, at);
}

/** `granted`, or the code of the refusal. */
function outcome(attempt: Try): string {
  try {
    tried(attempt);
    return 'granted';
  } catch (error) {
    assert.ok(error instanceof StorageError, String(error));
    return error.code;
  }
}

const accountSas = { ss: 'b', srt: 'sco', sp: 'rwdlacup', se };
const blobSas = { sr: 'b', sp: 'r', se };

// Letters

const letterCases: [need: string, sp: string, granted: boolean][] = [
  ['r', 'r', true],
  ['r', 'a', false],
  ['ad', 'a', true],
  ['ad', 'd', true],
  ['ad', 'ad', true],
  ['ad', 'ru', false],
  ['a+u', 'au', true],
  ['a+u', 'ua', true],
  ['a+u', 'a', false],
  ['a+u', 'u', false],
  ['any', 'd', true],
];

for (const [need, sp, granted] of letterCases) {
  test(`an operation that needs ${need} is ${granted ? 'granted' : 'refused'} to the letters ${sp}`, () => {
    const expected = granted ? 'granted' : 'AuthorizationPermissionMismatch';
    const typed = need === 'any' ? need : `o:${need}`;
    assert.equal(
      outcome({ fields: { ...accountSas, sp }, access: accessOf(typed, 'never', 'never') }),
      expected,
    );
    const fields = { tn: 'T', sp, se };
    const access = accessOf('never', need, 'never');
    assert.equal(outcome({ service: 'table', path: '/T', fields, access }), expected);
  });
}

// Account SAS: service, then resource type, then permission

const order: [what: string, change: Record<string, string>, access: Access, expected: string][] = [
  ['all fits', {}, readBlob, 'granted'],
  ['another service', { ss: 'qtf' }, readBlob, 'AuthorizationServiceMismatch'],
  ['another service and type', { ss: 'q', srt: 's' }, readBlob, 'AuthorizationServiceMismatch'],
  ['another type', { srt: 'sc' }, readBlob, 'AuthorizationResourceTypeMismatch'],
  ['another type and permission', { srt: 'sc', sp: 'w' }, readBlob, 'AuthorizationResourceTypeMismatch'],
  ['another permission', { sp: 'wdl' }, readBlob, 'AuthorizationPermissionMismatch'],
  ['an operation not to be delegated', {}, accessOf('never', 'never', 'never'), 'AuthorizationFailure'],
];

for (const [what, change, access, expected] of order) {
  test(`account SAS: ${what}: ${expected}`, () => {
    assert.equal(outcome({ fields: { ...accountSas, ...change }, access }), expected);
  });
}

test('service SAS: an operation it never opens', () => {
  const access = accessOf('c:d', 'never', 'containers/delete');
  assert.equal(outcome({ fields: { sr: 'c', sp: 'racwdl', se }, access }), 'AuthorizationFailure');
});

test('a SAS from before 2015-04-05 hides what it does not open', () => {
  assert.equal(outcome({ fields: { ...blobSas, sp: 'w', sv: '2014-02-14' } }), 'ResourceNotFound');
  assert.equal(
    outcome({ fields: { ...blobSas, sp: 'w', sv: '2015-04-05' } }),
    'AuthorizationPermissionMismatch',
  );
});

// Tags

for (const name of ['x-ms-tags', 'x-ms-if-tags']) {
  test(`${name} needs the letter t beside the operation's own`, () => {
    const extra = { headers: { [name]: 'a=b' } };
    assert.equal(outcome({ fields: blobSas, extra }), 'AuthorizationPermissionMismatch');
    assert.equal(outcome({ fields: { ...blobSas, sp: 'rt' }, extra }), 'granted');
    assert.equal(outcome({ fields: { ...accountSas, sp: 'rwt' }, extra }), 'granted');
  });
}

// Times

const times: [st: string, expiry: string, at: string, expected: string][] = [
  ['', '2026-05-01T12:00:01Z', '2026-05-01T12:00:00Z', 'granted'],
  ['', '2026-05-01T12:00:00Z', '2026-05-01T12:00:00Z', 'AuthenticationFailed'],
  ['', '2026-05-01', '2026-05-01T00:00:00Z', 'AuthenticationFailed'],
  ['', '2026-05-02', '2026-05-01T23:59:59Z', 'granted'],
  ['2026-05-01T12:00:00Z', '2027-01-01', '2026-05-01T12:00:00Z', 'granted'],
  ['2026-05-01T12:00:01Z', '2027-01-01', '2026-05-01T12:00:00Z', 'AuthenticationFailed'],
  ['2026-05-01T14:00:00+02:00', '2027-01-01', '2026-05-01T12:00:00Z', 'granted'],
  ['2026-05-01T12:00:00.5Z', '2027-01-01', '2026-05-01T12:00:00.499Z', 'AuthenticationFailed'],
];

for (const [st, expiry, at, expected] of times) {
  test(`from '${st}' to ${expiry}, at ${at}: ${expected}`, () => {
    assert.equal(outcome({ fields: { ...blobSas, st, se: expiry }, at: Date.parse(at) }), expected);
  });
}

test('who comes too late is told the times', () => {
  assert.throws(
    () => tried({ fields: { ...blobSas, st: '2026-04-01' }, at: Date.parse('2026-06-01T00:00:00Z') }),
    {
      details: {
        AuthenticationErrorDetail:
          'Signature not valid in the specified time frame: Start [Wed, 01 Apr 2026 00:00:00 GMT] - Expiry [Fri, 01 May 2026 13:00:00 GMT] - Current [Mon, 01 Jun 2026 00:00:00 GMT]',
      },
    },
  );
});

// Address and protocol

test('the address must lie in the range', () => {
  const fields = { ...blobSas, sip: '10.0.0.1-10.0.0.5' };
  assert.equal(outcome({ fields, extra: { remoteAddress: '::ffff:10.0.0.5' } }), 'granted');
  assert.equal(outcome({ fields, extra: { remoteAddress: '10.0.0.6' } }), 'AuthorizationSourceIPMismatch');
});

test('a SAS for https alone is not for http', () => {
  for (const [spr, secure, expected] of [
    ['https', true, 'granted'],
    ['https', false, 'AuthorizationProtocolMismatch'],
    ['https,http', false, 'granted'],
    ['', false, 'granted'],
  ] as const) {
    assert.equal(outcome({ fields: { ...blobSas, spr }, extra: { secure } }), expected);
  }
});

// Stored policies: what the token has, what the policy has, and what comes of it

const full = { sp: 'r', st: '2026-01-01', se };
const whole = {
  permission: 'r',
  start: '2026-01-01T00:00:00.0000000Z',
  expiry: '2026-05-01T13:00:00.0000000Z',
};
const policies: [
  what: string,
  fields: Record<string, string>,
  policy: Partial<StoredPolicy>,
  expected: string,
][] = [
  ['all from the token', full, {}, 'granted'],
  ['all from the policy', {}, whole, 'granted'],
  ['permission from the policy', { se }, { permission: 'r' }, 'granted'],
  ['expiry from the policy', { sp: 'r' }, { expiry: whole.expiry }, 'granted'],
  ['start from the policy', { sp: 'r', se }, { start: whole.start }, 'granted'],
  ['permission in both', full, { permission: 'r' }, 'AuthenticationFailed'],
  ['start in both', full, { start: whole.start }, 'AuthenticationFailed'],
  ['expiry in both', full, { expiry: whole.expiry }, 'AuthenticationFailed'],
  ['permission in neither', { se }, {}, 'AuthenticationFailed'],
  ['expiry in neither', { sp: 'r' }, {}, 'AuthenticationFailed'],
  [
    'a policy that has ended',
    {},
    { ...whole, expiry: '2026-04-01T00:00:00.0000000Z' },
    'AuthenticationFailed',
  ],
  [
    'a policy that has not begun',
    {},
    { ...whole, start: '2026-05-01T12:30:00.0000000Z' },
    'AuthenticationFailed',
  ],
  ['a policy that gives less', {}, { ...whole, permission: 'wd' }, 'AuthorizationPermissionMismatch'],
];

for (const [what, fields, policy, expected] of policies) {
  test(`stored policy: ${what}: ${expected}`, () => {
    assert.equal(outcome({ fields: { sr: 'b', si: 'p', ...fields }, policy }), expected);
  });
}

// Who a SAS makes the caller

test('the identity of an account SAS', () => {
  const { permissions, resourceTypes, sas, overrides } = tried({ fields: { ...accountSas, sp: 'crl' } });
  assert.deepEqual(
    { permissions, resourceTypes, sas, overrides },
    { permissions: 'crl', resourceTypes: 'sco', sas: 'account', overrides: [] },
  );
});

test('the identity of a table SAS tells its table and keys', () => {
  const fields = { tn: 'MyTable', sp: 'r', se, spk: 'a', epk: 'b' };
  const identity = tried({
    service: 'table',
    path: '/MyTable',
    fields,
    access: accessOf('o:r', 'r', 'entities/read'),
  });
  assert.equal(identity.table, 'mytable');
  assert.equal(identity.keys?.startPartition, 'a');
  assert.equal(identity.keys?.endPartition, 'b');
});

test('the identity of a blob SAS tells its overrides and its encryption scope', () => {
  const identity = tried({ fields: { ...blobSas, rsct: 'text/html', ses: 'scope' } });
  assert.deepEqual(identity.overrides, ['Content-Type', 'text/html']);
  assert.equal(identity.encryptionScope, 'scope');
});

test('a SAS bound to an encryption scope writes with no other', () => {
  const fields = { ...blobSas, ses: 'scope' };
  const named = (scope: string) => ({ headers: { 'x-ms-encryption-scope': scope } });
  assert.equal(outcome({ fields, extra: named('scope') }), 'granted');
  assert.equal(outcome({ fields, extra: named('other') }), 'InvalidHeaderValue');
  assert.equal(outcome({ fields: blobSas, extra: named('other') }), 'granted');
});

// Everybody else

const delegated: SasIdentity = {
  kind: 'sas',
  sas: 'delegation',
  permissions: 'rw',
  role: 'reader',
  overrides: [],
};
const writeBlob = accessOf('o:w', 'w', 'blobs/write');
const others: [who: string, identity: Identity, access: Access, expected: string | undefined][] = [
  ['the holder of a key', { kind: 'key' }, accessOf('never', 'never', 'never'), undefined],
  ['a reader', { kind: 'bearer', objectId: '', tenantId: '', role: 'reader' }, readBlob, undefined],
  [
    'a reader who writes',
    { kind: 'bearer', objectId: '', tenantId: '', role: 'reader' },
    writeBlob,
    'AuthorizationPermissionMismatch',
  ],
  [
    'an owner where no token opens',
    { kind: 'bearer', objectId: '', tenantId: '', role: 'owner' },
    accessOf('o:r', 'r', 'never'),
    'AuthorizationPermissionMismatch',
  ],
  ['a delegation of a reader', delegated, readBlob, undefined],
  ['a delegation of a reader that writes', delegated, writeBlob, 'AuthorizationPermissionMismatch'],
  ['a delegation of a contributor that writes', { ...delegated, role: 'contributor' }, writeBlob, undefined],
  ['anybody in a public container', { kind: 'anonymous', access: 'container' }, readBlob, undefined],
  [
    'anybody who lists public blobs',
    { kind: 'anonymous', access: 'blob' },
    accessOf('c:l', 'l', 'blobs/read', 'container'),
    'ResourceNotFound',
  ],
];

for (const [who, identity, access, expected] of others) {
  test(`${who}: ${expected ?? 'granted'}`, () => assert.equal(refusalOf(identity, access), expected));
}
