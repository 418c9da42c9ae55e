// Whether a SAS was signed by this server's keys.
//
// A token that was verified is remembered, under all of its parameters and the resource it was verified
// for, together with the keys: after a key was changed it is verified again. So a SAS in use costs a lookup
// and no hash. Only the signature is remembered; times, address, protocol, policy and permissions are
// judged for each request (permissions.ts).

import { Recent } from '../../base/recent.js';
import { signedBy } from './hmac.js';
import { unauthenticated } from './refusals.js';
import type { Role } from './roles.js';
import { sasParameters } from './sas-forms.js';
import { resourceOf } from './sas-resource.js';
import { countParts, readSas, type SasRequest, type SasToken } from './sas-token.js';
import { delegationKeys } from './user-delegation-key.js';

export interface VerifiedSas {
  readonly token: SasToken;
  /** Of a user delegation SAS: the role its key was given out for. */
  readonly role: Role | undefined;
}

export interface SasKeys {
  /** Either is valid. */
  readonly account: readonly Buffer[];
  /** What user delegation keys are made of; nothing: there are none. */
  readonly delegation: Buffer | undefined;
}

export class SasVerifier {
  readonly #verified: Recent<string, { sas: VerifiedSas; keys: readonly Buffer[] }>;
  /** Of the last request: who works with one token for the account sends the same query again and again. */
  #last: (Named & { readonly name: string }) | undefined;

  constructor(remembered = 2048) {
    this.#verified = new Recent(remembered);
  }

  /** 403 `AuthenticationFailed` unless the token is whole and signed. */
  verify(request: SasRequest, keys: SasKeys): VerifiedSas {
    const name = this.#nameOf(request);
    const known = name === undefined ? undefined : this.#verified.get(name);
    if (known !== undefined && sameKeys(known.keys, keysFor(known.sas.token, keys))) return known.sas;

    const token = readSas(request);
    const sas = { token, role: checkSignature(token, request, keys) };
    if (name !== undefined) this.#verified.set(name, { sas, keys: keysFor(token, keys) });
    return sas;
  }

  #nameOf(request: SasRequest): string | undefined {
    const { query, service, account } = request;
    const last = this.#last;
    if (last?.query === query && last.account === account && last.service === service) return last.name;
    const name = nameOf(request);
    if (name !== undefined && query.has('ss')) this.#last = { query, service, account, name };
    return name;
  }
}

/** What the name of a token for the account is made of; a query that is the same is the same object (uri.ts). */
type Named = Pick<SasRequest, 'query' | 'service' | 'account'>;

/** Not all of a token is signed, and what is remembered must stay small. */
const longestName = 2048;

/**
 * What tells a token and its resource from all others; nothing if it has to be read: because a parameter is
 * given twice, or because it signs headers of the request.
 */
function nameOf(request: SasRequest): string | undefined {
  const { query, rawQuery, service, account } = request;
  if (countParts(rawQuery) !== query.size) return undefined;
  let name = `${service}\n${account}`;
  if (!query.has('ss')) {
    const resource = resourceOf(request, query.get('sv') ?? '');
    if (resource === undefined) return undefined;
    name += `\n${resource.path}\n${resource.time}`;
  }
  for (const [parameter, value] of query) {
    if (!sasParameters.has(parameter)) continue;
    if (parameter === 'srh' || parameter === 'srq') return undefined;
    name += `\n${parameter}=${value}`;
  }
  return name.length > longestName ? undefined : name;
}

function keysFor(token: SasToken, keys: SasKeys): readonly Buffer[] {
  if (token.kind !== 'delegation') return keys.account;
  return keys.delegation === undefined ? [] : [keys.delegation];
}

function sameKeys(a: readonly Buffer[], b: readonly Buffer[]): boolean {
  return a === b || (a.length === b.length && a.every((key, index) => key.equals(b[index] as Buffer)));
}

function checkSignature(token: SasToken, request: SasRequest, keys: SasKeys): Role | undefined {
  const text = sasStringToSign(token, request);
  if (token.delegation === undefined) {
    if (signedBy(keys.account, text, token.signature)) return undefined;
  } else if (keys.delegation !== undefined) {
    const candidates = delegationKeys(keys.delegation, request.account, token.delegation);
    const found = candidates.find(([, key]) => signedBy([key], text, token.signature));
    if (found !== undefined) return found[0];
  }
  throw unauthenticated(`Signature did not match. String to sign used was ${text}`);
}

export function sasStringToSign(token: Pick<SasToken, 'fields' | 'resource'>, request: SasRequest): string {
  return token.fields.map((field) => signedValue(field, token, request)).join('\n');
}

function signedValue(field: string, { resource }: Pick<SasToken, 'resource'>, request: SasRequest): string {
  const { query, headers, account } = request;
  switch (field) {
    case 'account':
      return account;
    case 'resource':
      return resource?.path ?? '';
    case 'time':
      return resource?.time ?? '';
    case 'end':
      return '';
    case 'srh':
      return namesIn(query.get('srh')).reduce(
        (text, name) => `${text}${name}:${headers[name.toLowerCase()] ?? ''}\n`,
        '',
      );
    case 'srq':
      return namesIn(query.get('srq')).reduce(
        (text, name) => `${text}\n${name}:${query.get(name.toLowerCase()) ?? ''}`,
        '',
      );
    default:
      return query.get(field) ?? '';
  }
}

function namesIn(list: string | undefined): string[] {
  return list ? list.split(',') : [];
}
