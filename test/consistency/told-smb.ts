// A client of a share as SMB commands work on it: opens a file with a share mode and an oplock or a lease, reads, writes
// and locks ranges of it, renames it or has it deleted with its handle, flushes and closes it.
//
// A file that is open is not deleted or renamed by anybody else, as no open here shares that: so its calls can be told
// by its name. What is answered before it is on disk is known once a flush says so; if that fails, nobody knows.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { access, share } from '#src/services/file/access.js';
import type { FileContext } from '#src/services/file/attempts.js';
import type { BreakNotice, CacheWish } from '#src/services/file/caches.js';
import { caching, oplockStates } from '#src/services/file/caching-rules.js';
import { closeFile } from '#src/services/file/close-file.js';
import type { Volume } from '#src/services/file/file-system.js';
import { type Disposition, type OpenFileRequest, openFile } from '#src/services/file/open-file.js';
import type { OpenHandle } from '#src/services/file/open-handles.js';
import { renameFile } from '#src/services/file/rename-file.js';
import { nowMs } from './history.js';
import type { ShareCall } from './share-model.js';
import { mostSlots } from './told-rest.js';
import {
  type Histories,
  shareKey,
  sizeOf,
  slotOf,
  slotsIn,
  sometimes,
  type ToldShare,
} from './told-share.js';

const names = ['a', 'b'];
let lastId = 0n;

/** A file that the client has open. */
interface Visit {
  readonly object: string;
  readonly context: FileContext;
  readonly handle: OpenHandle;
  path: readonly string[];
  keepsLock: boolean;
  /** Answered, and not known to be on disk. */
  pending: { readonly call: ShareCall; readonly startMs: number; readonly endMs: number }[];
}

export class SmbVisitor {
  readonly #told: ToldShare;
  readonly #histories: Histories;
  readonly #name: string;
  readonly #objects: readonly string[];
  #count = 0;
  /** How often a flush told of a loss. */
  losses = 0;

  constructor(told: ToldShare, histories: Histories, name: string, objects: readonly string[]) {
    this.#told = told;
    this.#histories = histories;
    this.#name = name;
    this.#objects = objects;
  }

  async work(rounds: number): Promise<void> {
    const volume = await this.#told.service.volumes.open(...shareKey);
    assert.ok(volume);
    for (let round = 0; round < rounds; round++) {
      await this.#visit(volume, this.#pick(this.#objects));
      await sometimes(this.#told.random, 0.2);
    }
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#told.random() * from.length)] as T;
  }

  async #visit(volume: Volume, object: string): Promise<void> {
    const kind = this.#told.random();
    const visit = await this.#open(volume, object, kind < 0.15 ? 'rename' : kind < 0.25 ? 'unlink' : 'write');
    if (visit === undefined) return;
    const steps = 1 + Math.floor(this.#told.random() * 4);
    for (let step = 0; step < steps; step++) {
      await this.#step(visit);
      await sometimes(this.#told.random, 0.3);
    }
    if (kind < 0.15) await this.#rename(visit);
    if (this.#told.random() < 0.3) await this.#flush(visit);
    await this.#close(visit, kind >= 0.15 && kind < 0.25);
  }

  async #open(
    volume: Volume,
    object: string,
    why: 'rename' | 'unlink' | 'write',
  ): Promise<Visit | undefined> {
    const { opens } = this.#told.service;
    const path = [this.#pick(names)];
    const empties = why === 'write' && this.#told.random() < 0.15;
    const opensOnly = why !== 'write' || this.#told.random() < 0.3;
    const disposition: Disposition = opensOnly ? 'open' : empties ? 'overwriteIf' : 'openIf';
    const id = ++lastId;
    const context: FileContext = { volume, opens, wait: (changed) => changed };
    const request: OpenFileRequest = {
      ...{ id, path: [object, ...path], kind: 'file', disposition, maximum: false, attributes: 0 },
      access: access.readData | access.writeData | (why === 'write' ? 0 : access.delete),
      share: empties ? share.none : share.read | share.write,
      ...{ deleteOnClose: why === 'unlink', writeThrough: this.#told.random() < 0.2, security: undefined },
      ...{ wish: this.#wish(id), owner: this.#owner() },
    };
    const startMs = nowMs();
    // Opening what is there tells nothing else: that it is there.
    const call: ShareCall = opensOnly ? { op: 'look', path, from: 0, to: 0 } : { op: 'open', path, empties };
    const open = async () => {
      await openFile(context, request);
      return opensOnly ? '' : true;
    };
    if ((await this.#histories.record(this.#name, object, call, open, !opensOnly)) === undefined)
      return undefined;
    const handle = opens.handle(id);
    assert.ok(handle, 'a file that was opened has a handle');
    const pending = opensOnly ? [] : [{ call, startMs, endMs: nowMs() }];
    return { object, context, handle, path, pending, keepsLock: false };
  }

  #wish(id: bigint): CacheWish {
    const drawn = this.#told.random();
    if (drawn < 0.4) return { kind: 'none' };
    if (drawn < 0.7) return { kind: 'oplock', state: oplockStates.batch };
    const state = caching.read | caching.write | caching.handle;
    return { kind: 'lease', key: `${this.#name} ${id}`, state, epoch: undefined };
  }

  #owner(): OpenFileRequest['owner'] {
    const { opens } = this.#told.service;
    const breaking = ({ needsAck, kind, open, key, to }: BreakNotice) => {
      if (!needsAck) return;
      const acknowledge = () => void opens.acknowledge(kind === 'oplock' ? { open } : { key }, to);
      void turn().then(acknowledge);
    };
    const who = { sessionId: 1n, client: this.#name, clientName: this.#name, openedAt: 0 };
    return { ...who, breaking, closed: () => {} };
  }

  async #step(visit: Visit): Promise<void> {
    const drawn = this.#told.random();
    const from = Math.floor(this.#told.random() * mostSlots);
    const to = from + 1 + Math.floor(this.#told.random() * (mostSlots - from));
    if (drawn < 0.5) await this.#write(visit, from, to);
    else if (drawn < 0.8) await this.#look(visit, from, to);
    else await this.#locked(visit, from, to);
  }

  #range(visit: Visit, from: number, to: number) {
    const bytes = sizeOf(visit.object);
    return { offset: BigInt(from * bytes), length: BigInt((to - from) * bytes) };
  }

  async #write(visit: Visit, from: number, to: number): Promise<void> {
    const { handle, object, path, context } = visit;
    const done = context.opens.begin(handle.id, 'write', this.#range(visit, from, to));
    if (!done) return;
    const bytes = sizeOf(object);
    const value = `${this.#name}-${++this.#count}`;
    const content = Buffer.concat(Array.from({ length: to - from }, () => slotOf(value, bytes)));
    const call: ShareCall = { op: 'write', path, from, to, value };
    const startMs = nowMs();
    const write = async () => {
      await context.volume.write(handle.file, from * bytes, content, { keepWritten: false, by: handle });
      return true;
    };
    const told = await this.#histories.record(this.#name, object, call, write, true);
    done();
    if (told) visit.pending.push({ call, startMs, endMs: nowMs() });
  }

  async #look(visit: Visit, from: number, to: number): Promise<string | undefined> {
    const { handle, object, path, context } = visit;
    const done = context.opens.begin(handle.id, 'read', this.#range(visit, from, to));
    if (!done) return undefined;
    const bytes = sizeOf(object);
    const look = async () => {
      const read = await context.volume.read(handle.file, from * bytes, (to - from) * bytes);
      return slotsIn(Buffer.from(read), bytes).join('|');
    };
    const call: ShareCall = { op: 'look', path, from, to };
    const seen = await this.#histories.record(this.#name, object, call, look);
    done();
    return seen;
  }

  /** Nobody else changes what is locked. */
  async #locked(visit: Visit, from: number, to: number): Promise<void> {
    const { context, handle } = visit;
    if (visit.keepsLock) return; // it would wait for itself
    const range = this.#range(visit, from, to);
    const lock = { ...range, owner: handle.id, exclusive: true };
    const locked = await context.opens.lock(handle.id, [lock], this.#told.random() < 0.5);
    if (locked.outcome === 'refused') return;
    if (locked.outcome === 'wait') await locked.wait.granted;
    const first = await this.#look(visit, from, to);
    await turn();
    const second = await this.#look(visit, from, to);
    // What is lost and turns up does so whoever has locked it; and who writes behind the range makes the file longer.
    const withoutEnd = (seen: string) => seen.replace(/\|+$/, '');
    if (this.#told.faults.lost === 0 && first !== undefined && second !== undefined)
      assert.equal(withoutEnd(second), withoutEnd(first), 'a locked range changed');
    if (this.#told.random() < 0.5) await this.#write(visit, from, to);
    visit.keepsLock = this.#told.random() < 0.3; // until it is closed
    if (!visit.keepsLock) assert.ok(await context.opens.unlock(handle.id, range));
  }

  async #rename(visit: Visit): Promise<void> {
    const { object, context, handle, path } = visit;
    const onto = [this.#pick(names)];
    const call: ShareCall = { op: 'move', path, onto };
    const target = { path: [object, ...onto], replace: true };
    const moved = await this.#histories.record(this.#name, object, call, () =>
      renameFile(context, handle, target),
    );
    if (moved !== undefined) visit.path = onto;
  }

  async #flush(visit: Visit): Promise<void> {
    const { context, handle, object, pending } = visit;
    visit.pending = [];
    const told = await this.#histories.attempt(() => context.volume.flush(handle.file, handle));
    if (told.kind !== 'done') this.losses++;
    for (const { call, startMs, endMs } of pending) {
      const result = told.kind === 'done' ? ({ ok: true } as const) : undefined;
      this.#histories.add(this.#name, object, call, startMs, result, endMs);
    }
  }

  async #close(visit: Visit, unlinks: boolean): Promise<void> {
    const { context, handle, object, path } = visit;
    await this.#flush(visit);
    const close = () => closeFile(context.volume, context.opens, handle);
    if (!unlinks) {
      await close();
      return;
    }
    const startMs = nowMs();
    const call: ShareCall = { op: 'unlink', path };
    const closed = await this.#histories.attempt(close);
    if (closed.kind === 'unknown') this.#histories.add(this.#name, object, call, startMs, undefined);
    else if (closed.kind === 'done' && closed.value.removed)
      this.#histories.add(this.#name, object, call, startMs, { ok: true });
  }
}
