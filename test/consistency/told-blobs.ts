// Clients on a few blobs, in process: block blobs with all that belongs to them, append blobs, and a container that is
// deleted and made again. Contents lie in rows and in small segments, which are reclaimed meanwhile.

import assert from 'node:assert/strict';
import { baseOf } from '#src/services/blob/address.js';
import { appendBlock } from '#src/services/blob/append-blobs.js';
import { putAppendBlob, putBlob } from '#src/services/blob/blobs.js';
import { createContainer, deleteContainer } from '#src/services/blob/containers.js';
import type { BlobStore } from '#src/services/blob/model.js';
import { verifyBlobs } from '#src/services/blob/verify-blobs.js';
import type { AppendCall, ContainerCall, Result } from './models.js';
import { type Faults, Told } from './told.js';
import {
  busy,
  bytesOf,
  clearBlobs,
  contentOf,
  freshBlob,
  type Keeping,
  openBlobs,
  passing,
  sending,
  textsIn,
  unguarded,
  verifyTags,
} from './told-blob-store.js';
import { FullBlobs } from './told-full-blobs.js';

/** After so many rounds all go on to other blobs: long histories take long to judge. */
const roundsEach = 25;

class BlobClient {
  readonly full: FullBlobs;
  readonly #told: Told;
  readonly #store: BlobStore;
  readonly #name: string;
  readonly #lengths = new Map<string, number>();

  constructor(told: Told, store: BlobStore, name: string) {
    this.full = new FullBlobs(told, store, name);
    this.#told = told;
    this.#store = store;
    this.#name = name;
  }

  async work(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const epoch = Math.floor(round / roundsEach);
      const drawn = this.#told.random();
      if (drawn < 0.1) await this.passing();
      else if (drawn < 0.25) await this.append(`append ${epoch}`);
      else await this.full.act(`full ${epoch}${this.#told.pick(['x', 'y'])}`);
    }
  }

  #one<Call>(object: string, call: Call, run: () => Promise<Result>): Promise<void> {
    const intent = { object, call };
    return this.#told.call(this.#name, [intent], async () => [{ ...intent, result: await run() }]);
  }

  append(object: string, isRead = this.#told.random() < 0.4): Promise<void> {
    const name = object.replace(' ', '-');
    if (isRead)
      return this.#one<AppendCall>(object, { op: 'read' }, async () => {
        const { content } = await contentOf(this.#store, busy, baseOf(name));
        this.#lengths.set(object, content.length);
        return { ok: true, value: content };
      });
    const length = this.#lengths.get(object);
    if (length === undefined || this.#told.random() < 0.05)
      return this.#one<AppendCall>(object, { op: 'make' }, async () => {
        await putAppendBlob(this.#store, busy, name, freshBlob('', ''), unguarded);
        this.#lengths.set(object, 0);
        return { ok: true };
      });
    const text = this.#told.newValue();
    const at = this.#told.random() < 0.5 ? { at: length } : {};
    const call: AppendCall = { op: 'append', chunk: bytesOf(text).toString(), ...at };
    return this.#one(object, call, () =>
      sending(this.#store, text, async (body) => {
        const conditions = { position: at.at, maxSize: undefined };
        const { blob, offset } = await appendBlock(this.#store, busy, name, body, conditions, unguarded);
        this.#lengths.set(object, blob.length);
        return { ok: true, offset };
      }),
    );
  }

  /** The container that comes and goes, with one blob. */
  passing(
    op: ContainerCall['op'] = this.#told.pick(['create', 'delete', 'put', 'put', 'read', 'read']),
  ): Promise<void> {
    const value = this.#told.newValue();
    const call: ContainerCall = op === 'put' ? { op, value } : { op };
    return this.#one('container 0', call, async (): Promise<Result> => {
      if (op === 'create')
        await createContainer(this.#store, passing, { metadata: [], publicAccess: 'none' });
      else if (op === 'delete') await deleteContainer(this.#store, passing, unguarded);
      else if (op === 'put')
        await sending(this.#store, value, (body) =>
          putBlob(this.#store, passing, 'b', freshBlob(value, 'a'), body, unguarded),
        );
      else return { ok: true, value: textsIn((await contentOf(this.#store, passing, baseOf('b'))).content) };
      return { ok: true };
    });
  }
}

export async function tellOfBlobs(
  seed: number,
  faults: Faults,
  rounds: number,
  keeping: Keeping = 'nothing',
): Promise<void> {
  await using told = await Told.open(seed, faults);
  const failures: unknown[] = [];
  const report = (error: unknown) => told.isExpected(error) || failures.push(error);
  const opened = await openBlobs(told.store, keeping, report);
  const { blobs, garbage, content } = opened;
  await createContainer(blobs, busy, { metadata: [], publicAccess: 'none' });
  await told.failing(async () => {
    let isOver = false;
    const sweeping = told.until(
      () => isOver,
      () => garbage.sweep(),
    );
    const reclaiming = told.until(
      () => isOver,
      () => content.reclaim.run(),
    );
    const clients = Array.from({ length: 8 }, (_, index) => new BlobClient(told, blobs, `c${index}`));
    try {
      await Promise.all(clients.map((client) => client.work(rounds)));
    } finally {
      isOver = true;
    }
    await Promise.all([sweeping, reclaiming]);
  });
  await readAll(told, blobs);
  assert.deepEqual(failures, []);
  told.judge();
  assert.deepEqual(await verifyBlobs(blobs), []);
  await verifyTags(blobs);
  await clearBlobs(opened);
  assert.deepEqual(failures, []);
}

async function readAll(told: Told, blobs: BlobStore): Promise<void> {
  const judge = new BlobClient(told, blobs, 'judge');
  const objects = [...new Set(told.history.map(({ object }) => object))];
  await judge.full.list(objects.filter((object) => object.startsWith('full')));
  for (const object of objects) {
    if (object.startsWith('full')) await judge.full.read(object);
    else if (object.startsWith('append')) await judge.append(object, true);
    else await judge.passing('read');
  }
}
