// Calls on block blobs with all that belongs to them, recorded for full-blob-model.ts.

import assert from 'node:assert/strict';
import { baseOf } from '#src/services/blob/address.js';
import { leaseBlob, putBlob, setMetadata } from '#src/services/blob/blobs.js';
import { getBlockList, putBlock, putBlockList } from '#src/services/blob/block-blobs.js';
import { listBlobs } from '#src/services/blob/listing.js';
import type { BlobStore } from '#src/services/blob/model.js';
import { deleteBlob, snapshotBlob } from '#src/services/blob/snapshots.js';
import { findBlobs } from '#src/services/blob/tag-search.js';
import { setTags } from '#src/services/blob/tags.js';
import { noConditions } from '#src/services/common/conditions.js';
import { bareEtag } from '#src/services/common/etag.js';
import type { LeaseAction } from '#src/services/common/lease.js';
import { type FullCall, toldOf } from './full-blob-model.js';
import type { Told } from './told.js';
import {
  account,
  busy,
  contentOf,
  freshBlob,
  sending,
  tagsOf,
  textsIn,
  unguarded,
} from './told-blob-store.js';

const tagValues = ['', 'a', 'b'] as const;
const blockIds = ['A', 'B', 'C'] as const;
const listed = {
  prefix: '',
  delimiter: '',
  marker: undefined,
  max: 5000,
  snapshots: true,
  versions: false,
  uncommitted: true,
  deleted: false,
  versionsOnly: false,
} as const;

const nameOf = (object: string) => object.replace(' ', '-');

export class FullBlobs {
  readonly #told: Told;
  readonly #store: BlobStore;
  readonly #name: string;
  readonly #etags = new Map<string, { readonly meta: string; readonly etag: string }>();
  readonly #snapshots = new Map<string, { readonly name: string; readonly stamp: number }[]>();

  constructor(told: Told, store: BlobStore, name: string) {
    this.#told = told;
    this.#store = store;
    this.#name = name;
  }

  act(object: string): Promise<void> {
    const drawn = this.#told.random();
    if (drawn < 0.2) return this.read(object);
    if (drawn < 0.3) return this.#look(object);
    if (drawn < 0.6) return this.#blocks(object);
    if (drawn < 0.72) return this.#keep(object);
    return drawn < 0.84 ? this.#leaseIt(object) : this.#write(object);
  }

  #full(object: string, call: FullCall, run: () => Promise<string | undefined>): Promise<void> {
    const intent = { object, call };
    return this.#told.call(this.#name, [intent], async () => {
      const value = await run();
      return [{ ...intent, result: value === undefined ? { ok: true } : { ok: true, value } }];
    });
  }

  /** A condition that may hold, a lease that may be held, or neither; for the call and for the model. */
  #guards(object: string) {
    const known = this.#told.random() < 0.4 ? this.#etags.get(object) : undefined;
    const leaseId = this.#told.random() < 0.3 ? this.#name : undefined;
    const conditions = known === undefined ? noConditions : { ...noConditions, match: [known.etag] };
    return {
      guards: { conditions, leaseId, mayOverwrite: true },
      lease: leaseId === undefined ? {} : { leaseId },
      asked: {
        ...(leaseId === undefined ? {} : { leaseId }),
        ...(known === undefined ? {} : { expects: known.meta }),
      },
    };
  }

  #remember(object: string, meta: string, stamp: number): void {
    this.#etags.set(object, { meta, etag: bareEtag(stamp) });
  }

  read(object: string): Promise<void> {
    return this.#full(object, { op: 'read' }, async () => {
      const { blob, content } = await contentOf(this.#store, busy, baseOf(nameOf(object)));
      const meta = blob.metadata[0]?.[1] ?? '';
      this.#remember(object, meta, blob.stamp);
      return toldOf(textsIn(content), meta, blob.tags?.[0]?.[1] ?? '', blob.lease?.state ?? 'available');
    });
  }

  #write(object: string): Promise<void> {
    const { guards, asked, lease } = this.#guards(object);
    const meta = this.#told.newValue();
    const tag = this.#told.pick(tagValues);
    const drawn = this.#told.random();
    const name = nameOf(object);
    if (drawn < 0.5) {
      const isNew = drawn < 0.1;
      const call = { op: 'put', meta, tag, ...(isNew ? { isNew, ...lease } : asked) } as const;
      const conditions = isNew ? { ...noConditions, noneMatch: ['*'] } : guards.conditions;
      return this.#full(object, call, () =>
        sending(this.#store, meta, async (body) => {
          const put = { ...guards, conditions };
          const { stamp } = await putBlob(this.#store, busy, name, freshBlob(meta, tag), body, put);
          this.#remember(object, meta, stamp);
          return undefined;
        }),
      );
    }
    if (drawn < 0.65)
      return this.#full(object, { op: 'meta', meta, ...asked }, async () => {
        const { stamp } = await setMetadata(this.#store, busy, name, [['m', meta]], guards);
        this.#remember(object, meta, stamp);
        return undefined;
      });
    if (drawn < 0.8)
      return this.#full(object, { op: 'tag', tag, ...lease }, async () => {
        const unconditional = { ...guards, conditions: noConditions };
        await setTags(this.#store, busy, baseOf(name), tagsOf(tag), unconditional);
        return undefined;
      });
    const snapshots = this.#told.pick(['none', 'include', 'only']);
    return this.#full(object, { op: 'delete', snapshots, ...asked }, async () => {
      await deleteBlob(this.#store, busy, baseOf(name), snapshots, guards);
      return undefined;
    });
  }

  #blocks(object: string): Promise<void> {
    const { guards, asked, lease } = this.#guards(object);
    const name = nameOf(object);
    const drawn = this.#told.random();
    if (drawn < 0.5) {
      const id = this.#told.pick(blockIds);
      const content = this.#told.newValue();
      return this.#full(object, { op: 'block', id, content, ...lease }, () =>
        sending(this.#store, content, async (body) => {
          await putBlock(this.#store, busy, name, id, body, guards);
          return undefined;
        }),
      );
    }
    if (drawn < 0.75)
      return this.#full(object, { op: 'block list' }, async () => {
        const wanted = { committed: true, uncommitted: true };
        const list = await getBlockList(this.#store, busy, baseOf(name), wanted, unguarded);
        const ids = (blocks: readonly { id: string }[]) => blocks.map(({ id }) => id).join();
        return toldOf(ids(list.committed), ids(list.uncommitted));
      });
    const meta = this.#told.newValue();
    const tag = this.#told.pick(tagValues);
    const ids = blockIds.filter(() => this.#told.random() < 0.5);
    if (ids.length === 0) ids.push('A');
    return this.#full(object, { op: 'commit', ids, meta, tag, ...asked }, async () => {
      const choices = ids.map((id) => ({ id, from: 'latest' }) as const);
      const fresh = freshBlob(meta, tag);
      const { stamp } = await putBlockList(this.#store, busy, name, choices, fresh, guards);
      this.#remember(object, meta, stamp);
      return undefined;
    });
  }

  #keep(object: string): Promise<void> {
    const known = this.#snapshots.get(object) ?? [];
    const one = known[Math.floor(this.#told.random() * known.length)];
    if (one === undefined || this.#told.random() < 0.4) {
      const name = this.#told.newValue();
      return this.#full(object, { op: 'snapshot', name }, async () => {
        const taken = await snapshotBlob(this.#store, busy, nameOf(object), [['m', name]], unguarded);
        this.#snapshots.set(object, [...known, { name, stamp: taken.stamp }]);
        return undefined;
      });
    }
    const address = { name: nameOf(object), kind: 'snapshot', stamp: one.stamp } as const;
    if (this.#told.random() < 0.7)
      return this.#full(object, { op: 'read snapshot', name: one.name }, async () =>
        textsIn((await contentOf(this.#store, busy, address)).content),
      );
    return this.#full(object, { op: 'delete snapshot', name: one.name }, async () => {
      await deleteBlob(this.#store, busy, address, 'none', unguarded);
      return undefined;
    });
  }

  #leaseIt(object: string): Promise<void> {
    const op = this.#told.pick(['acquire', 'acquire', 'renew', 'release', 'release', 'break']);
    const id = this.#name;
    const action: LeaseAction =
      op === 'break'
        ? { action: op, seconds: 0 }
        : op === 'acquire'
          ? { action: op, id, seconds: Number.POSITIVE_INFINITY }
          : { action: op, id };
    const call: FullCall = op === 'break' ? { op } : { op, leaseId: id };
    return this.#full(object, call, async () => {
      await leaseBlob(this.#store, busy, nameOf(object), action, noConditions);
      return undefined;
    });
  }

  /** Both blobs of this time, in one page or in several; or those with a tag. */
  async #look(object: string): Promise<void> {
    const objects = ['x', 'y'].map((letter) => object.slice(0, -1) + letter);
    if (this.#told.random() < 0.5) return this.list(objects);
    const tag = this.#told.pick(['a', 'b']);
    await this.#told.call<FullCall>(this.#name, [], async () => {
      const search = { container: busy[1], all: [{ name: 't', operator: '=', value: tag }] } as const;
      const { blobs, next } = await findBlobs(this.#store, account, search, { marker: undefined, max: 5000 });
      assert.equal(next, undefined);
      return objects.map((one) => {
        const isFound = blobs.some(({ name }) => name === nameOf(one));
        return { object: one, call: { op: 'find', tag }, result: { ok: true, value: String(isFound) } };
      });
    });
  }

  async list(objects: readonly string[]): Promise<void> {
    await this.#told.call<FullCall>(this.#name, [], async () => {
      const { entries, next } = await listBlobs(this.#store, busy, listed);
      assert.equal(next, undefined);
      return objects.map((object) => {
        const names: string[] = [];
        let base = 'none';
        for (const entry of entries) {
          if (entry.kind === 'prefix' || entry.name !== nameOf(object)) continue;
          const { blob } = entry;
          const meta = 'metadata' in blob ? (blob.metadata[0]?.[1] ?? '') : '';
          if (entry.kind === 'snapshot') names.push(meta);
          else if (blob.type === 'uncommitted') base = 'uncommitted';
          else base = toldOf(meta, blob.tags?.[0]?.[1] ?? '', blob.lease?.state ?? 'available');
        }
        const value = toldOf(names.sort().join(), base);
        return { object, call: { op: 'list' }, result: { ok: true, value } };
      });
    });
  }
}
