// One authentication on a session: the tokens of SPNEGO and NTLM in, the user and the exported key out.
//
//   first token ──> challenge ──> second token ──> user proven, or refused
//        └── a token that names no NTLM yet ──> asked for NTLM ──┘
//
// The work for an unknown account is the same as for a known one.

import { timingSafeEqual } from 'node:crypto';
import {
  type Authenticate,
  checkProof,
  type Exchange,
  makeChallenge,
  ntHash,
  ntlmFlags,
  ntlmSign,
  readAuthenticate,
  readNegotiate,
} from './ntlm.js';
import { type ClientToken, type NegState, readToken, responseToken } from './spnego.js';

export interface Accounts {
  /** The keys of a storage account, or nothing if there is none of this name. */
  keysOf(account: string): Promise<readonly string[] | undefined>;
}

export interface AuthenticationContext {
  readonly accounts: Accounts;
  readonly serverName: string;
  /** 100 ns since 1601. */
  time(): bigint;
  random(size: number): Buffer;
}

export type AuthenticationStep = Readonly<
  | { outcome: 'continue'; token: Buffer }
  | { outcome: 'proven'; token: Buffer; account: string; workstation: string; exportedKey: Buffer }
  | { outcome: 'refused' }
  | { outcome: 'malformed' }
>;

const malformed = { outcome: 'malformed' } as const;
const refused = { outcome: 'refused' } as const;

export class Authentication {
  readonly #context: AuthenticationContext;
  #mechTypes: Buffer | undefined;
  #raw = false;
  #exchange: Exchange | undefined;

  constructor(context: AuthenticationContext) {
    this.#context = context;
  }

  async step(bytes: Buffer): Promise<AuthenticationStep> {
    const token = readToken(bytes);
    if (!token) return malformed;
    if (token.form === 'init') {
      if (!token.offersNtlm) return refused;
      this.#mechTypes = Buffer.from(token.mechTypes);
      // A token made for a mechanism that we do not speak is of no use.
      return this.#first(token.prefersNtlm ? token.token : undefined, token.prefersNtlm);
    }
    this.#raw = token.form === 'raw';
    if (!this.#exchange) return token.token ? this.#first(token.token, true) : malformed;
    return token.token ? this.#second(token.token, token) : malformed;
  }

  #first(token: Buffer | undefined, preferred: boolean): AuthenticationStep {
    const state: NegState = preferred ? 'incomplete' : 'request mic';
    if (!token) return { outcome: 'continue', token: responseToken({ state, nameMechanism: true }) };
    const clientFlags = readNegotiate(token);
    if (clientFlags === undefined) return malformed;
    const { serverName } = this.#context;
    const challenge = this.#context.random(8);
    const challengeToken = makeChallenge({ serverName, challenge, time: this.#context.time(), clientFlags });
    this.#exchange = { negotiate: Buffer.from(token), challengeToken, challenge };
    if (this.#raw) return { outcome: 'continue', token: challengeToken };
    return {
      outcome: 'continue',
      token: responseToken({ state, nameMechanism: true, token: challengeToken }),
    };
  }

  async #second(token: Buffer, wrapped: ClientToken): Promise<AuthenticationStep> {
    const client = readAuthenticate(token);
    if (!client) return malformed;
    const exchange = this.#exchange as Exchange;
    const account = accountOf(client.user);
    const exportedKey = await this.#prove(exchange, client, account);
    if (!exportedKey) return refused;

    const done = { outcome: 'proven', account, workstation: client.workstation, exportedKey } as const;
    if (this.#raw) return { ...done, token: Buffer.alloc(0) };
    const clientMic = wrapped.form === 'response' ? wrapped.mechListMic : undefined;
    if (!clientMic) return { ...done, token: responseToken({ state: 'completed', nameMechanism: false }) };
    const mechListMic = this.#mechListMic(exportedKey, client, clientMic);
    if (!mechListMic) return refused;
    return { ...done, token: responseToken({ state: 'completed', nameMechanism: false, mechListMic }) };
  }

  async #prove(exchange: Exchange, client: Authenticate, account: string): Promise<Buffer | undefined> {
    const keys = account === '' ? undefined : await this.#context.accounts.keysOf(account);
    const unknown = [this.#context.random(32).toString('base64')];
    let proven: Buffer | undefined;
    for (const key of keys ?? unknown) proven ??= checkProof(exchange, client, ntHash(key));
    return keys && proven;
  }

  /** Our check over the list of mechanisms, if the client's holds. */
  #mechListMic(key: Buffer, client: Authenticate, claimed: Buffer): Buffer | undefined {
    const list = this.#mechTypes;
    if (!list) return undefined;
    const keyExchange = (client.flags & ntlmFlags.keyExchange) !== 0;
    const right = ntlmSign(key, 'client-to-server', keyExchange, list);
    if (claimed.length !== right.length || !timingSafeEqual(claimed, right)) return undefined;
    return ntlmSign(key, 'server-to-client', keyExchange, list);
  }
}

/** The user is the storage account, however the client qualifies it. */
function accountOf(user: string): string {
  const name = user.slice(user.lastIndexOf('\\') + 1);
  const at = name.indexOf('@');
  return (at < 0 ? name : name.slice(0, at)).toLowerCase();
}
