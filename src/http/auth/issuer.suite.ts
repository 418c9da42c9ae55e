// An OpenID Connect issuer on this machine, for tests: its configuration, its keys and the tokens it signs.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface TestIssuer {
  readonly url: string;
  readonly keys: JWK[];
  /** How often its configuration and its keys were asked for. */
  readonly asked: { configuration: number; keys: number };
  /** What its configuration answers instead, if anything. */
  broken: number | undefined;
  sign(claims: Record<string, unknown>): Promise<string>;
  /** A new key from now on; the old one is no longer published. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

export async function openIssuer(): Promise<TestIssuer> {
  const asked = { configuration: 0, keys: 0 };
  const keys: JWK[] = [];
  let signing: { key: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']; id: string };
  async function rotate(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const id = `key-${Math.random()}`;
    keys.splice(0, keys.length, { ...(await exportJWK(publicKey)), kid: id, alg: 'RS256', use: 'sig' });
    signing = { key: privateKey, id };
  }
  await rotate();
  const server = createServer((request, response) => {
    const isConfiguration = request.url?.endsWith('/.well-known/openid-configuration');
    if (isConfiguration) asked.configuration++;
    else asked.keys++;
    const body = isConfiguration ? { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` } : { keys };
    response
      .writeHead(issuer.broken ?? 200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer: TestIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tenant`,
    keys,
    asked,
    broken: undefined,
    rotate,
    sign: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: signing.id }).sign(signing.key),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return issuer;
}
