// Who may do what with a file by its security descriptor, where permissions are enforced.
//
//   no DACL            everything; one without entries: nothing
//   entries            in order: the first that names a right for one of the user's sids allows or denies it
//   inherit-only       says nothing about the file itself
//   the owner          has READ_CONTROL and WRITE_DAC whatever the entries say, unless there is one for OWNER RIGHTS:
//                      those entries are the owner's, too, and take the place of what the owner has by itself
//   DELETE             also who has DELETE_CHILD on the directory
//   READ_ATTRIBUTES    also who can list the directory, which shows them
//
//   type of an entry   0 allow                          allows
//                      1 deny, 6 deny of objects        denies; there are no objects within a file, so all of it
//                      5 allow of objects               allows if it names none, else it is about something else
//                      10, 12 deny on a condition       denies: no condition is evaluated, so none is known to be false
//                      9, 11 allow on a condition       nothing, as none is known to be true
//                      all others                       nothing
//
// Directories on the way are passed without asking them, as on Windows, where everybody may.

import { ok, type Result, refuse } from '../../base/result.js';
import { access, allAccess } from './access.js';
import { type Ace, aceFlag, type Descriptor, mapGeneric, ownerRights, sidOf, system } from './descriptor.js';

export interface Identity {
  readonly user: Buffer;
  readonly groups: readonly Buffer[];
}

const everyone = sidOf(1, 0);
const authenticated = sidOf(5, 11);

/** Who has a key of the account. */
export const keyHolder: Identity = { user: system, groups: [everyone, authenticated] };

/** All that a user may do with a file or directory; `parent` is the descriptor of the directory it is in. */
export function allowedAccess(who: Identity, file: Descriptor, parent: Descriptor | undefined): number {
  const own = allowedByOwn(who, file);
  if (parent === undefined) return own;
  const there = allowedByOwn(who, parent);
  const deletes = there & access.deleteChild ? access.delete : 0;
  const shown = there & access.readData ? access.readAttributes : 0;
  return own | deletes | shown;
}

/** What of it is granted, if all that is asked for can be. */
export function grantAccess(
  asked: { readonly access: number; readonly maximum: boolean },
  allowed: number,
): Result<number, 'AccessDenied'> {
  if (asked.access & ~allowed) return refuse('AccessDenied');
  if (!asked.maximum) return ok(asked.access);
  return allowed === 0 ? refuse('AccessDenied') : ok(allowed);
}

const ofOwner = access.readControl | access.writeDac;

function allowedByOwn(who: Identity, { owner, dacl }: Descriptor): number {
  if (dacl === undefined) return allAccess;
  const entries = dacl.filter(({ flags }) => !(flags & aceFlag.inheritOnly));
  const owns = owner !== undefined && holds(who, owner);
  const ownersEntries = entries.some(({ sid }) => sid.equals(ownerRights));
  let granted = owns && !ownersEntries ? ofOwner : 0;
  let denied = 0;
  for (const entry of entries) {
    const does = effectOf(entry);
    if (does === undefined || !(holds(who, entry.sid) || (owns && entry.sid.equals(ownerRights)))) continue;
    const rights = mapGeneric(entry.mask) & allAccess;
    if (does === 'allows') granted |= rights & ~denied;
    else denied |= rights;
  }
  return granted;
}

function holds({ user, groups }: Identity, sid: Buffer): boolean {
  return user.equals(sid) || groups.some((group) => group.equals(sid));
}

const namesObject = 1;

function effectOf({ type, object }: Ace): 'allows' | 'denies' | undefined {
  switch (type) {
    case 0:
      return 'allows';
    case 5:
      return (object[0] ?? 0) & namesObject ? undefined : 'allows';
    case 1:
    case 6:
    case 10:
    case 12:
      return 'denies';
    default:
      return undefined;
  }
}
