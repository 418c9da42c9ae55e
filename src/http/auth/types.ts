// What authorization is asked and what it answers.
//
// `authorize` is called once for each request, after the version is known and the operation is chosen,
// before anything else of the request is looked at. It throws a refusal from the catalogue (401, 403,
// 404) or gives back who is asking; the handler gets that, for what only a transaction can decide.

import type { Call, ServiceName } from '../call.js';
import type { Operation, PublicAccess } from '../operation.js';
import type { Role } from './roles.js';

export type Authorize = (
  call: Call,
  operation: Operation,
  context: AuthorizeContext,
) => Identity | Promise<Identity>;

/** Who is asking. */
export type Identity = Readonly<
  | { kind: 'key' }
  | SasIdentity
  | { kind: 'bearer'; objectId: string; tenantId: string; role: Role }
  | { kind: 'anonymous'; access: PublicAccess }
>;

export type SasIdentity = Readonly<{
  kind: 'sas';
  sas: 'account' | 'service' | 'delegation';
  /** The letters it grants. `c` without `w` must not overwrite: 403 `UnauthorizedBlobOverwrite`. */
  permissions: string;
  /** Of an account SAS: the resource types (s, c, o) it is for. */
  resourceTypes?: string | undefined;
  /** Of a user delegation SAS: the role of whoever signed it. */
  role?: Role | undefined;
  /** Response headers the SAS replaces on Get Blob and Get File: name, value, name, value ... */
  overrides: readonly string[];
  /** Of a table SAS: its table, in lower case. A transaction names its table only inside. */
  table?: string | undefined;
  /** Of a table SAS: the keys it is limited to. */
  keys?: KeyRange | undefined;
  /** `ses`: the encryption scope it is bound to. */
  encryptionScope?: string | undefined;
}>;

export type KeyRange = Readonly<{
  startPartition?: string | undefined;
  startRow?: string | undefined;
  endPartition?: string | undefined;
  endRow?: string | undefined;
}>;

/** What authorization looks up. What is in memory comes at once, the rest by a promise. */
export interface AuthorizeContext {
  /** The wall clock: dates and SAS times are judged by it. */
  now(): number;
  /** The decoded keys of an account, either valid; nothing if there is no such account. */
  keys(account: string): readonly Buffer[] | undefined;
  /** What an account's user delegation keys are made of: 32 random bytes that are kept; left out: there are none. */
  delegationSecret?(account: string): Buffer | undefined;
  /** The stored access policies of a container, queue, table or share; nothing if it does not exist. */
  policies(
    service: ServiceName,
    account: string,
    container: string,
  ): Maybe<readonly StoredPolicy[]> | Promise<Maybe<readonly StoredPolicy[]>>;
  /**
   * What anybody may read in a container; nothing if it is private or missing. Throws 409
   * `PublicAccessNotPermitted` if the account lets no container be public.
   */
  publicAccess(account: string, container: string): Maybe<PublicAccess> | Promise<Maybe<PublicAccess>>;
}

export interface StoredPolicy {
  readonly id: string;
  /** As stored: text of a date, or nothing where the policy leaves it to the SAS. */
  readonly start: string | undefined;
  readonly expiry: string | undefined;
  readonly permission: string | undefined;
}

type Maybe<Value> = Value | undefined;
