// Faults on request, for people's tests of their own programs: chosen operations answer late, with an error, or
// not at all. Only with `--testing`; else no operation passes here.

import { setTimeout as delay } from 'node:timers/promises';
import { ClientGoneError } from '../http/body.js';
import type { Call, ServiceName } from '../http/call.js';
import { serverBusy } from '../http/errors.js';
import type { Handler, Row } from '../http/operation.js';
import { StorageError } from '../services/common/errors.js';

export interface Fault {
  /** Which requests: all that fit everything that is given. */
  readonly service?: ServiceName;
  /** As the reference has it: `Put Blob`. */
  readonly operation?: string;
  readonly account?: string;
  readonly container?: string;
  /** How often; always unless given. */
  readonly times?: number;
  /** How long the answer waits first. */
  readonly delayMs?: number;
  /**
   * `busy`: 503. `error`: 500. `break before`: the connection is closed and nothing was done; `break after`: it was
   * done, and nobody is told.
   */
  readonly answer?: 'busy' | 'error' | 'break before' | 'break after';
}

interface ActiveFault {
  readonly id: number;
  readonly fault: Fault;
  left: number;
}

export class Faults {
  #active: ActiveFault[] = [];
  #lastId = 0;

  add(fault: Fault): number {
    this.#active.push({ id: ++this.#lastId, fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    return this.#lastId;
  }

  list(): readonly (Fault & { readonly id: number; readonly left: number | undefined })[] {
    return this.#active.map(({ id, fault, left }) => ({
      ...fault,
      id,
      left: Number.isFinite(left) ? left : undefined,
    }));
  }

  clear(id?: number): void {
    this.#active = id === undefined ? [] : this.#active.filter((one) => one.id !== id);
  }

  /** The rows with handlers that fail when they are told to. */
  around(service: ServiceName, rows: readonly Row<never>[]): readonly Row<never>[] {
    return rows.map((row) => {
      const [name, request, telling, since, access, guards, on, handler] = row;
      return [name, request, telling, since, access, guards, on, this.#wrap(service, name, handler)];
    });
  }

  #wrap(service: ServiceName, name: string, handler: Handler<never>): Handler<never> {
    return async (...args) => {
      const fault = this.#take(service, name, args[0]);
      if (fault?.delayMs !== undefined) await delay(fault.delayMs);
      switch (fault?.answer) {
        case 'busy':
          throw serverBusy(new Error('a fault that was asked for'));
        case 'error':
          throw new StorageError('InternalError', { status: 500 });
        case 'break before':
          throw new ClientGoneError();
        case 'break after':
          await handler(...args);
          throw new ClientGoneError();
        default:
          return handler(...args);
      }
    };
  }

  #take(service: ServiceName, operation: string, call: Call): Fault | undefined {
    const found = this.#active.find(
      ({ fault }) =>
        (fault.service ?? service) === service &&
        (fault.operation ?? operation) === operation &&
        (fault.account ?? call.account) === call.account &&
        (fault.container ?? call.container) === call.container,
    );
    if (found === undefined) return undefined;
    if (--found.left <= 0) this.clear(found.id);
    return found.fault;
  }
}
