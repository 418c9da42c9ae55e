// A service that is loaded after the server has started: its port is open, and a request that comes before the service
// does waits for it.

import type { Body } from '../http/body.js';
import type { RequestHead } from '../http/call.js';
import type { Endpoint, Reply, Responder } from '../http/endpoint.js';
import type { StorageError } from '../services/common/errors.js';

type AnyEndpoint = Endpoint<never>;

export class LateEndpoint implements Responder {
  /** One without operations, until the service is there: it refuses what nobody could parse. */
  #endpoint: AnyEndpoint;
  #open: (() => Promise<AnyEndpoint>) | undefined;

  constructor(without: AnyEndpoint, open: () => Promise<AnyEndpoint>) {
    this.#endpoint = without;
    this.#open = open;
  }

  get name(): AnyEndpoint['name'] {
    return this.#endpoint.name;
  }

  async respond(head: RequestHead, body: Body): Promise<Reply> {
    if (this.#open !== undefined) {
      this.#endpoint = await this.#open();
      this.#open = undefined;
    }
    return this.#endpoint.respond(head, body);
  }

  malformed(error: StorageError): Reply {
    return this.#endpoint.malformed(error);
  }

  refuse(...refused: Parameters<AnyEndpoint['refuse']>): Reply {
    return this.#endpoint.refuse(...refused);
  }

  failed(error: unknown, reply?: Reply): void {
    this.#endpoint.failed(error, reply);
  }
}
