// What bearer tokens are taken. It comes from a file or from a program, and a slip in it must not open a door: a mode
// that nobody knows is refused, and never taken for one that verifies less.

import type { ServiceName } from '../call.js';
import { addressProblem, type IssuerSettings } from './issuer.js';
import { isRole, type Role, roles } from './roles.js';

export type ConfiguredRole = Role | Readonly<Partial<Record<ServiceName, Role>>>;

export type BearerSettings = Readonly<
  | { mode: 'basic' }
  | ({
      mode: 'verified';
      /** Beside `https://storage.azure.com` and the account's own address. */
      audiences?: readonly string[];
      /** By oid or sub: one role for all services, or one for each. */
      roles?: Readonly<Record<string, ConfiguredRole>>;
      /** What the challenge names; by default it is made from the issuer. */
      authorizationUri?: string;
      /** Takes tokens over plain HTTP too: for a proxy in front that ends TLS, and for tests. */
      allowHttp?: boolean;
    } & IssuerSettings)
>;

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

// biome-ignore format: a table
const members: Readonly<Record<string, readonly [is: (value: unknown) => boolean, wanted: string]>> = {
  issuer:           [isText,                                 'a text'],
  jwks:             [isKeySet,                               'a set of keys: { "keys": [...] }'],
  jwksUri:          [isText,                                 'an address'],
  audiences:        [isTexts,                                'a list of texts'],
  roles:            [isRoles,                                `a role for each id (${roles.join(', ')}), or one for each service`],
  authorizationUri: [isText,                                 'an address'],
  allowHttp:        [(value) => typeof value === 'boolean',  'true or false'],
};

/** What is wrong with the settings, a sentence; nothing if they are good. */
export function bearerProblem(settings: unknown): string | undefined {
  if (!isObject(settings)) return 'bearer is no object';
  const { mode, ...rest } = settings;
  if (mode !== 'basic' && mode !== 'verified') return 'bearer.mode is verified or basic';
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined) continue;
    const known = mode === 'verified' && Object.hasOwn(members, name) ? members[name] : undefined;
    if (known === undefined) return `bearer has no ${name} in mode ${mode}`;
    if (!known[0](value)) return `bearer.${name} is ${known[1]}`;
  }
  if (mode === 'basic') return undefined;
  if (rest['issuer'] === undefined) return 'bearer.issuer is missing: what tokens name as iss';
  return rest['jwks'] === undefined ? addressProblem(String(rest['jwksUri'] ?? rest['issuer'])) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isKeySet(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['keys']) && value['keys'].every(isObject);
}

function isRoles(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((role) => isRole(role) || isServiceRoles(role));
}

function isServiceRoles(value: unknown): boolean {
  const services = ['blob', 'queue', 'table', 'file'];
  return (
    isObject(value) &&
    Object.entries(value).every(([service, role]) => services.includes(service) && isRole(role))
  );
}
