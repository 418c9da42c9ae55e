// Every kind of credential for every operation, and what each is told: from the published table (published.ts).
//
// Each request also has a `timeout` that is no number. That is looked at right after authorization and before
// anything is done, so who is let in is told `InvalidQueryParameterValue`, exactly, and nothing ever changes.

import assert from 'node:assert/strict';
import { roles } from '#src/http/auth/roles.js';
import { signSas } from '#src/http/auth/sign.js';
import type { ServiceName } from '#src/http/call.js';
import { takeApart } from '#src/http/dispatch.js';
import type { Operation } from '#src/http/operation.js';
import { fulfils, letters, operations, type Published, published } from './published.js';

export const passes = 'InvalidQueryParameterValue';
export const account = 'matrixaccount';
export const keys = [Buffer.alloc(64, 1), Buffer.alloc(64, 2)] as const;
export const otherKey = Buffer.alloc(64, 3);
export const sv = '2025-11-05';
export const later = new Date(Date.now() + 3600_000).toISOString();
export const past = new Date(Date.now() - 3600_000).toISOString();

/** A bearer token of each role. */
export const tokens = new Map<string, string>();
/** A user delegation key of each role: the fields of its SAS, and the key itself. */
export const delegations = new Map<string, { fields: Record<string, string>; key: Buffer }>();

/** One operation as a request. */
export interface Target {
  readonly service: ServiceName;
  readonly operation: Operation;
  readonly expected: Published;
  readonly method: string;
  /** After the account. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly container: string;
  readonly name: string;
}

export interface Case {
  readonly what: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signedBy?: { readonly name: string; readonly key: Buffer };
  readonly expected: string;
}

export function intent(service: ServiceName): Record<string, string> {
  return service === 'file' ? { 'x-ms-file-request-intent': 'backup' } : {};
}

// From rows to requests

const filled: Readonly<Record<string, string>> = {
  '{container}': 'box',
  '{blob}': 'thing',
  '{queue}': 'box',
  '{messageid}': 'some-id',
  '({table})': "('box')",
  '{table}': 'box',
  '{keys}': "PartitionKey='p',RowKey='r'",
  '{share}': 'box',
  '{path}': 'thing',
};

export function targetsOf(service: ServiceName): Target[] {
  return operations[service].flatMap((row) => {
    const operation = takeApart(row);
    const expected = published[service].get(operation.name);
    assert.ok(expected, `${operation.name} has a row in the published table`);
    const path = Object.entries(filled).reduce(
      (text, [hole, value]) => text.replace(hole, value),
      operation.resource,
    );
    assert.doesNotMatch(path, /[{}]/, `${operation.resource} can be asked for`);
    const query = [...operation.query.map(([name, value]) => `${name}=${value ?? 'x'}`), 'timeout=bad'].join(
      '&',
    );
    const headers = Object.fromEntries(
      operation.telling.map(([name, value]) => [
        name,
        value ?? (name === 'if-match' ? '*' : 'http://127.0.0.1/x/y'),
      ]),
    );
    const container = /\{(container|queue|share|table)\}/.test(operation.resource) ? 'box' : '';
    const name = /\{(blob|path)\}/.test(operation.resource) ? 'thing' : '';
    return operation.methods.map((method) => ({
      service,
      operation,
      expected,
      method,
      path,
      query,
      headers,
      container,
      name,
    }));
  });
}

// Credentials, and what each is told

export function* casesOf(target: Target): Generator<Case> {
  yield* keyCases();
  yield* accountSasCases(target);
  for (const kind of serviceKinds(target.service)) yield* serviceSasCases(target, kind);
  yield* roleCases(target);
  yield { what: 'nothing', expected: 'NoAuthenticationInformation' };
}

function* keyCases(): Generator<Case> {
  yield { what: 'the first key', signedBy: { name: account, key: keys[0] }, expected: passes };
  yield { what: 'the second key', signedBy: { name: account, key: keys[1] }, expected: passes };
  yield {
    what: 'a wrong key',
    signedBy: { name: account, key: Buffer.alloc(64, 9) },
    expected: 'AuthenticationFailed',
  };
  yield {
    what: 'the key of another account',
    signedBy: { name: account, key: otherKey },
    expected: 'AuthenticationFailed',
  };
  yield {
    what: 'another account, with its key',
    signedBy: { name: 'otheraccount', key: otherKey },
    expected: 'AuthenticationFailed',
  };
}

function accountSas(target: Target, fields: Record<string, string>, key: Buffer = keys[0]): string {
  const all = { sv, ss: 'bqtf', srt: 'sco', sp: letters['account'] ?? '', se: later, ...fields };
  return signSas({ service: target.service, account }, all, key);
}

function* accountSasCases(target: Target): Generator<Case> {
  const { type, account: need } = target.expected;
  const good = need === '-' ? 'AuthorizationFailure' : passes;
  const own = { blob: 'b', queue: 'q', table: 't', file: 'f' }[target.service];
  yield { what: 'an account SAS with all letters', query: accountSas(target, {}), expected: good };
  for (const letter of letters['account'] ?? '') {
    const expected = need !== '-' && !fulfils(letter, need) ? 'AuthorizationPermissionMismatch' : good;
    yield { what: `an account SAS with ${letter}`, query: accountSas(target, { sp: letter }), expected };
  }
  if (need.includes('+'))
    yield {
      what: `an account SAS with ${need}`,
      query: accountSas(target, { sp: need.replaceAll('+', '') }),
      expected: good,
    };
  for (const srt of ['s', 'c', 'o']) {
    const expected =
      need !== '-' && type !== 'any' && !type.includes(srt) ? 'AuthorizationResourceTypeMismatch' : good;
    yield { what: `an account SAS for ${srt}`, query: accountSas(target, { srt }), expected };
  }
  const others = 'bqtf'.replace(own, '');
  yield {
    what: 'an account SAS for the other services',
    query: accountSas(target, { ss: others }),
    expected: 'AuthorizationServiceMismatch',
  };
  yield* limitedCases('an account SAS', (fields, key) => accountSas(target, fields, key), good);
}

/** What limits a SAS, whatever kind it is. */
function* limitedCases(
  kind: string,
  sas: (fields: Record<string, string>, key?: Buffer) => string,
  good: string,
): Generator<Case> {
  const none = 'AuthenticationFailed';
  yield { what: `${kind} by the second key`, query: sas({}, keys[1]), expected: good };
  yield { what: `${kind} by a wrong key`, query: sas({}, otherKey), expected: none };
  yield { what: `${kind} that is over`, query: sas({ st: '2020-01-01', se: past }), expected: none };
  yield {
    what: `${kind} that has not begun`,
    query: sas({ st: new Date(Date.now() + 1800_000).toISOString() }),
    expected: none,
  };
  yield {
    what: `${kind} for another address`,
    query: sas({ sip: '10.1.2.3' }),
    expected: 'AuthorizationSourceIPMismatch',
  };
  yield { what: `${kind} for this address`, query: sas({ sip: '127.0.0.0-127.0.0.9' }), expected: good };
  yield {
    what: `${kind} for https`,
    query: sas({ spr: 'https' }),
    expected: 'AuthorizationProtocolMismatch',
  };
  yield {
    what: `${kind} changed after it was signed`,
    query: sas({ st: past }).replace(encodeURIComponent(past), encodeURIComponent('2020-01-01')),
    expected: none,
  };
  yield {
    what: `${kind} without its signature`,
    query: sas({}).replace(/sig=[^&]*/, 'sig='),
    expected: none,
  };
}

interface ServiceKind {
  /** A row of `letters`. */
  readonly kind: string;
  readonly sr: Readonly<Record<string, string>>;
  /** What the address must name for it to be about this. */
  readonly covers: (target: Target) => boolean;
}

function serviceKinds(service: ServiceName): ServiceKind[] {
  const inContainer = ({ container }: Target) => container !== '';
  const ofObject = ({ name }: Target) => name !== '';
  switch (service) {
    case 'blob':
      return [
        { kind: 'container', sr: { sr: 'c' }, covers: inContainer },
        { kind: 'blob', sr: { sr: 'b' }, covers: ofObject },
      ];
    case 'queue':
      return [{ kind: 'queue', sr: {}, covers: inContainer }];
    case 'table':
      return [{ kind: 'table', sr: { tn: 'box' }, covers: () => true }];
    case 'file':
      return [
        { kind: 'share', sr: { sr: 's' }, covers: inContainer },
        { kind: 'file', sr: { sr: 'f' }, covers: ofObject },
      ];
  }
}

function serviceSas(
  { service }: Target,
  { sr }: ServiceKind,
  fields: Record<string, string>,
  key: Buffer,
  container = 'box',
): string {
  const name = sr['sr'] === 'b' || sr['sr'] === 'f' ? 'thing' : '';
  const table = sr['tn'] === undefined ? {} : { tn: container };
  return signSas({ service, account, container, name }, { sv, ...sr, ...table, ...fields }, key);
}

function* serviceSasCases(target: Target, kind: ServiceKind): Generator<Case> {
  const what = `a ${kind.kind} SAS`;
  const need = target.expected.service;
  const known = letters[kind.kind] ?? '';
  const sas = (fields: Record<string, string>, key: Buffer = keys[0], container = 'box') =>
    serviceSas(target, kind, { sp: known, se: later, ...fields }, key, container);
  if (!kind.covers(target)) {
    yield { what, query: sas({}), expected: 'AuthenticationFailed' };
    return;
  }
  const good =
    need === '-' ? 'AuthorizationFailure' : fulfils(known, need) ? passes : 'AuthorizationPermissionMismatch';
  yield { what: `${what} with all letters`, query: sas({}), expected: good };
  for (const letter of new Set([...(letters['account'] ?? ''), ...known])) {
    const allowed = fulfils(letter, need) ? good : 'AuthorizationPermissionMismatch';
    const expected = !known.includes(letter) ? 'AuthenticationFailed' : need === '-' ? good : allowed;
    yield { what: `${what} with ${letter}`, query: sas({ sp: letter }), expected };
  }
  if (target.container !== '')
    yield {
      what: `${what} for another`,
      query: sas({}, keys[0], 'elsewhere'),
      expected: 'AuthenticationFailed',
    };
  yield* limitedCases(what, sas, good);
  const byPolicy = (si: string) => serviceSas(target, kind, { si }, keys[0]);
  // The policies allow what their service knows since ever, which is not every letter.
  const granted =
    { container: 'racwdl', blob: 'racwdl', queue: 'raup', table: 'raud', share: 'rcwdl', file: 'rcwdl' }[
      kind.kind
    ] ?? '';
  const ofPolicy =
    need === '-'
      ? 'AuthorizationFailure'
      : fulfils(granted, need)
        ? passes
        : 'AuthorizationPermissionMismatch';
  yield { what: `${what} by a stored policy`, query: byPolicy('live'), expected: ofPolicy };
  yield {
    what: `${what} by a policy that is not there`,
    query: byPolicy('revoked'),
    expected: 'AuthenticationFailed',
  };
  yield {
    what: `${what} by a policy, with a permission of its own`,
    query: serviceSas(target, kind, { si: 'live', sp: 'r' }, keys[0]),
    expected: 'AuthenticationFailed',
  };
}

function* roleCases(target: Target): Generator<Case> {
  const { service, expected } = target;
  const order: readonly string[] = roles;
  for (const role of roles) {
    const isEnough = expected.role !== '-' && order.indexOf(expected.role) <= order.indexOf(role);
    const headers = { Authorization: `Bearer ${tokens.get(role)}`, ...intent(service) };
    yield {
      what: `a bearer token of a ${role}`,
      headers,
      expected: isEnough ? passes : 'AuthorizationPermissionMismatch',
    };
    const delegation = delegations.get(`${service} ${role}`);
    const [kind] = serviceKinds(service);
    if (delegation === undefined || kind === undefined || !kind.covers(target)) continue;
    const fields = { sp: letters[kind.kind] ?? '', se: delegation.fields['ske'] ?? '', ...delegation.fields };
    const ofKey =
      expected.service === '-'
        ? 'AuthorizationFailure'
        : isEnough && fulfils(letters[kind.kind] ?? '', expected.service)
          ? passes
          : 'AuthorizationPermissionMismatch';
    yield {
      what: `a SAS by the delegation key of a ${role}`,
      query: serviceSas(target, kind, fields, delegation.key),
      expected: ofKey,
    };
    yield {
      what: `a SAS by a delegation key of a ${role} that was not given out`,
      query: serviceSas(target, kind, fields, otherKey),
      expected: 'AuthenticationFailed',
    };
  }
  const forged = `${tokens.get('owner')?.slice(0, -8)}AAAAAAAA`;
  yield {
    what: 'a bearer token with a wrong signature',
    headers: { Authorization: `Bearer ${forged}`, ...intent(service) },
    expected: 'InvalidAuthenticationInfo',
  };
}

/** Public containers, for operations that are asked for in one. */
export function* publicTargets(target: Target): Generator<[Target, Case]> {
  if (target.service !== 'blob' || target.container === '') return;
  for (const access of ['blob', 'container']) {
    const { anonymous } = target.expected;
    const opens = anonymous !== '-' && (access === 'container' || anonymous === 'blob');
    const path = target.path.replace('/box', `/open${access}`);
    yield [
      { ...target, path },
      {
        what: `nothing, in a container that is public for its ${access}s`,
        expected: opens ? passes : 'NoAuthenticationInformation',
      },
    ];
  }
}
