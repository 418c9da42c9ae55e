// Data roles: what the holder of a bearer token may do. There are three, as Azure has them for its services:
// a reader reads; a contributor reads, writes and deletes; an owner does everything, also with tags,
// ownership and permissions.
//
// A row of an operation table names the data action it needs, such as `blobs/read`, `messages/process/action`
// or `blobs/tags/write`. The last word tells the least role; what is not named here needs an owner.

export const roles = ['reader', 'contributor', 'owner'] as const;
export type Role = (typeof roles)[number];

// biome-ignore format: a table
const leastRoles = new Map<string, Role>([
  ['read',                      'reader'],
  ['generateuserdelegationkey', 'reader'],
  ['readfilebackupsemantics',   'reader'],
  ['write',                     'contributor'],
  ['delete',                    'contributor'],
  ['add',                       'contributor'],
  ['update',                    'contributor'],
  ['process',                   'contributor'],
  ['move',                      'contributor'],
  ['writefilebackupsemantics',  'contributor'],
]);

export function isRole(value: unknown): value is Role {
  return roles.some((role) => role === value);
}

/** Whether the role covers one of the actions. */
export function roleAllows(role: Role, actions: readonly string[]): boolean {
  return actions.some((action) => roles.indexOf(leastRole(action)) <= roles.indexOf(role));
}

function leastRole(action: string): Role {
  const words = action.toLowerCase().split('/');
  if (words.at(-1) === 'action') words.pop();
  if (words.includes('tags')) return 'owner';
  return leastRoles.get(words.at(-1) ?? '') ?? 'owner';
}
