import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../../services/common/errors.js';
import type { ServiceName } from '../call.js';
import { account, callOf, key, now, otherKey } from './calls.suite.js';
import { SasVerifier } from './sas.js';
import { readSas } from './sas-token.js';
import { signSas } from './sign.js';
import { issueUserDelegationKey } from './user-delegation-key.js';

const keys = { account: [key, otherKey], delegation: undefined };
const se = '2030-01-01T00:00:00Z';
const accountFields = { sv: '2025-11-05', ss: 'b', srt: 'sco', sp: 'rl', se };
const blobFields = { sv: '2025-11-05', sr: 'b', sp: 'r', se };

function call(service: ServiceName, path: string, token: string) {
  return callOf(service, `GET /${account}${path}${path.includes('?') ? '&' : '?'}${token}`);
}

function refused(code: string, detail: RegExp | undefined, run: () => unknown) {
  assert.throws(run, (error) => {
    assert.ok(error instanceof StorageError, String(error));
    assert.equal(error.code, code);
    if (detail !== undefined) assert.match(Object.values(error.details).join('\n'), detail);
    return true;
  });
}

// Reading: one field changed in a token that is good

const wrongFields: [what: string, change: Record<string, string>, detail: RegExp][] = [
  ['no version', { sv: '' }, /sv is mandatory|not supported/],
  ['a version that is none', { sv: '2025-11' }, /not well formed/],
  ['a version before account SAS', { sv: '2014-02-14' }, /not supported/],
  ['no services', { ss: '' }, /ss is mandatory/],
  ['an unknown service', { ss: 'bx' }, /not well formed/],
  ['no resource types', { srt: '' }, /srt is mandatory/],
  ['an unknown resource type', { srt: 'z' }, /not well formed/],
  ['no permissions', { sp: '' }, /sp is mandatory/],
  ['an unknown permission', { sp: 'rz' }, /not well formed/],
  ['a permission twice', { sp: 'rr' }, /not well formed/],
  ['no expiry', { se: '' }, /se is mandatory/],
  ['an expiry that is no time', { se: 'tomorrow' }, /not well formed/],
  ['a start that is no time', { st: '2020' }, /not well formed/],
  [
    'a start after the expiry',
    { st: '2031-01-01' },
    /Signed expiry time \[.* 2030 .*\] must be after signed start time \[.* 2031 /,
  ],
  ['an address that is none', { sip: '1.2.3' }, /not well formed/],
  ['a range that is upside down', { sip: '1.2.3.4-1.2.3.1' }, /not well formed/],
  ['http alone', { spr: 'http' }, /not well formed/],
  ['a stored policy', { si: 'policy' }, /si is not supported/],
  ['an encryption scope before there were any', { sv: '2019-12-12', ses: 'x' }, /ses is not supported/],
];

for (const [what, change, detail] of wrongFields) {
  test(`an account SAS with ${what} is refused`, () => {
    const query = new URLSearchParams({ ...accountFields, ...change, sig: 'x' }).toString();
    refused('AuthenticationFailed', detail, () => readSas(call('blob', '/c/b', query)));
  });
}

test('a SAS without a signature is refused', () => {
  const query = new URLSearchParams({ ...blobFields, sig: '' }).toString();
  refused('AuthenticationFailed', /sig is mandatory/, () => readSas(call('blob', '/c/b', query)));
});

for (const name of ['sv', 'sp', 'se', 'sig', 'sr', 'si', 'sip']) {
  test(`${name} given twice is refused with 400, also for a token that is remembered`, () => {
    const verifier = new SasVerifier();
    const token = signSas(
      { service: 'blob', account, container: 'c', name: 'b' },
      { ...blobFields, si: 'p', sip: '1.1.1.1' },
      key,
    );
    verifier.verify(call('blob', '/c/b', token), keys);
    for (const twice of [`${token}&${name}=r`, `${token}&${name.toUpperCase()}=`]) {
      refused('InvalidQueryParameterValue', new RegExp(`^${name}\n`), () =>
        verifier.verify(call('blob', '/c/b', twice), keys),
      );
    }
  });
}

test('a parameter of the request may be given twice', () => {
  const token = signSas({ service: 'blob', account, container: 'c', name: 'b' }, blobFields, key);
  new SasVerifier().verify(call('blob', '/c/b?include=a&include=b', token), keys);
});

test('the value of sig is not told back', () => {
  const token = signSas({ service: 'blob', account, container: 'c', name: 'b' }, blobFields, key);
  refused('InvalidQueryParameterValue', /^sig\n\n/, () =>
    readSas(call('blob', '/c/b', `${token}&sig=secret`)),
  );
});

const wrongOverrides = ['a\rSet-Cookie: x', 'a\0b', 'a\x7f'];
for (const value of wrongOverrides) {
  test(`the override ${JSON.stringify(value)} cannot be a header`, () => {
    const token = signSas(
      { service: 'blob', account, container: 'c', name: 'b' },
      { ...blobFields, rscd: value },
      key,
    );
    refused('InvalidQueryParameterValue', /rscd/, () => readSas(call('blob', '/c/b', token)));
  });
}

test('overrides are read where they are signed, and nowhere else', () => {
  const overrides = { rscc: 'no-cache', rscd: 'attachment; filename="ü日.txt"', rsct: 'text/plain' };
  const target = { service: 'blob', account, container: 'c', name: 'b' } as const;
  const { overrides: read } = readSas(
    call('blob', '/c/b', signSas(target, { ...blobFields, ...overrides }, key)),
  );
  assert.deepEqual(read, [
    'Cache-Control',
    'no-cache',
    'Content-Disposition',
    Buffer.from(overrides.rscd).toString('latin1'),
    'Content-Type',
    'text/plain',
  ]);
  const ofAccount = signSas(target, { ...accountFields, ...overrides }, key);
  assert.deepEqual(readSas(call('blob', '/c/b', ofAccount)).overrides, []);
  const old = signSas(target, { ...blobFields, ...overrides, sv: '2012-02-12' }, key);
  assert.deepEqual(readSas(call('blob', '/c/b', old)).overrides, []);
});

for (const [fields, fine] of [
  [{ spk: 'a' }, true],
  [{ epk: 'a', erk: 'b' }, true],
  [{ srk: 'b' }, false],
  [{ spk: 'a', erk: 'b' }, false],
] as const) {
  test(`a table SAS with ${Object.keys(fields).join(' and ')} is ${fine ? 'read' : 'refused'}`, () => {
    const all = { sv: '2025-11-05', tn: 'T', sp: 'r', se, ...fields };
    const token = signSas({ service: 'table', account, container: 'T' }, all, key);
    if (fine) readSas(call('table', '/t', token));
    else refused('AuthenticationFailed', /not well formed/, () => readSas(call('table', '/t', token)));
  });
}

test('a field with a line break in it could pass for two', () => {
  const target = { service: 'blob', account, container: 'c', name: 'b' } as const;
  for (const change of [{ rscd: 'a\r\nSet-Cookie: x' }, { si: 'a\nb' }]) {
    const token = signSas(target, { ...blobFields, ...change }, key);
    refused('AuthenticationFailed', /not well formed/, () => readSas(call('blob', '/c/b', token)));
  }
});

test('a signed parameter of the request cannot swallow the next', () => {
  const fields = { sv: '2026-06-06', sr: 'c', se: '2026-05-02T12:00:00Z' };
  const token = delegated('owner', { ...fields, srq: 'prefix,delimiter', prefix: 'a', delimiter: '/' });
  new SasVerifier().verify(call('blob', '/c?restype=container', token), withSecret);
  const changed = token
    .replace(/srq=[^&]*/, 'srq=prefix')
    .replace('prefix=a', 'prefix=a%0Adelimiter:%2F')
    .replace(/&delimiter=[^&]*/, '&delimiter=x');
  assert.notEqual(changed, token);
  refused('AuthenticationFailed', /not well formed/, () =>
    new SasVerifier().verify(call('blob', '/c?restype=container', changed), withSecret),
  );
});

// Resources: what a token made for one path opens

interface Scope {
  readonly service: ServiceName;
  readonly target: { container?: string; name?: string };
  readonly fields: Record<string, string>;
  readonly opens: string[];
  readonly not: string[];
}

const scopes: Record<string, Scope> = {
  'a container': {
    service: 'blob',
    target: { container: 'c' },
    fields: { sr: 'c', sp: 'r' },
    opens: ['/c/a', '/c/a/b', '/c?restype=container&comp=list', '/c/a?snapshot=x'],
    not: ['/d/a', '/', '/?comp=list', '/cc/a'],
  },
  'a blob': {
    service: 'blob',
    target: { container: 'c', name: 'a/b' },
    fields: { sr: 'b', sp: 'r' },
    opens: ['/c/a/b', '/c/a%2Fb', '/c/a/b?snapshot=x', '/c/a/b?comp=metadata'],
    not: ['/c/a', '/c/a/b/c', '/c/a/B', '/c?restype=container', '/c/a/b/', '/c//a/b'],
  },
  'a blob in the root container': {
    service: 'blob',
    target: { container: '$root', name: 'a' },
    fields: { sr: 'b', sp: 'r' },
    opens: ['/a', '/$root/a'],
    not: ['/b', '/root/a'],
  },
  'a snapshot': {
    service: 'blob',
    target: { container: 'c', name: 'a' },
    fields: { sr: 'bs', sp: 'r', snapshot: 't1' },
    opens: ['/c/a'],
    not: ['/c/b'],
  },
  'a directory': {
    service: 'blob',
    target: { container: 'c', name: 'a/b' },
    fields: { sr: 'd', sdd: '2', sp: 'r' },
    opens: ['/c/a/b', '/c/a/b/', '/c/a/b/c', '/c/a/b/c/d'],
    not: ['/c/a', '/c/a/bb', '/c/b/a/b', '/c?restype=container', '/d/a/b/c'],
  },
  'a queue': {
    service: 'queue',
    target: { container: 'q' },
    fields: { sp: 'r' },
    opens: ['/q', '/q/messages', '/q/messages/id'],
    not: ['/r', '/?comp=list'],
  },
  'a table': {
    service: 'table',
    target: { container: 'MyTable' },
    fields: { tn: 'MyTable', sp: 'r' },
    opens: ['/MyTable', '/mytable()', "/MYTABLE(PartitionKey='a',RowKey='b')", '/$batch'],
    not: ['/Other', "/Tables('Other')"],
  },
  'a share': {
    service: 'file',
    target: { container: 's' },
    fields: { sr: 's', sp: 'r' },
    opens: ['/s?restype=share', '/s/a', '/s/a/b', '/s/?restype=directory'],
    not: ['/t/a', '/?comp=list'],
  },
  'a file': {
    service: 'file',
    target: { container: 's', name: 'a/b' },
    fields: { sr: 'f', sp: 'r' },
    opens: ['/s/a/b'],
    not: ['/s/a', '/s/a/b/c', '/s?restype=share', '/t/a/b'],
  },
};

for (const [what, { service, target, fields, opens, not }] of Object.entries(scopes)) {
  const token = signSas({ service, account, ...target }, { sv: '2025-11-05', se, ...fields }, key);
  const verifier = new SasVerifier();
  for (const path of opens) {
    test(`the SAS of ${what} opens ${path}`, () => {
      for (let again = 0; again < 2; again++) verifier.verify(call(service, path, token), keys);
    });
  }
  for (const path of not) {
    test(`the SAS of ${what} does not open ${path}`, () => {
      refused('AuthenticationFailed', undefined, () => verifier.verify(call(service, path, token), keys));
    });
  }
}

test('the SAS of a blob does not pass for one of a directory, a snapshot or a container', () => {
  const target = { service: 'blob', account, container: 'c', name: 'a' } as const;
  for (const sv of ['2015-04-05', '2018-03-28', '2018-11-09', '2019-12-12', '2020-02-10', '2025-11-05']) {
    const token = signSas(target, { sv, sr: 'b', sp: 'r', se }, key);
    const verifier = new SasVerifier();
    verifier.verify(call('blob', '/c/a', token), keys);
    const as = (sr: string) => token.replace('sr=b', `sr=${sr}`);
    for (const [path, changed] of [
      ['/c/a/b', `${as('d')}&sdd=1`],
      ['/c/a?snapshot=x', as('bs')],
      ['/c/a', as('c')],
      ['/c/a?versionid=', as('bv')],
    ] as const) {
      refused('AuthenticationFailed', undefined, () => verifier.verify(call('blob', path, changed), keys));
    }
  }
});

test('a token for one service does not open another', () => {
  const token = signSas(
    { service: 'queue', account, container: 'x' },
    { sv: '2025-11-05', sp: 'r', se },
    key,
  );
  refused('AuthenticationFailed', undefined, () =>
    new SasVerifier().verify(call('blob', '/x/y', token), keys),
  );
});

test('a version newer than any known has the newest form', () => {
  const token = signSas(
    { service: 'blob', account, container: 'c', name: 'b' },
    { ...blobFields, sv: '2099-01-01' },
    key,
  );
  new SasVerifier().verify(call('blob', '/c/b', token), keys);
});

test('the form before there were versions is read', () => {
  const token = signSas(
    { service: 'blob', account, container: 'c', name: 'b' },
    { sr: 'b', sp: 'r', se },
    key,
  );
  assert.equal(new SasVerifier().verify(call('blob', '/c/b', token), keys).token.version, '');
  refused('AuthenticationFailed', /not supported/, () => readSas(call('queue', '/q', token)));
});

// What is remembered

test('a wrong signature tells the string it should have been made of, and is not remembered', () => {
  const verifier = new SasVerifier();
  const token = signSas(
    { service: 'blob', account, container: 'c', name: 'b' },
    blobFields,
    Buffer.alloc(64),
  );
  for (let again = 0; again < 2; again++) {
    refused(
      'AuthenticationFailed',
      /^Signature did not match. String to sign used was r\n\n2030.*\/blob\/.*\/c\/b/s,
      () => verifier.verify(call('blob', '/c/b', token), keys),
    );
  }
});

test('a token is remembered, and a changed key makes it forgotten', () => {
  const verifier = new SasVerifier();
  const token = signSas({ service: 'blob', account, container: 'c', name: 'b' }, blobFields, otherKey);
  const first = verifier.verify(call('blob', '/c/b', token), keys);
  assert.equal(verifier.verify(call('blob', '/c/b', token), keys), first);
  assert.equal(
    verifier.verify(call('blob', '/c/b', token), {
      ...keys,
      account: [Buffer.from(key), Buffer.from(otherKey)],
    }),
    first,
  );
  refused('AuthenticationFailed', undefined, () =>
    verifier.verify(call('blob', '/c/b', token), { ...keys, account: [key, Buffer.alloc(64, 9)] }),
  );
  assert.equal(verifier.verify(call('blob', '/c/b', token), keys).token.permissions, 'r');
});

test('what is remembered of one account does not open another', () => {
  const verifier = new SasVerifier();
  const token = signSas({ service: 'blob', account }, accountFields, key);
  const mine = call('blob', '/c/b', token);
  verifier.verify(mine, keys);
  const theirs = Object.assign(Object.create(mine), { account: 'other' });
  refused('AuthenticationFailed', undefined, () => verifier.verify(theirs, keys));
});

test('no parameter of a remembered token can be changed', () => {
  const verifier = new SasVerifier();
  const fields = {
    ...blobFields,
    st: '2020-01-01',
    sip: '1.1.1.1',
    spr: 'https',
    si: 'p',
    ses: 'e',
    rscc: 'x',
  };
  const token = signSas({ service: 'blob', account, container: 'c', name: 'b' }, fields, key);
  verifier.verify(call('blob', '/c/b', token), keys);
  for (const name of Object.keys(fields)) {
    const without = token.replace(new RegExp(`(^|&)${name}=[^&]*`), '').replace(/^&/, '');
    refused('AuthenticationFailed', undefined, () => verifier.verify(call('blob', '/c/b', without), keys));
  }
  refused('AuthenticationFailed', undefined, () =>
    verifier.verify(
      call('blob', '/c/b', token.replace('rscc=x', `rscc=${encodeURIComponent('x\nrscd=y')}`)),
      keys,
    ),
  );
});

// User delegation

const secret = Buffer.alloc(32, 5);
const withSecret = { account: [key], delegation: secret };

function delegated(role: 'reader' | 'contributor' | 'owner', change: Record<string, string> = {}): string {
  const identity = { kind: 'bearer', objectId: 'o', tenantId: 't', role } as const;
  const request = {
    account,
    service: 'blob',
    version: '2025-11-05',
    start: '2026-05-01T12:00:00Z',
    expiry: '2026-05-02T12:00:00Z',
  } as const;
  const issued = issueUserDelegationKey(secret, identity, request, now);
  const fields = {
    sv: '2025-11-05',
    sr: 'c',
    sp: 'r',
    se: '2026-05-02T12:00:00Z',
    skoid: issued.objectId,
    sktid: issued.tenantId,
    skt: issued.start,
    ske: issued.expiry,
    sks: issued.service,
    skv: issued.version,
    ...change,
  };
  return signSas({ service: 'blob', account, container: 'c' }, fields, Buffer.from(issued.value, 'base64'));
}

for (const role of ['reader', 'contributor', 'owner'] as const) {
  test(`a user delegation SAS carries the role of its key: ${role}`, () => {
    const verifier = new SasVerifier();
    const request = call('blob', '/c/b', delegated(role));
    for (let again = 0; again < 2; again++) assert.equal(verifier.verify(request, withSecret).role, role);
    refused('AuthenticationFailed', undefined, () =>
      verifier.verify(request, { account: [key], delegation: undefined }),
    );
    refused('AuthenticationFailed', undefined, () =>
      verifier.verify(request, { account: [key], delegation: Buffer.alloc(32, 6) }),
    );
    assert.equal(verifier.verify(request, withSecret).role, role);
  });
}

const wrongDelegations: [what: string, change: Record<string, string>, detail: RegExp][] = [
  ['of another service', { sks: 'q' }, /not this service/],
  ['that ends after its key', { se: '2026-05-02T12:00:01Z' }, /user delegation key/],
  ['that begins before its key', { st: '2026-05-01T11:59:59Z' }, /user delegation key/],
  [
    'whose key lives longer than it was given',
    { ske: '2026-05-09T12:00:00Z', se: '2026-05-09' },
    /did not match/,
  ],
  ['without an expiry of the key', { ske: '' }, /ske is mandatory/],
  ['with a stored policy', { si: 'p' }, /si is not supported/],
  ['of somebody else', { skoid: 'x' }, /did not match/],
];

for (const [what, change, detail] of wrongDelegations) {
  test(`a user delegation SAS ${what} is refused`, () => {
    refused('AuthenticationFailed', detail, () =>
      new SasVerifier().verify(call('blob', '/c/b', delegated('owner', change)), withSecret),
    );
  });
}

test('the account key does not sign a user delegation SAS', () => {
  const token = delegated('owner');
  const fields = Object.fromEntries(new URLSearchParams(token));
  const { sig: _, ...unsigned } = fields;
  const forged = signSas({ service: 'blob', account, container: 'c' }, unsigned, key);
  refused('AuthenticationFailed', undefined, () =>
    new SasVerifier().verify(call('blob', '/c/b', forged), withSecret),
  );
});
