// One service at its address: from the head of a request to a whole answer.
//
//   1. the address, the query and the version are read (call.ts); OPTIONS is answered here
//   2. the row of the operation is found (dispatch.ts)
//   3. who asks is found out, and whether they may (auth/)
//   4. what any operation checks: the secondary is read alone, `timeout` is a number, a condition that
//      the operation would ignore is refused
//   5. the handler answers
//
// Whatever is thrown on the way becomes an answer too; `respond` never rejects.

import { StorageError } from '../services/common/errors.js';
import { type Answer, type AnswerBody, isStream } from './answer.js';
import { refusalOf as deniedTo } from './auth/permissions.js';
import type { Authorize, AuthorizeContext, Identity } from './auth/types.js';
import { type Body, bodyOf, ClientGoneError } from './body.js';
import {
  type Account,
  Call,
  type CallOptions,
  clientIdOf,
  type RequestHead,
  type ServiceName,
} from './call.js';
import { checkConditions } from './condition-headers.js';
import { corsHeaders, preflight } from './cors.js';
import { Dispatcher } from './dispatch.js';
import { errorAnswer, refusalOf } from './errors.js';
import type { Admitted, Inside, Operation, Row } from './operation.js';
import type { Ports } from './source-head.js';
import { newestVersion } from './versions.js';

export interface EndpointOptions<Service> {
  readonly name: ServiceName;
  /** What the handlers work on. */
  readonly service: Service;
  readonly operations: readonly Row<Service>[];
  /** Nothing if there is no such account. */
  account(name: string): Account | undefined;
  readonly authorize: Authorize;
  readonly authorizeContext: AuthorizeContext;
  /** The refusal an error of a lower layer stands for; nothing if it is a bug. */
  translate(error: unknown): StorageError | undefined;
  /** A bug, or a body that broke off in the middle: told once, with what led to it. */
  failed(error: unknown, id: string, operation: string | undefined): void;
  readonly newId: () => string;
  /** The wall clock. */
  readonly now: () => number;
  /** `--disableProductStyleUrl`. */
  readonly pathStyleOnly: boolean;
  /** Where the services of this server listen. */
  readonly ports?: Ports;
}

/** A whole answer, with what the log and the metrics tell of it. */
export interface Reply {
  readonly status: number;
  readonly reason: string | undefined;
  /** All of them but those node adds: Date, Connection, Transfer-Encoding. */
  readonly headers: string[];
  readonly body: AnswerBody;
  readonly id: string;
  /** Nothing if the request could not be parsed. */
  readonly call: Call | undefined;
  readonly operation: string | undefined;
  readonly errorCode: string | undefined;
  /** There is nobody to answer. */
  readonly isGone: boolean;
}

/** An endpoint as sockets see it: whatever its service is. */
export type Responder = Pick<Endpoint<never>, 'name' | 'respond' | 'malformed' | 'refuse' | 'failed'>;

const verbs = new Set(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'MERGE', 'PATCH']);

export class Endpoint<Service> implements Inside {
  readonly name: ServiceName;
  readonly ports: Ports;
  readonly #options: EndpointOptions<Service>;
  readonly #dispatcher: Dispatcher<Service>;
  readonly #server: string;
  readonly #callOptions: CallOptions;

  constructor(options: EndpointOptions<Service>) {
    this.name = options.name;
    this.ports = options.ports ?? {};
    this.#options = options;
    this.#dispatcher = new Dispatcher(options.operations);
    const product = `${options.name[0]?.toUpperCase()}${options.name.slice(1)}`;
    this.#server = `Windows-Azure-${product}/1.0 Microsoft-HTTPAPI/2.0`;
    this.#callOptions = {
      service: options.name,
      account: (name) => options.account(name),
      pathStyleOnly: options.pathStyleOnly,
    };
  }

  get operations(): readonly Operation<Service>[] {
    return this.#dispatcher.operations;
  }

  /** Answers a request; also a part of a batch, which comes without a socket. */
  async respond(head: RequestHead, body: Body): Promise<Reply> {
    const { newId, now } = this.#options;
    const id = newId();
    const startedAt = now();
    let call: Call | undefined;
    let operation: Operation<Service> | undefined;
    try {
      if (!verbs.has(head.method)) throw new StorageError('InvalidHttpVerb');
      call = new Call(head, body, id, startedAt, this.#callOptions);
      if (call.method === 'OPTIONS') {
        return this.#reply(head, id, call, 'Preflight Request', preflight(call.settings.cors, call));
      }
      operation = this.#dispatcher.find(call);
      const asked = this.#options.authorize(call, operation, this.#options.authorizeContext);
      const identity = asked instanceof Promise ? await asked : asked;
      this.#check(call, operation);
      const handled = operation.handler(call, this.#options.service, identity, operation, this);
      const answer = handled instanceof Promise ? await handled : handled;
      return this.#reply(head, id, call, operation.name, answer);
    } catch (error) {
      return this.#refuse(error, head, id, call, operation?.name);
    }
  }

  /** Finds out who asks and for what, and goes no further. */
  async admit(head: RequestHead, deputy: (call: Call) => Identity | undefined): Promise<Admitted> {
    const { newId, now, authorize, authorizeContext } = this.#options;
    const call = new Call(head, bodyOf(Buffer.alloc(0)), newId(), now(), this.#callOptions);
    const operation = this.#dispatcher.find(call);
    const known = deputy(call);
    if (known === undefined) {
      return { call, operation, identity: await authorize(call, operation, authorizeContext) };
    }
    const refusal = deniedTo(known, operation);
    if (refusal !== undefined) throw new StorageError(refusal);
    return { call, operation, identity: known };
  }

  /** A request that node could not parse: there is no more of it than what went wrong. */
  malformed(error: StorageError): Reply {
    const head = { method: 'GET', headers: {} };
    return this.#refuse(error, head, this.#options.newId(), undefined, undefined);
  }

  /** Something went wrong that no answer can tell any more. */
  failed(error: unknown, reply?: Reply): void {
    this.#options.failed(error, reply?.id ?? '', reply?.operation);
  }

  /** The answer instead of one that could not be sent. */
  refuse(error: unknown, head: RequestHead, reply: Reply): Reply {
    return this.#refuse(error, head, reply.id, reply.call, reply.operation);
  }

  #check(call: Call, operation: Operation<Service>): void {
    if (call.secondary) {
      if (!call.settings.secondary) throw new StorageError('InsufficientAccountPermissions');
      if (operation.on === 'primary') {
        const message = 'Write operations are not allowed.';
        throw new StorageError('InsufficientAccountPermissions', { message });
      }
    } else if (operation.on === 'secondary') throw new StorageError('InsufficientAccountPermissions');
    call.timeoutMs; // throws if it is none
    checkConditions(call, operation);
  }

  #refuse(
    error: unknown,
    head: Pick<RequestHead, 'method' | 'headers'>,
    id: string,
    call: Call | undefined,
    operation: string | undefined,
  ): Reply {
    const refusal = refusalOf(error, this.#options.translate);
    const isGone = error instanceof ClientGoneError;
    if (refusal.code === 'InternalError' && !isGone) this.#options.failed(error, id, operation);
    const answer = errorAnswer(refusal, { service: this.name, id, now: this.#options.now(), call });
    return this.#reply(head, id, call, operation, answer, refusal.code, isGone);
  }

  #reply(
    head: Pick<RequestHead, 'method' | 'headers'>,
    id: string,
    call: Call | undefined,
    operation: string | undefined,
    answer: Answer,
    errorCode?: string,
    isGone = false,
  ): Reply {
    const { status, body, reason } = answer;
    const headers = [
      'Server',
      this.#server,
      'x-ms-request-id',
      id,
      'x-ms-version',
      call?.version ?? newestVersion,
    ];
    const clientId = clientIdOf(head.headers);
    if (clientId !== undefined) headers.push('x-ms-client-request-id', clientId);
    headers.push(...answer.headers);
    addLength(headers, status, body);
    if (call !== undefined) {
      const rules = call.settings.cors;
      if (rules.length > 0 && call.method !== 'OPTIONS') {
        headers.push(...corsHeaders(rules, call.method, head.headers.origin, headers));
      }
    }
    const sent = head.method === 'HEAD' ? undefined : body;
    if (sent === undefined && isStream(body)) void body[Symbol.asyncIterator]().return?.();
    return { status, reason, headers, body: sent, id, call, operation, errorCode, isGone };
  }
}

/** The length of what is in memory. 204 and 304 have no body, and a stream's length is its handler's to tell. */
function addLength(headers: string[], status: number, body: AnswerBody): void {
  if (typeof body === 'string') headers.push('Content-Length', String(Buffer.byteLength(body)));
  else if (Buffer.isBuffer(body)) headers.push('Content-Length', String(body.length));
  else if (body === undefined && status !== 204 && status !== 304 && !hasLength(headers)) {
    headers.push('Content-Length', '0');
  }
}

function hasLength(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === 'Content-Length') return true;
  }
  return false;
}
