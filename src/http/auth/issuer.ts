// The keys of a token issuer. They are given with the settings, or fetched: its configuration from
// `/.well-known/openid-configuration`, then the key set that names. `jose` does the cryptography and is
// loaded with the first token, so that a server without tokens starts without it.

import { isIP } from 'node:net';
import type { CompactVerifyGetKey, JSONWebKeySet } from 'jose';
import { StorageError } from '../../services/common/errors.js';

export interface IssuerSettings {
  /** What tokens name as `iss`, exactly. */
  readonly issuer: string;
  /** Its public keys; left out, they are fetched. */
  readonly jwks?: JSONWebKeySet;
  /** Where the key set is; left out, the issuer's configuration tells. */
  readonly jwksUri?: string;
}

export interface Issuer {
  /** The claims of a token it signed; nothing for any other. 503 if its keys cannot be had. */
  verify(token: string): Promise<object | undefined>;
}

/** Public keys only: a secret one would let whoever knows the public key of an issuer sign with it. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const fetchTimeoutMs = 5000;
const largestConfiguration = 256 * 1024;
/** After a failure the issuer is left alone this long. */
const pauseMs = 5000;

export function issuerOf(settings: IssuerSettings): Issuer {
  let keys: Promise<CompactVerifyGetKey> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function keySet(): Promise<CompactVerifyGetKey> {
    if (keys === undefined && performance.now() - failedAt < pauseMs) throw unreachable(settings.issuer);
    keys ??= openKeySet(settings);
    try {
      return await keys;
    } catch (cause) {
      keys = undefined;
      failedAt = performance.now();
      throw unreachable(settings.issuer, cause);
    }
  }

  return {
    async verify(token) {
      const { compactVerify, errors } = await import('jose');
      const keySetNow = await keySet();
      try {
        const { payload } = await compactVerify(token, keySetNow, { algorithms });
        return asObject(Buffer.from(payload).toString('utf8'));
      } catch (error) {
        // What jose says of a token is a JOSEError; of a fetch that failed it is not, or one of these.
        const fetchFailed = error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError);
        if (fetchFailed || (error as { code?: string }).code === 'ERR_JOSE_GENERIC') {
          throw unreachable(settings.issuer, error);
        }
        return undefined;
      }
    },
  };
}

async function openKeySet({ issuer, jwks, jwksUri }: IssuerSettings): Promise<CompactVerifyGetKey> {
  const { createLocalJWKSet, createRemoteJWKSet } = await import('jose');
  if (jwks !== undefined) return createLocalJWKSet(jwks);
  const address = jwksUri ?? (await discover(issuer));
  const problem = addressProblem(address);
  if (problem !== undefined) throw new Error(problem);
  return createRemoteJWKSet(new URL(address), { timeoutDuration: fetchTimeoutMs });
}

async function discover(issuer: string): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: AbortSignal.timeout(fetchTimeoutMs), redirect: 'error' });
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  const configuration = asObject(await textWithin(response, largestConfiguration)) as
    | { issuer?: unknown; jwks_uri?: unknown }
    | undefined;
  if (configuration?.issuer !== issuer) throw new Error(`${address} is the configuration of another issuer`);
  if (typeof configuration.jwks_uri !== 'string') throw new Error(`${address} names no jwks_uri`);
  return configuration.jwks_uri;
}

async function textWithin(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw new Error(`${response.url} is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Why keys are not taken from there. Over plain HTTP they could be anybody's; on this machine they may. */
export function addressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'https:') return undefined;
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? '';
  const isLocal = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  if (url?.protocol === 'http:' && isLocal) return undefined;
  return `the keys of a token issuer must come over https, not from ${address}`;
}

function unreachable(issuer: string, cause?: unknown): StorageError {
  return new StorageError('ServerBusy', {
    message: `The keys of the token issuer ${issuer} cannot be read now.`,
    cause,
  });
}
