// The signing side: what a client does. The server needs it to hand out links and to fetch a copy source of
// its own; tests need it everywhere.

import { assert } from '../../base/assert.js';
import type { Call } from '../call.js';
import { sign } from './hmac.js';
import { sasStringToSign } from './sas.js';
import { signedFields } from './sas-forms.js';
import { resourceOf } from './sas-resource.js';
import { kindOf } from './sas-token.js';
import { type Scheme, type SignedRequest, stringToSign } from './shared-key.js';

/** The value of `Authorization`. The request has all its headers, a date among them. */
export function signRequest(scheme: Scheme, request: SignedRequest, key: Buffer): string {
  return `${scheme} ${request.account}:${sign(key, stringToSign(scheme, request))}`;
}

/** What a SAS is for: the container and name are empty for an account SAS, the name for a container's. */
export type SasTarget = Pick<Call, 'service' | 'account'> &
  Partial<Pick<Call, 'container' | 'name' | 'headers'>>;

/**
 * A token, as a query without `?`. `fields` are its parameters; the kind follows from them, as it does when
 * it is read. `snapshot` and `versionid` may be among them, as they are in the link.
 */
export function signSas(target: SasTarget, fields: Readonly<Record<string, string>>, key: Buffer): string {
  const query = new Map(Object.entries(fields).filter(([, value]) => value !== ''));
  const request = { container: '', name: '', headers: {}, ...target, query, rawQuery: '' };
  const version = query.get('sv') ?? '';
  const kind = kindOf(query);
  const signed = signedFields(kind, target.service, version);
  assert(signed !== undefined, `there is no ${kind} SAS for ${target.service} in version ${version}`);
  const resource = kind === 'account' ? undefined : resourceOf(request, version);
  assert(kind === 'account' || resource !== undefined, 'the fields and the target name different resources');
  query.set('sig', sign(key, sasStringToSign({ fields: signed, resource }, request)));
  return [...query].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}
