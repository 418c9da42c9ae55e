// The rows of an operation table: what an operation is called, which request it is, who may ask for it,
// which guards it takes, and who answers. Dispatch, authorization, metrics and docs/compatibility.md
// read the table; nothing about an operation is declared anywhere else.
//
//   name       as the reference has it; several rows may share one
//   request    methods (`GET|HEAD`), path and query. `?comp=block` must be so, in any case; a bare
//              `?versionid` must be there. The path is the form that places.ts gives to a call
//   telling    headers that tell it from its neighbours: 'x-ms-copy-source', 'x-ms-requires-sync: true',
//              several with '&'. Of rows with the same request the first that fits is taken
//   since      the version that brought it; older requests do not see the row. '' is always
//   access     account SAS  's:l' = resource type service, letter l. 'o:cw' = c or w. 'o:a+u' = a and u.
//                           'any' = whatever the SAS allows; 'never'
//              service SAS  the same without the type
//              role         the data action a bearer token needs, one of several with '|'; 'never'
//              anonymous    the public access that opens it: 'blob' or 'container'; left out = none
//   guards     conditions   of If-(M)atch, If-(N)one-Match, (I)f-Modified-Since, If-(U)nmodified-Since,
//                           x-ms-if-(T)ags those it takes; on a write any other is refused
//              lease        'none' · 'checked': an id that is sent must fit · 'required': a leased
//                           resource needs its id · 'infinite': and the lease must be infinite
//   on         which endpoint serves it: 'primary' (every write), 'secondary', or 'both'
//   handler    (call, service, identity, operation, inside) => answer

import type { Awaitable } from '../base/awaitable.js';
import type { Answer } from './answer.js';
import type { Identity } from './auth/types.js';
import type { Body } from './body.js';
import type { Call, RequestHead, Version } from './call.js';
import type { Reply } from './endpoint.js';
import type { Ports } from './source-head.js';

export type Handler<Service> = (
  call: Call,
  service: Service,
  identity: Identity,
  operation: Operation,
  inside: Inside,
) => Awaitable<Answer>;

/** What a handler asks of its endpoint for a request inside the one it answers. */
export interface Inside {
  /** A whole answer, as if it had come by itself: for a part of a batch. */
  respond(head: RequestHead, body: Body): Promise<Reply>;
  /**
   * What it asks for and who it is let in as, else the refusal thrown: for the source of a copy. `deputy` may name
   * who asks, where that is known already.
   */
  admit(head: RequestHead, deputy: (call: Call) => Identity | undefined): Promise<Admitted>;
  /** Where this server's services listen: the source of a copy may be there. */
  readonly ports: Ports;
}

export interface Admitted {
  readonly call: Call;
  readonly operation: Operation;
  readonly identity: Identity;
}

export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'MERGE' | 'PATCH';
export type ResourceType = 's' | 'c' | 'o';
export type LeaseNeed = 'none' | 'checked' | 'required' | 'infinite';
export type Endpoint = 'primary' | 'secondary' | 'both';
export type PublicAccess = 'blob' | 'container';

export type Row<Service> = readonly [
  name: string,
  request: `${Method} /${string}` | `${Method}|${Method} /${string}`,
  telling: string,
  since: Version,
  access: readonly [account: string, service: string, role: string, anonymous?: PublicAccess],
  guards: readonly [conditions: string, lease: LeaseNeed],
  on: Endpoint,
  handler: Handler<Service>,
];

/** The permission letters a SAS must carry: one of them, all of them, or none in particular. */
export interface Letters {
  readonly need: 'one' | 'all' | 'none';
  readonly letters: string;
}

export interface AccountLetters extends Letters {
  /** One of these; nothing: whichever it is for. */
  readonly types: readonly ResourceType[] | undefined;
}

type Pair = readonly [name: string, value: string | undefined];

/** A row, taken apart. */
export interface Operation<Service = never> {
  readonly name: string;
  readonly request: string;
  readonly methods: readonly Method[];
  /** The path's form, such as `/{container}/{blob}`. */
  readonly resource: string;
  /** Query parameters it asks for; an undefined value: it need only be there. */
  readonly query: readonly Pair[];
  /** Those beside `restype` and `comp`. */
  readonly extra: readonly Pair[];
  /** Headers it asks for, in the same way. */
  readonly telling: readonly Pair[];
  readonly since: Version;
  /** Nothing: never by an account SAS. */
  readonly accountSas: AccountLetters | undefined;
  /** Nothing: never by a service or user delegation SAS. */
  readonly serviceSas: Letters | undefined;
  /** Data actions, any of which will do; none: never by a bearer token. */
  readonly roles: readonly string[];
  readonly anonymous: PublicAccess | undefined;
  readonly conditions: string;
  readonly lease: LeaseNeed;
  readonly on: Endpoint;
  readonly handler: Handler<Service>;
}
