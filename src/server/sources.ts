// Where the services of a server fetch from what they do not have themselves: from each other, and from other servers.

import { once } from 'node:events';
import type { ServiceName } from '../http/call.js';
import type { Responder } from '../http/endpoint.js';
import { type CopySources, fetchForeign } from '../http/foreign-source.js';
import { fetchOwn } from '../http/own-source.js';
import { StorageError } from '../services/common/errors.js';
import type { FetchSource } from '../services/common/sources.js';

/** A source that says nothing for so long has gone. */
const idleMs = 30_000;

export class Sources {
  readonly #sources: CopySources;
  readonly #endpoints = new Map<ServiceName, Responder>();
  #ready: () => void = () => {};
  readonly #isReady = new Promise<void>((resolve) => {
    this.#ready = resolve;
  });

  constructor(sources: CopySources) {
    this.#sources = sources;
  }

  /** This service can be asked. */
  add(endpoint: Responder): void {
    this.#endpoints.set(endpoint.name, endpoint);
  }

  /** All that there will be can be asked: a copy that goes on since the last start waits for it. */
  ready(): void {
    this.#ready();
  }

  readonly fetch: FetchSource = async (source, headers, signal) => {
    const { url, own } = source;
    if (own === undefined) {
      return fetchForeign(url, { sources: this.#sources, headers, idleMs, signal });
    }
    await Promise.race([this.#isReady, ...(signal === undefined ? [] : [aborted(signal)])]);
    const endpoint = this.#endpoints.get(own.service);
    if (endpoint !== undefined) return fetchOwn(endpoint, source, headers, signal);
    const message = `There is no ${own.service} service here.`;
    throw new StorageError('CannotVerifyCopySource', { status: 404, message });
  };
}

async function aborted(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  await once(signal, 'abort');
  throw signal.reason;
}
