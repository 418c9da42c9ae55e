// A session: one user on one connection, its keys, the shares it is connected to and the files it has open.

import type { Volume } from '../services/file/file-system.js';
import type { Authentication } from './auth/authentication.js';
import { type Sealer, seal, unseal } from './crypto/encryption.js';
import type { CipherName, SessionKeys } from './crypto/keys.js';
import { type Signer, type SigningName, signer } from './crypto/signing.js';
import type { Open } from './open.js';

export type Tree = Readonly<
  | { kind: 'pipe'; id: number }
  | { kind: 'disk'; id: number; volume: Volume; share: string; encrypted: boolean }
>;

export interface SessionUser {
  readonly account: string;
  readonly workstation: string;
}

/** What a session has once its user is known. */
interface Secured {
  readonly user: SessionUser;
  readonly signer: Signer;
  readonly incoming: Sealer | undefined;
  readonly outgoing: Sealer | undefined;
  readonly signingRequired: boolean;
  readonly encryptionRequired: boolean;
}

export class Session {
  readonly id: bigint;
  /** The exchange under way: the first one, or a later one that proves the user again. */
  authentication: Authentication | undefined;
  /** Over the messages up to the keys (3.1.1). */
  preauthHash: Buffer;
  #secured: Secured | undefined;
  /** Logged off, replaced or its connection lost: nothing may be opened on it any more. */
  ended = false;
  readonly trees = new Map<number, Tree>();
  readonly opens = new Map<bigint, Open>();
  #nextTreeId = 1;
  readonly #noncePrefix: Buffer;
  #nonce = 0n;

  constructor(id: bigint, noncePrefix: Buffer, preauthHash: Buffer) {
    this.id = id;
    this.#noncePrefix = noncePrefix;
    this.preauthHash = preauthHash;
  }

  secure(
    user: SessionUser,
    keys: SessionKeys,
    algorithms: { signing: SigningName; cipher: CipherName | undefined },
    required: { signing: boolean; encryption: boolean },
  ): void {
    const { cipher } = algorithms;
    this.#secured = {
      user,
      signer: signer(algorithms.signing, keys.signing),
      incoming: cipher && keys.decryption && { cipher, key: keys.decryption },
      outgoing: cipher && keys.encryption && { cipher, key: keys.encryption },
      signingRequired: required.signing,
      encryptionRequired: required.encryption,
    };
  }

  /** Nothing while the first exchange is under way: then the session can be used for nothing else. */
  get secured(): Secured | undefined {
    return this.#secured;
  }

  unseal(message: Buffer): Buffer | undefined {
    const sealer = this.#secured?.incoming;
    return sealer && unseal(sealer, message);
  }

  get canSeal(): boolean {
    return this.#secured?.outgoing !== undefined;
  }

  /** A nonce is a counter of the session after random bytes: it never repeats for a key. */
  seal(message: readonly Buffer[]): Buffer[] {
    const sealer = this.#secured?.outgoing;
    if (!sealer) throw new Error('a session without keys cannot encrypt');
    const nonce = Buffer.alloc(16);
    nonce.writeBigUInt64LE(++this.#nonce, 0);
    this.#noncePrefix.copy(nonce, 8, 0, 4);
    return seal(sealer, this.id, nonce, message);
  }

  addTree(make: (id: number) => Tree): Tree {
    const tree = make(this.#nextTreeId++);
    this.trees.set(tree.id, tree);
    return tree;
  }
}
