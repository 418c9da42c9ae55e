// Stored access policies: what a SAS can refer to by id, kept with a container, queue, table or share.
//
//   at most 5; id 1 to 64 characters, each once; start, expiry and permission may each be left to the SAS
//
// Times are stored as they are told: `2009-09-28T08:49:37.0000000Z`. Setting them replaces all.

import { formatIsoTime, parseIsoTime } from '../../base/times.js';
import { invalidXml, invalidXmlValue, StorageError } from './errors.js';

export type AccessPolicy = Readonly<{
  id: string;
  start: string | undefined;
  expiry: string | undefined;
  permission: string | undefined;
}>;

export type PolicyOwner = 'container' | 'queue' | 'table' | 'share';

/** The letters a policy of each can grant. */
const letters: Record<PolicyOwner, string> = {
  container: 'racwdxyltfmeopi',
  queue: 'raup',
  table: 'raud',
  share: 'rcwdl',
};

const mostPolicies = 5;
const longestId = 64;

/** The policies as they are stored; throws if a client may not set them. Empty texts count as left out. */
export function checkPolicies(policies: readonly AccessPolicy[], owner: PolicyOwner): AccessPolicy[] {
  if (policies.length > mostPolicies)
    throw invalidXml(`At most ${mostPolicies} access policies are allowed.`);
  const ids = new Set(policies.map(({ id }) => id));
  if (ids.size < policies.length) throw invalidXml('The id of an access policy is used twice.');
  return policies.map(({ id, start, expiry, permission }) => {
    if (id === '' || id.length > longestId) {
      throw invalidXml(`The id of an access policy has 1 to ${longestId} characters.`);
    }
    return {
      id,
      start: storedTime('Start', start),
      expiry: storedTime('Expiry', expiry),
      permission: storedPermission(permission, owner),
    };
  });
}

function storedTime(node: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const time = parseIsoTime(text);
  if (!time) throw invalidXmlValue(node, text);
  return formatIsoTime(time);
}

function storedPermission(text: string | undefined, owner: PolicyOwner): string | undefined {
  if (text === undefined || text === '') return undefined;
  const known = [...text].every((letter) => letters[owner].includes(letter));
  if (!known || new Set(text).size < text.length) throw invalidXmlValue('Permission', text);
  return text;
}

/** Clients before 2015-04-05 know no create and add: they are not told of a policy that grants them. */
export function checkTellable(policies: readonly AccessPolicy[], version: string): void {
  if (version >= '2015-04-05') return;
  if (policies.some(({ permission }) => /[ac]/.test(permission ?? ''))) {
    throw new StorageError('FeatureVersionMismatch');
  }
}
