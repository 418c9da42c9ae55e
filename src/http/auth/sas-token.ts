// A SAS token, read: from the parameters of a request to a value that cannot be wrong. Whether it was signed
// and what it allows is decided elsewhere (sas.ts, permissions.ts).
//
// Only what is signed is read (sas-forms.ts). A field that is missing or cannot be understood is refused
// with 403 `AuthenticationFailed`, in Azure's words; a parameter given twice with 400, because it would be
// unclear which one was meant.

import { formatHttpDate, parseIsoTime } from '../../base/times.js';
import { StorageError } from '../../services/common/errors.js';
import type { Call, Version } from '../call.js';
import { parameters } from '../uri.js';
import { type IpRange, parseIpRange } from './ip-range.js';
import { unauthenticated } from './refusals.js';
import { letters, type SasKind, sasParameters, signedFields } from './sas-forms.js';
import { resourceOf, type SasResource } from './sas-resource.js';
import type { KeyRange } from './types.js';
import { type DelegationKeyClaims, serviceLetters } from './user-delegation-key.js';

export interface SasToken {
  readonly kind: SasKind;
  /** Empty: the form before there were versions. */
  readonly version: Version;
  /** What is signed, in order. */
  readonly fields: readonly string[];
  readonly signature: string;
  /** Nothing where a stored policy has to say it. */
  readonly permissions: string | undefined;
  readonly start: number | undefined;
  readonly expiry: number | undefined;
  readonly ip: IpRange | undefined;
  readonly httpsOnly: boolean;
  /** Letters of `ss` and `srt`; empty unless it is an account SAS. */
  readonly services: string;
  readonly resourceTypes: string;
  /** The stored policy it refers to. */
  readonly policy: string | undefined;
  /** Nothing for an account SAS. */
  readonly resource: SasResource | undefined;
  readonly delegation: DelegationKeyClaims | undefined;
  /** `sduoid`: the one user who may use it, with a token of their own. */
  readonly delegatedUser: string | undefined;
  readonly overrides: readonly string[];
  readonly keys: KeyRange | undefined;
  readonly encryptionScope: string | undefined;
}

export type SasRequest = Pick<
  Call,
  'service' | 'account' | 'container' | 'name' | 'query' | 'rawQuery' | 'headers'
>;

const malformed = 'Signature fields not well formed.';
const versionForm = /^\d{4}-\d\d-\d\d$/;

export function readSas(request: SasRequest): SasToken {
  refuseRepeated(request);
  const { query, service } = request;
  const kind = kindOf(query);
  const version = query.get('sv') ?? '';
  if (version !== '' && !versionForm.test(version)) throw unauthenticated(malformed);
  const fields = signedFields(kind, service, version);
  if (fields === undefined)
    throw unauthenticated(`The signed version '${version}' is not supported for this SAS.`);

  const resource = kind === 'account' ? undefined : resourceOf(request, version);
  if (kind !== 'account' && resource === undefined) {
    throw unauthenticated('Specified signed resource is not allowed for the this resource level.'); // sic
  }
  refuseUnsigned(query, fields);
  refuseLineBreaks(query, fields);
  const get = (name: string) => (fields.includes(name) ? query.get(name) || undefined : undefined);
  const policy = get('si');
  for (const name of mandatory(kind, policy !== undefined)) {
    if (!query.get(name)) throw unauthenticated(`${name} is mandatory. Cannot be empty`);
  }
  const [start, expiry] = interval(get('st'), get('se'));
  return {
    kind,
    version,
    fields,
    signature: query.get('sig') ?? '',
    permissions: lettersOf(get('sp'), letters[resource?.kind ?? 'account'] ?? ''),
    start,
    expiry,
    ip: ipOf(get('sip')),
    httpsOnly: isHttpsOnly(get('spr')),
    services: lettersOf(get('ss'), 'bqtf') ?? '',
    resourceTypes: lettersOf(get('srt'), 'sco') ?? '',
    policy,
    resource,
    delegation: kind === 'delegation' ? delegationOf(request, start, expiry) : undefined,
    delegatedUser: get('sduoid'),
    overrides: overridesOf(get),
    keys: keysOf(get),
    encryptionScope: get('ses'),
  };
}

export function kindOf(query: ReadonlyMap<string, string>): SasKind {
  if (query.has('ss') || query.has('srt')) return 'account';
  return query.has('skoid') ? 'delegation' : 'service';
}

function mandatory(kind: SasKind, hasPolicy: boolean): readonly string[] {
  if (kind === 'account') return ['sv', 'ss', 'srt', 'sp', 'se', 'sig'];
  if (kind === 'delegation') return ['sv', 'sp', 'se', 'skoid', 'sktid', 'ske', 'sks', 'skv', 'sig'];
  return hasPolicy ? ['sig'] : ['sp', 'se', 'sig'];
}

/** What follows a parameter's first value would be seen by no check. */
function refuseRepeated({ query, rawQuery }: SasRequest): void {
  if (countParts(rawQuery) === query.size) return;
  const seen = new Set<string>();
  for (const [name, value] of parameters(rawQuery)) {
    if (seen.has(name) && sasParameters.has(name)) {
      throw new StorageError('InvalidQueryParameterValue', {
        details: {
          QueryParameterName: name,
          QueryParameterValue: name === 'sig' ? '' : value,
          Reason: 'It is given twice.',
        },
      });
    }
    seen.add(name);
  }
}

/** How many parts `&` makes of a query. */
export function countParts(rawQuery: string): number {
  let parts = 1;
  for (let at = rawQuery.indexOf('&'); at >= 0; at = rawQuery.indexOf('&', at + 1)) parts++;
  return parts;
}

/** A limit that was not signed, and a policy where there is none: the maker meant something we would not do. */
function refuseUnsigned(query: ReadonlyMap<string, string>, fields: readonly string[]): void {
  for (const name of ['ses', 'si', 'sip', 'spr', 'spk', 'srk', 'epk', 'erk', 'srh', 'srq', 'sduoid']) {
    if (query.get(name) && !fields.includes(name)) {
      throw unauthenticated(`${name} is not supported for this SAS in its version.`);
    }
  }
}

/** Lines are what tells one signed field from the next. */
function refuseLineBreaks(query: ReadonlyMap<string, string>, fields: readonly string[]): void {
  const named = (query.get('srq') ?? '').toLowerCase().split(',');
  for (const name of [...fields, ...named]) {
    if (query.get(name)?.includes('\n')) throw unauthenticated(malformed);
  }
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseIsoTime(text);
  if (time === undefined) throw unauthenticated(malformed);
  return time.ms;
}

function interval(st: string | undefined, se: string | undefined): [number | undefined, number | undefined] {
  const [start, expiry] = [timeOf(st), timeOf(se)];
  if (start !== undefined && expiry !== undefined && expiry <= start) {
    throw unauthenticated(
      `Signed expiry time [${formatHttpDate(expiry)}] must be after signed start time [${formatHttpDate(start)}]`,
    );
  }
  return [start, expiry];
}

function lettersOf(text: string | undefined, known: string): string | undefined {
  if (text === undefined) return undefined;
  const fine = [...text].every((letter, index) => known.includes(letter) && text.indexOf(letter) === index);
  if (!fine) throw unauthenticated(malformed);
  return text;
}

function ipOf(text: string | undefined): IpRange | undefined {
  if (text === undefined) return undefined;
  const range = parseIpRange(text);
  if (range === undefined) throw unauthenticated(malformed);
  return range;
}

function isHttpsOnly(text: string | undefined): boolean {
  if (text === 'https') return true;
  if (text === undefined || text === 'https,http' || text === 'http,https') return false;
  throw unauthenticated(malformed);
}

/** The key must be for this service, and the SAS may not outlive or precede it. */
function delegationOf(
  { query, service }: SasRequest,
  start: number | undefined,
  expiry: number | undefined,
): DelegationKeyClaims {
  const text = (name: string) => query.get(name) ?? '';
  const [keyStart, keyExpiry] = interval(text('skt') || undefined, text('ske'));
  if (text('sks') !== serviceLetters[service]) {
    throw unauthenticated(`The signed key service '${text('sks')}' is not this service.`);
  }
  const early = start !== undefined && keyStart !== undefined && start < keyStart;
  const late = expiry !== undefined && keyExpiry !== undefined && expiry > keyExpiry;
  if (early || late) {
    throw unauthenticated(
      'The SAS is valid at times when the user delegation key it was signed with is not.',
    );
  }
  return {
    objectId: text('skoid'),
    tenantId: text('sktid'),
    start: text('skt'),
    expiry: text('ske'),
    service: text('sks'),
    version: text('skv'),
    delegatedTenantId: query.get('skdutid') || undefined,
  };
}

// biome-ignore format: a table
const overridden = [
  ['rscc', 'Cache-Control'],
  ['rscd', 'Content-Disposition'],
  ['rsce', 'Content-Encoding'],
  ['rscl', 'Content-Language'],
  ['rsct', 'Content-Type'],
] as const;

const headerText = /^[\t\x20-\x7e\x80-\xff]*$/;

function overridesOf(get: (name: string) => string | undefined): string[] {
  return overridden.flatMap(([name, header]) => {
    const value = get(name);
    if (value === undefined) return [];
    // node takes Latin-1; what is beyond goes out as the bytes of its UTF-8.
    const text = headerText.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1');
    if (headerText.test(text)) return [header, text];
    throw new StorageError('InvalidQueryParameterValue', {
      details: {
        QueryParameterName: name,
        QueryParameterValue: '',
        Reason: 'It cannot be sent as a header.',
      },
    });
  });
}

function keysOf(get: (name: string) => string | undefined): KeyRange | undefined {
  const [startPartition, startRow] = [get('spk'), get('srk')];
  const [endPartition, endRow] = [get('epk'), get('erk')];
  if (
    (startRow !== undefined && startPartition === undefined) ||
    (endRow !== undefined && endPartition === undefined)
  ) {
    throw unauthenticated(malformed);
  }
  if (startPartition === undefined && endPartition === undefined) return undefined;
  return { startPartition, startRow, endPartition, endRow };
}
