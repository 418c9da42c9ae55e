// Gives space back: sweeps what was noted as garbage, drops segments that nothing lives in, and moves what
// lives in segments that are mostly dead. Nothing waits for it, and all of it can stop at any point and be
// taken up again.
//
//   live bytes   0                          the segment is dropped; an open one unless it is small
//                less than half, sealed     what lives is moved, then it is dropped
//                else                       it stays
//
// Many small segments, as each start leaves some, are moved together. A segment is dropped after a commit, on
// disk, that found nothing alive in it: a commit whose outcome is unknown is known by then.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from '../../collections/index.js';
import { DamageError } from '../../extents/errors.js';
import type { Extent, Extents, SegmentInfo, Written } from '../../extents/extents.js';
import type { GarbageSweeper } from './content-garbage.js';
import { type ContentRows, movedTo, placeOf, takes } from './content-rows.js';
import type { Store } from './store.js';

export interface ReclaimOptions {
  readonly store: Store;
  readonly rows: ContentRows;
  readonly extents: Extents;
  readonly garbage: GarbageSweeper;
  /** Told of what went wrong in the background. */
  readonly report: (error: unknown) => void;
  readonly intervalMs?: number;
}

/** What is moved in one round, and in one transaction. */
const roundBytes = 64 * 1024 * 1024;
const batchBytes = 8 * 1024 * 1024;
const batchExtents = 64;
/** Small segments are moved together when there are more than so many. */
const smallSegments = 16;

export class Reclaim {
  readonly #options: ReclaimOptions;
  /** Where damage was found: what lives there is left as it is. */
  readonly #damaged = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: ReclaimOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.run(), this.#options.intervalMs ?? 5000).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One round. Rounds do not overlap. */
  run(): Promise<void> {
    this.#running ??= this.#round()
      .catch(this.#options.report)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** A round that begins now, after any that is under way. */
  async makeRoom(): Promise<void> {
    await this.#running;
    await this.run();
  }

  async #round(): Promise<void> {
    await this.#options.garbage.sweep(() => this.#stopped);
    const { segmentBytes } = this.#options.extents;
    const lived = await this.#measure();
    for (const { number, bytes, open, live } of lived) {
      if (this.#stopped) return;
      if (live === 0 && (!open || bytes * 64 > segmentBytes)) await this.#drop(number);
    }
    let budget = roundBytes;
    for (const { number, live } of worthMoving(lived, segmentBytes)) {
      if (this.#stopped || budget <= 0) return;
      if (this.#damaged.has(number)) continue;
      await this.#moveAll(number);
      await this.#drop(number);
      budget -= live;
    }
  }

  #measure(): Promise<Lived[]> {
    const { store, rows, extents } = this.#options;
    return store.run(async (tx) => {
      const lived: Lived[] = [];
      for (const info of extents.segments()) {
        lived.push({ ...info, live: await rows.live.get(tx, info.number) });
        if (lived.length % 64 === 0) await nextTurn();
      }
      return lived;
    });
  }

  #drop(number: number): Promise<boolean> {
    const { store, rows, extents } = this.#options;
    return extents.drop(number, () =>
      store.run(async (tx) => {
        if ((await rows.live.get(tx, number, { check: true })) > 0) return false;
        await rows.live.remove(tx, number);
        return true;
      }),
    );
  }

  /** What lives in a segment, by name and place. */
  #livingIn(number: number): Promise<Living[]> {
    const { store, rows } = this.#options;
    return store.run(async (tx) => {
      const living: Living[] = [];
      for await (const [key, row] of rows.extents.entries(tx, { prefix: [number], newest: true })) {
        const place = placeOf(key, row);
        if (place?.segment === number) living.push({ key, place });
      }
      for await (const [, segment, offset] of rows.moved.keys(tx, { prefix: [number], newest: true })) {
        const key: [number, number] = [segment, offset];
        const row = await rows.extents.get(tx, key, { lock: 'none' });
        const place = row && placeOf(key, row);
        if (place?.segment === number) living.push({ key, place });
      }
      return living;
    });
  }

  async #moveAll(number: number): Promise<void> {
    const living = await this.#livingIn(number);
    while (living.length > 0 && !this.#stopped) {
      const batch: Living[] = [];
      for (let bytes = 0; bytes < batchBytes && batch.length < batchExtents; ) {
        const next = living.pop();
        if (!next) break;
        batch.push(next);
        bytes += next.place.length;
      }
      await this.#move(batch);
    }
  }

  async #move(batch: readonly Living[]): Promise<void> {
    const copies: { readonly living: Living; readonly copy: Written & Disposable }[] = [];
    try {
      for (const living of batch) {
        const copy = await this.#copy(living);
        if (copy) copies.push({ living, copy });
      }
      await Promise.all(copies.map(({ copy }) => copy.synced));
      await this.#options.store.run(async (tx) => {
        for (const { living, copy } of copies) await this.#rename(tx, living, copy.extent);
      });
    } finally {
      for (const { copy } of copies) copy[Symbol.dispose]();
    }
  }

  /** Nothing where it is damaged. */
  async #copy({ place }: Living): Promise<(Written & Disposable) | undefined> {
    try {
      return await this.#options.extents.move(place);
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      this.#damaged.add(place.segment);
      this.#options.report(error);
      return undefined;
    }
  }

  /** Unless it was freed meanwhile: the copy is then dead where it lies. */
  async #rename(tx: Transaction, { key, place }: Living, to: Extent): Promise<void> {
    const { rows } = this.#options;
    const row = await rows.extents.get(tx, key, { lock: 'update' });
    if (!row) return;
    await rows.extents.set(tx, key, movedTo(row, to));
    await rows.live.add(tx, place.segment, -takes(place));
    await rows.live.add(tx, to.segment, takes(to));
    if (place.segment !== key[0]) await rows.moved.remove(tx, [place.segment, ...key]);
    await rows.moved.set(tx, [to.segment, ...key], 0);
  }
}

/** The segments whose living bytes are to be moved, those with the least first. */
export function worthMoving(lived: readonly Lived[], segmentBytes: number): Lived[] {
  const sealed = lived.filter(({ open, live }) => !open && live > 0);
  const small = sealed.filter(({ bytes }) => bytes * 8 < segmentBytes);
  const many = small.length > smallSegments;
  return sealed
    .filter((segment) => segment.live * 2 < segment.bytes || (many && small.includes(segment)))
    .sort((a, b) => a.live - b.live);
}

export interface Lived extends SegmentInfo {
  readonly live: number;
}

interface Living {
  readonly key: [segment: number, offset: number];
  readonly place: Extent;
}
