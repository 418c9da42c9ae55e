// A client of the REST operations of a share, which draws what it does next.

import { createDirectory, deleteDirectory } from '#src/services/file/directories.js';
import { leaseFile } from '#src/services/file/file-leases.js';
import { listRanges, putRange } from '#src/services/file/file-ranges.js';
import {
  createFile,
  deleteFile,
  readFile,
  setFileMetadata,
  setFileProperties,
} from '#src/services/file/files.js';
import { type ListOptions, listDirectory } from '#src/services/file/listing.js';
import type { Entry, FileEntry } from '#src/services/file/model.js';
import { noHttpProperties } from '#src/services/file/new-entry.js';
import { renameEntry } from '#src/services/file/renames.js';
import { snapshotShare } from '#src/services/file/share-snapshots.js';
import { noWishes } from '#src/services/file/smb-properties.js';
import { nowMs } from './history.js';
import { type ShareCall, showFile, showList, showRanges, showSlots } from './share-model.js';
import {
  type Histories,
  shareKey,
  sizeOf,
  slotOf,
  slotsIn,
  sometimes,
  type ToldShare,
  targetOf,
} from './told-share.js';

export const mostSlots = 4;
const names = ['a', 'b'];
const everything: ListOptions = { prefix: '', marker: undefined, max: 1000, exact: false };

/**
 * What clients draw: how much of it is about names, and how much about contents. Beside SMB they do not list: what waits
 * to be deleted is left out, and is there again where that fails.
 */
export type Taste = 'tree' | 'content' | 'beside SMB';

export class RestClient {
  readonly #told: ToldShare;
  readonly #histories: Histories;
  readonly #name: string;
  readonly #objects: readonly string[];
  readonly #taste: Taste;
  #count = 0;

  constructor(told: ToldShare, histories: Histories, name: string, objects: readonly string[], taste: Taste) {
    this.#told = told;
    this.#histories = histories;
    this.#name = name;
    this.#objects = objects;
    this.#taste = taste;
  }

  async work(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await this.#act(this.#pick(this.#objects));
      await sometimes(this.#told.random, 0.1);
    }
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#told.random() * from.length)] as T;
  }

  path(): string[] {
    const deep = this.#told.random();
    const long = this.#taste !== 'tree' ? 1 : deep < 0.4 ? 1 : deep < 0.85 ? 2 : 3;
    return Array.from({ length: long }, () => this.#pick(names));
  }

  #act(object: string): Promise<unknown> {
    const path = this.path();
    const drawn = this.#told.random();
    return this.#taste === 'tree'
      ? this.#actOnTree(object, path, drawn)
      : this.#actOnFile(object, path, drawn);
  }

  #actOnTree(object: string, path: string[], drawn: number): Promise<unknown> {
    const value = this.#value();
    if (drawn < 0.2) return this.call(object, { op: 'make', path });
    if (drawn < 0.3) return this.call(object, { op: 'remove', path });
    if (drawn < 0.45) return this.call(object, { op: 'create', path, length: this.#slot(), metadata: value });
    if (drawn < 0.52) return this.call(object, { op: 'delete', path });
    if (drawn < 0.72) return this.#rename(object, path);
    if (drawn < 0.9) return this.call(object, { op: 'list', path: path.slice(1) });
    if (drawn < 0.98) return this.call(object, { op: 'read', path, from: 0, to: mostSlots });
    return this.snapshot();
  }

  #actOnFile(object: string, path: string[], drawn: number): Promise<unknown> {
    const value = this.#value();
    const lease = this.#told.random() < 0.1 ? { leaseId: this.#leaseId } : {};
    const from = Math.min(this.#slot(), mostSlots - 1);
    const to = from + 1 + Math.floor(this.#told.random() * (mostSlots - from));
    if (drawn < 0.3) return this.call(object, { op: 'read', path, from, to });
    if (drawn < 0.35) return this.call(object, { op: 'ranges', path });
    if (drawn < 0.4 && this.#taste === 'content') return this.call(object, { op: 'list', path: [] });
    if (drawn < 0.6) return this.call(object, { op: 'put', path, from, to, value, ...lease });
    if (drawn < 0.65) return this.call(object, { op: 'put', path, from, to, value: '', ...lease });
    if (drawn < 0.75) return this.call(object, { op: 'resize', path, length: this.#slot(), ...lease });
    if (drawn < 0.79) return this.call(object, { op: 'describe', path, metadata: value, ...lease });
    if (drawn < 0.87)
      return this.call(object, { op: 'create', path, length: this.#slot(), metadata: value, ...lease });
    if (drawn < 0.89) return this.call(object, { op: 'delete', path, ...lease });
    if (drawn < 0.93) return this.#rename(object, path);
    if (drawn < 0.95) return this.call(object, { op: 'acquire', path, leaseId: this.#leaseId });
    if (drawn < 0.97) return this.call(object, { op: 'release', path, leaseId: this.#leaseId });
    if (drawn < 0.99) return this.call(object, { op: 'break', path });
    return this.snapshot();
  }

  #value(): string {
    return `${this.#name}-${++this.#count}`;
  }

  get #leaseId(): string {
    return `lease of ${this.#name}`;
  }

  #slot(): number {
    return Math.floor(this.#told.random() * (mostSlots + 1));
  }

  #rename(object: string, path: string[]): Promise<unknown> {
    const directory = this.#taste === 'tree' && this.#told.random() < 0.6;
    const replaces = this.#told.random() < 0.6;
    return this.call(object, { op: 'rename', path, onto: this.path(), directory, replaces });
  }

  call(object: string, call: ShareCall): Promise<unknown> {
    return this.#histories.record(this.#name, object, call, () => this.#do(object, call));
  }

  async #do(object: string, call: ShareCall): Promise<unknown> {
    const { service } = this.#told;
    const target = targetOf([object, ...call.path]);
    const bytes = sizeOf(object);
    const leaseId = 'leaseId' in call ? call.leaseId : undefined;
    switch (call.op) {
      case 'make':
        return createDirectory(service, target, noWishes, []);
      case 'remove':
        return deleteDirectory(service, target);
      case 'list':
        return listed((await listDirectory(service, target, everything)).entries, bytes);
      case 'create': {
        const metadata = [['value', call.metadata]] as const;
        const request = {
          http: noHttpProperties,
          metadata,
          smb: noWishes,
          leaseId,
          mayOverwrite: true,
          body: undefined,
        };
        return createFile(service, target, { ...request, length: call.length * bytes });
      }
      case 'delete':
        return deleteFile(service, target, leaseId);
      case 'put':
        return this.#put(object, call);
      case 'resize':
        return setFileProperties(service, target, {
          http: undefined,
          length: call.length * bytes,
          smb: noWishes,
          leaseId,
        });
      case 'describe':
        return setFileMetadata(service, target, leaseId, [['value', call.metadata]]);
      case 'read':
        return this.#read(object, call);
      case 'ranges': {
        const query = { range: undefined, leaseId, since: undefined, supportsRename: false };
        const { entry, ranges } = await listRanges(service, target, query);
        return showRanges(
          Array.from({ length: entry.file.length / bytes }, (_, slot) =>
            ranges.some(({ start, end }) => start <= slot * bytes && (slot + 1) * bytes <= end),
          ),
        );
      }
      case 'rename':
        return renameEntry(service, targetOf([object, ...call.onto]), {
          ...{ directory: call.directory, replaces: call.replaces, source: [object, ...call.path] },
          ...{ sourceLeaseId: leaseId, targetLeaseId: undefined, ignoreReadOnly: false },
          ...{ smb: noWishes, metadata: undefined, contentType: undefined },
        });
      case 'acquire':
        return leaseFile(service, target, {
          action: 'acquire',
          id: call.leaseId,
          seconds: Number.POSITIVE_INFINITY,
        });
      case 'release':
        return leaseFile(service, target, { action: 'release', id: call.leaseId });
      case 'break':
        return leaseFile(service, target, { action: 'break', seconds: undefined });
      default:
        throw new Error(`${call.op} is not done over REST`);
    }
  }

  async #put(
    object: string,
    { path, from, to, value, leaseId }: Extract<ShareCall, { op: 'put' }>,
  ): Promise<void> {
    const { service } = this.#told;
    const bytes = sizeOf(object);
    const slots = Buffer.concat(Array.from({ length: to - from }, () => slotOf(value, bytes)));
    using body = value === '' ? undefined : await service.store.content.contents.store(slots);
    const range = { start: from * bytes, end: to * bytes };
    await putRange(service, targetOf([object, ...path]), { range, body, leaseId, keepWritten: false });
  }

  async #read(object: string, { path, from, to }: Extract<ShareCall, { op: 'read' }>): Promise<string> {
    const bytes = sizeOf(object);
    const { entry, slots } = await this.#content(targetOf([object, ...path]), bytes, from, to);
    const all = Array.from({ length: entry.file.length / bytes }, (_, index) => slots[index - from] ?? '');
    return `${showSlots(all, from, to)} ${metadataOf(entry)}`;
  }

  async #content(target: ReturnType<typeof targetOf>, bytes: number, from: number, to: number) {
    const { entry, bytes: chunks } = await readFile(this.#told.service, target, undefined, (length) => ({
      start: Math.min(from * bytes, length),
      end: Math.min(to * bytes, length),
    }));
    const read: Buffer[] = [];
    for await (const chunk of chunks) read.push(Buffer.from(chunk));
    return { entry, slots: slotsIn(Buffer.concat(read), bytes) };
  }

  /** What a snapshot shows of each object is what it was at one moment while it was taken, and stays so. */
  async snapshot(): Promise<void> {
    const startMs = nowMs();
    const taken = await this.#histories.attempt(() =>
      snapshotShare(this.#told.service.store, shareKey, undefined),
    );
    if (taken.kind !== 'done') return;
    const endMs = nowMs();
    for (const object of this.#objects) {
      const show = () => this.#dump(object, taken.value.second);
      const shown = await this.#histories.attempt(show);
      if (shown.kind !== 'done') continue;
      const result = { ok: true, value: shown.value } as const;
      this.#histories.add(`${this.#name} snapshot`, object, { op: 'dump', path: [] }, startMs, result, endMs);
      this.#histories.snapshots.push({ object, show, shown: shown.value });
    }
  }

  async #dump(object: string, second: number): Promise<string> {
    return this.#dumpBelow([object], second, sizeOf(object));
  }

  async #dumpBelow(path: string[], second: number, bytes: number): Promise<string> {
    const { entries } = await listDirectory(this.#told.service, targetOf(path, second), everything);
    const shown: string[] = [];
    for (const { name, file } of entries) {
      const below = [...path, name];
      if (file === undefined) shown.push(`${name}: ${await this.#dumpBelow(below, second, bytes)}`);
      else {
        const { entry, slots } = await this.#content(targetOf(below, second), bytes, 0, mostSlots * 2);
        shown.push(`${name}: ${showFile({ slots, metadata: metadataOf(entry) })}`);
      }
    }
    return `{${shown.join(', ')}}`;
  }
}

function listed(entries: readonly Entry[], bytes: number): string {
  return showList(entries.map(({ name, file }) => [name, file && file.length / bytes]));
}

function metadataOf({ metadata }: FileEntry): string {
  return metadata[0]?.[1] ?? '';
}
