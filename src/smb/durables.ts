// Durable handles: files that stay open for a while after their connection was lost, until the client comes for them.
//
//   open ── connection lost ──> waiting ── the client names the handle on a new connection ──> open
//                                  └── its time is up, or somebody needs what it caches ──> closed
//
// Only a handle may wait whose client would be told before anybody can meet it: one with a batch oplock, or with a lease
// that covers the handle. It keeps its share mode and its locks; whatever would break its cache closes it instead. A
// handle that was asked for by a guid (version 2) is also known by that, so that a CREATE that is sent again after its
// answer was lost opens nothing twice. Nothing of this outlives the process.

import { caching } from '../services/file/caching-rules.js';
import type { HandleOwner } from '../services/file/open-handles.js';
import type { FileOpen } from './open.js';
import type { ServerContext } from './server.js';
import type { Session } from './session.js';
import { closeHandle } from './teardown.js';

/** How a handle is kept, as it was agreed on when it was opened. */
export interface Durability {
  readonly version: 1 | 2;
  readonly account: string;
  readonly clientGuid: Buffer;
  readonly createGuid: Buffer | undefined;
  readonly timeoutMs: number;
}

interface Waiting {
  readonly open: FileOpen;
  readonly durability: Durability;
  stop(): void;
}

export class Durables {
  readonly #waiting = new Map<bigint, Waiting>();
  readonly #created = new Map<string, bigint>();

  /** How many wait. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Remembers the guid that a handle was created with. */
  remember(open: FileOpen): void {
    const key = guidOf(open.durability);
    if (key !== undefined) this.#created.set(key, open.id);
  }

  /** The handle that the same client has created with this guid, and not closed. */
  createdWith(clientGuid: Buffer, createGuid: Buffer): bigint | undefined {
    return this.#created.get(keyOf(clientGuid, createGuid));
  }

  /** The handle is closed: by its client, by force, or because its time is up. */
  forget(open: FileOpen): void {
    this.#waiting.get(open.id)?.stop();
    this.#waiting.delete(open.id);
    const key = guidOf(open.durability);
    if (key !== undefined) this.#created.delete(key);
  }

  /** The connection of a handle is lost. Whether it waits for its client; if not, it has to be closed. */
  keep(server: ServerContext, session: Session, open: FileOpen): boolean {
    const { durability, handle } = open;
    const cache = server.opens.cacheOf(open.id);
    if (!durability || !cache || cache.breaking || !(cache.state & caching.handle)) return false;
    if (this.#waiting.size >= server.limits.durables) return false;
    const end = () => this.#end(server, open);
    const stop = server.schedule(durability.timeoutMs, end);
    session.opens.delete(open.id);
    this.#waiting.set(open.id, { open, durability, stop });
    // Later: who breaks the cache is about to wait for what closing the handle changes.
    const breaking = () => void setImmediate(end);
    const owner: HandleOwner = { ...handle.owner, breaking, closed: () => this.forget(open) };
    server.opens.setOwner(open.id, owner);
    return true;
  }

  #end(server: ServerContext, open: FileOpen): void {
    if (!this.#waiting.has(open.id)) return;
    this.forget(open);
    server.track(closeHandle(server, open.volume, open.handle));
  }

  /** The server stops: nobody can come back. */
  endAll(server: ServerContext): void {
    for (const { open } of [...this.#waiting.values()]) this.#end(server, open);
  }

  /** The handle that waits under this id. */
  find(id: bigint): Readonly<{ open: FileOpen; durability: Durability }> | undefined {
    return this.#waiting.get(id);
  }

  /** Its client is back: it waits no longer. */
  take(id: bigint): void {
    this.#waiting.get(id)?.stop();
    this.#waiting.delete(id);
  }
}

function guidOf(durability: Durability | undefined): string | undefined {
  return durability?.createGuid && keyOf(durability.clientGuid, durability.createGuid);
}

function keyOf(clientGuid: Buffer, createGuid: Buffer): string {
  return `${clientGuid.toString('hex')} ${createGuid.toString('hex')}`;
}
