// Bearer tokens: who an OpenID Connect issuer says the caller is, and the role they have here.
//
//   verified   the signature by the issuer's keys (given inline, or fetched from the issuer and kept), then
//              issuer, audience, times. The role comes from the settings, by the token's oid or sub, else
//              from its `roles` claim.
//   basic      as Azurite's `--oauth basic`: issuer, audience and times of a token of Azure's, no signature.
//              Anybody can write such a token, so it is taken only over HTTPS and from this machine.
//              Everyone is an owner.
//
// A token that was verified is remembered for five minutes; times and audience are judged for each request.

import { Recent } from '../../base/recent.js';
import { StorageError } from '../../services/common/errors.js';
import type { Call, ServiceName } from '../call.js';
import { type BearerSettings, bearerProblem, type ConfiguredRole } from './bearer-settings.js';
import { type Issuer, issuerOf } from './issuer.js';
import { challenged, unauthenticated } from './refusals.js';
import { isRole, type Role, roles } from './roles.js';
import type { Identity } from './types.js';

export type BearerCall = Pick<
  Call,
  'service' | 'account' | 'version' | 'secure' | 'remoteAddress' | 'headers'
>;
export type BearerIdentity = Extract<Identity, { kind: 'bearer' }>;

const azureAuthority = 'https://login.microsoftonline.com/common/oauth2/authorize';
const storageAudience = 'https://storage.azure.com';
/** The application id that stands for Azure Storage in older tokens. */
const storageApplication = 'e406a681-f3d4-42a8-90b6-c2b029497af1';
const basicIssuers = [
  'https://sts.windows.net/',
  'https://sts.microsoftonline.de/',
  'https://sts.chinacloudapi.cn/',
  'https://sts.windows-ppe.net/',
];
const tokenForm = /^bearer +([\w.~+/=-]+)$/i;
const rememberedMs = 5 * 60 * 1000;
const longestRemembered = 8192;
/** How far the issuer's clock may be off. */
const toleranceMs = 60 * 1000;

interface Claims {
  readonly iss?: unknown;
  readonly aud?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
  readonly oid?: unknown;
  readonly sub?: unknown;
  readonly tid?: unknown;
  readonly roles?: unknown;
}

export class Bearer {
  /** The value of `WWW-Authenticate` for a request that needs a token. */
  readonly challenge: string;
  readonly #settings: BearerSettings | undefined;
  readonly #issuer: Issuer | undefined;
  readonly #roles: ReadonlyMap<string, ConfiguredRole>;
  readonly #verified = new Recent<string, { claims: Claims; until: number }>(1024);

  /** Without settings every token is refused, with a challenge. */
  constructor(settings?: BearerSettings) {
    const problem = settings === undefined ? undefined : bearerProblem(settings);
    if (problem !== undefined) throw new TypeError(problem);
    this.#settings = settings;
    this.#issuer = settings?.mode === 'verified' ? issuerOf(settings) : undefined;
    this.#roles = new Map(settings?.mode === 'verified' ? Object.entries(settings.roles ?? {}) : []);
    this.challenge = `Bearer authorization_uri=${authorizationUri(settings)} resource_id=${storageAudience}`;
  }

  /** 400 for a header that holds no token, 401 for a token that is not good, 403 for one without a role. */
  async authenticate(call: BearerCall, now: number): Promise<BearerIdentity> {
    const { objectId, tenantId, claims } = await this.identify(call, now);
    const role = this.#roleOf(claims, call.service);
    if (role === 'none') throw new StorageError('AuthorizationPermissionMismatch');
    return { kind: 'bearer', objectId, tenantId, role };
  }

  /** Whose token it is, whatever their role. */
  async identify(
    call: BearerCall,
    now: number,
  ): Promise<{ objectId: string; tenantId: string; claims: Claims }> {
    const token = tokenForm.exec(call.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new StorageError('InvalidAuthenticationInfo');
    this.#checkTransport(call);
    const claims = await this.#read(token, now);
    const problem = this.#problemOf(claims, call, now);
    if (problem !== undefined) throw this.#refusal(problem);
    const objectId = textOf(claims.oid) ?? textOf(claims.sub);
    if (objectId === undefined) throw this.#refusal('The token names neither oid nor sub.');
    return { objectId, tenantId: textOf(claims.tid) ?? '', claims };
  }

  /** What the settings say of somebody now; nothing if they do not name them. */
  configuredRole(objectId: string, service: ServiceName): Role | 'none' | undefined {
    const configured = this.#roles.get(objectId);
    return typeof configured === 'object' ? (configured[service] ?? 'none') : configured;
  }

  #checkTransport(call: BearerCall): void {
    const settings = this.#settings;
    if (settings === undefined)
      throw this.#refusal('This server takes no bearer tokens: none are configured.');
    if (call.version < '2017-11-09') {
      throw unauthenticated('Authentication scheme Bearer is not supported in this version.');
    }
    const needsHttps = settings.mode === 'basic' || settings.allowHttp !== true;
    if (needsHttps && !call.secure)
      throw unauthenticated('Authentication scheme Bearer is supported over HTTPS only.');
    if (settings.mode === 'basic' && !isLoopback(call.remoteAddress)) {
      throw unauthenticated('Tokens whose signature is not verified are taken from this machine only.');
    }
    if (call.service === 'file' && call.headers['x-ms-file-request-intent'] !== 'backup') {
      throw new StorageError('MissingRequiredHeader', {
        details: { HeaderName: 'x-ms-file-request-intent' },
      });
    }
  }

  async #read(token: string, now: number): Promise<Claims> {
    if (this.#issuer === undefined) return this.#decode(token);
    const known = this.#verified.get(token);
    if (known !== undefined && now < known.until) return known.claims;
    const claims: Claims | undefined = await this.#issuer.verify(token);
    if (claims === undefined)
      throw this.#refusal('Signature validation failed. Signature verification failed.');
    if (token.length <= longestRemembered) this.#verified.set(token, { claims, until: now + rememberedMs });
    return claims;
  }

  #decode(token: string): Claims {
    try {
      const claims: unknown = JSON.parse(
        Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'),
      );
      if (typeof claims === 'object' && claims !== null) return claims;
    } catch {
      // refused below
    }
    throw this.#refusal('The token is not a JSON Web Token.');
  }

  /** Azure's words for what is wrong with a token; nothing if it is good for this request. */
  #problemOf(claims: Claims, call: BearerCall, now: number): string | undefined {
    const { iss, aud, exp, nbf } = claims;
    if (typeof exp !== 'number' || now >= exp * 1000 + toleranceMs) {
      return 'Lifetime validation failed. The token is expired.';
    }
    if (nbf !== undefined && (typeof nbf !== 'number' || now < nbf * 1000 - toleranceMs)) {
      return 'Lifetime validation failed. The token is not yet valid.';
    }
    if (!this.#isIssuer(iss)) return 'Issuer validation failed. Issuer did not match.';
    const audiences = (Array.isArray(aud) ? aud : [aud]).filter((text) => typeof text === 'string');
    if (!audiences.some((text) => this.#isAudience(text, call))) {
      return 'Audience validation failed. Audience did not match.';
    }
    return undefined;
  }

  #isIssuer(iss: unknown): boolean {
    if (typeof iss !== 'string') return false;
    if (this.#settings?.mode === 'verified') return iss === this.#settings.issuer;
    return basicIssuers.some((prefix) => iss.startsWith(prefix));
  }

  #isAudience(audience: string, { account, service }: BearerCall): boolean {
    const named = audience.endsWith('/') ? audience.slice(0, -1) : audience;
    if (named === storageAudience || named === storageApplication) return true;
    if (this.#settings?.mode === 'verified' && this.#settings.audiences?.includes(audience)) return true;
    return named.startsWith(`https://${account}.${service}.core.`);
  }

  #roleOf(claims: Claims, service: ServiceName): Role | 'none' {
    if (this.#settings?.mode === 'basic') return 'owner';
    for (const id of [textOf(claims.oid), textOf(claims.sub)]) {
      const configured = id === undefined ? undefined : this.configuredRole(id, service);
      if (configured !== undefined) return configured;
    }
    const claimed = Array.isArray(claims.roles) ? claims.roles.map((name) => claimedRole(name, service)) : [];
    return roles.findLast((role) => claimed.includes(role)) ?? 'none';
  }

  #refusal(detail: string): StorageError {
    return challenged('InvalidAuthenticationInfo', this.challenge, detail);
  }
}

const roleName =
  /^(?:storage (blob|queue|table|file) data (?:privileged )?|(blob|queue|table|file)\.)?(\w+)$/;

/** `reader`, `blob.reader` or `Storage Blob Data Reader`, in any case. */
function claimedRole(name: unknown, service: ServiceName): Role | undefined {
  const [, long, short, role] = (typeof name === 'string' && roleName.exec(name.toLowerCase())) || [];
  return isRole(role) && (long ?? short ?? service) === service ? role : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address) || address === '::1';
}

/** Clients find their tenant in the path of this address. */
function authorizationUri(settings: BearerSettings | undefined): string {
  if (settings?.mode !== 'verified') return azureAuthority;
  if (settings.authorizationUri !== undefined) return settings.authorizationUri;
  const base = settings.issuer
    .replace(/^https:\/\/sts\.windows\.net\//, 'https://login.microsoftonline.com/')
    .replace(/\/(v2\.0\/?)?$/, '');
  return `${base}/oauth2/authorize`;
}
