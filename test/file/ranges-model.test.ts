// Random work on files of one share, beside a model that keeps every byte: what is read, which pages take space, what changed
// since each snapshot, what snapshots show, what the share uses. A seed in the name of a test that fails repeats it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { type File, given, header, type Share } from '../support/given-file.js';
import { gives } from '../support/server.js';

const page = 512;
const names = ['a', 'b', 'd/c'];
const longest = 20 * page;

interface Model {
  /** Which file it is: another one that is made under the same name is another file. */
  readonly id: string;
  bytes: Buffer;
  /** Pages that take space. */
  pages: Set<number>;
}

type Tree = Map<string, Model>;

function copyOf(tree: Tree): Tree {
  return new Map(
    [...tree].map(([name, { id, bytes, pages }]) => [
      name,
      { id, bytes: Buffer.from(bytes), pages: new Set(pages) },
    ]),
  );
}

function runs(pages: Iterable<number>, length: number): string[] {
  const found: string[] = [];
  const sorted = [...pages].sort((a, b) => a - b);
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] ?? 0;
    let last = first;
    while (sorted[++at] === last + 1) last++;
    found.push(`${first * page}-${Math.min((last + 1) * page, length) - 1}`);
  }
  return found;
}

function pagesIn(ranges: readonly string[]): Set<number> {
  const found = new Set<number>();
  for (const range of ranges) {
    const [start = 0, end = 0] = range.replace('cleared ', '').split('-').map(Number);
    for (let at = Math.floor(start / page); at * page <= end; at++) found.add(at);
  }
  return found;
}

class Work {
  readonly tree: Tree = new Map();
  readonly snapshots = new Map<string, Tree>();
  readonly #share: Share;
  readonly #pick: (below: number) => number;
  #made = 0;

  constructor(share: Share, next: () => number) {
    this.#share = share;
    this.#pick = (below) => Math.floor(next() * below);
  }

  async step(): Promise<void> {
    const name = names[this.#pick(names.length)] ?? 'a';
    const model = this.tree.get(name);
    const file = this.#share.file(name);
    const kind = this.#pick(100);
    if (model === undefined || kind < 4) return this.#create(name, file);
    if (kind < 45) return this.#write(file, model);
    if (kind < 65) return this.#clear(file, model);
    if (kind < 80) return this.#resize(file, model);
    if (kind < 86) return this.#rename(name, model);
    if (kind < 90) {
      await gives(file.delete(), 202);
      this.tree.delete(name);
      return;
    }
    if (kind < 93 && this.snapshots.size > 0) {
      const snapshot = [...this.snapshots.keys()][this.#pick(this.snapshots.size)] ?? '';
      await gives(this.#share.delete(`sharesnapshot=${snapshot}`), 202);
      this.snapshots.delete(snapshot);
      return;
    }
    this.snapshots.set(await this.#share.snapshot(), copyOf(this.tree));
  }

  async #create(name: string, file: File): Promise<void> {
    const length = this.#pick(longest);
    await gives(file.create(length), 201);
    const id = this.tree.get(name)?.id ?? String(++this.#made);
    this.tree.set(name, { id, bytes: Buffer.alloc(length), pages: new Set() });
  }

  /** A part of the file, often with ends at those of pages. */
  #range(length: number): [start: number, end: number] | undefined {
    if (length === 0) return undefined;
    const edge = () => {
      const at = this.#pick(length + 1);
      return this.#pick(3) === 0 ? at : Math.min(length, Math.round(at / page) * page);
    };
    const [a, b] = [edge(), edge()];
    return a === b ? undefined : [Math.min(a, b), Math.max(a, b)];
  }

  async #write(file: File, model: Model): Promise<void> {
    const [start, end] = this.#range(model.bytes.length) ?? [0, 0];
    if (start === end) return;
    const bytes = Buffer.alloc(end - start, 1 + this.#pick(250));
    await gives(file.write(bytes, start), 201);
    bytes.copy(model.bytes, start);
    for (let at = Math.floor(start / page); at * page < end; at++) model.pages.add(at);
  }

  async #clear(file: File, model: Model): Promise<void> {
    const { length } = model.bytes;
    const [start, end] = this.#range(length) ?? [0, 0];
    if (start === end) return;
    await gives(file.clear(start, end - 1), 201);
    model.bytes.fill(0, start, end);
    for (let at = Math.ceil(start / page); at * page < end; at++) {
      if ((at + 1) * page <= end) model.pages.delete(at);
    }
  }

  async #resize(file: File, model: Model): Promise<void> {
    const length = this.#pick(longest);
    await gives(file.setProperties({ 'x-ms-content-length': String(length) }), 200);
    const bytes = Buffer.alloc(length);
    model.bytes.copy(bytes, 0, 0, Math.min(length, model.bytes.length));
    model.bytes = bytes;
    for (const at of model.pages) if (at * page >= length) model.pages.delete(at);
  }

  async #rename(name: string, model: Model): Promise<void> {
    const onto = names[this.#pick(names.length)] ?? 'a';
    if (onto === name) return;
    const headers = { 'x-ms-file-rename-replace-if-exists': 'true' };
    await gives(this.#share.file(onto).renameFrom(this.#share.file(name), headers), 200);
    this.tree.delete(name);
    this.tree.set(onto, model);
  }

  async check(): Promise<void> {
    const sum = [...this.tree.values()].reduce((bytes, model) => bytes + model.bytes.length, 0);
    assert.equal(await this.#share.usage(), sum);
    await this.#checkTree(this.tree, '');
    for (const [snapshot, tree] of this.snapshots) await this.#checkTree(tree, `sharesnapshot=${snapshot}`);
    const seen = [...this.snapshots];
    for (const [at, [since, old]] of seen.entries()) {
      await this.#checkChanges(since, old, this.tree, '');
      for (const [newer, tree] of seen.slice(at + 1)) {
        await this.#checkChanges(since, old, tree, `sharesnapshot=${newer}`);
      }
    }
  }

  async #checkTree(tree: Tree, query: string): Promise<void> {
    for (const name of names) {
      const model = tree.get(name);
      const file = this.#share.file(name);
      const answer = await file.get(query);
      assert.equal(answer.status, model === undefined ? 404 : 200, `${name} ${query}`);
      if (model === undefined) continue;
      assert.ok(answer.body.equals(model.bytes), `the bytes of ${name} ${query}`);
      assert.deepEqual(await file.ranges(query), runs(model.pages, model.bytes.length), `${name} ${query}`);
    }
  }

  /** Every page that differs is told; none is told to be cleared that is not a hole. */
  async #checkChanges(since: string, old: Tree, now: Tree, query: string): Promise<void> {
    for (const [name, model] of now) {
      const before = [...old.values()].find(({ id }) => id === model.id);
      if (before === undefined) continue;
      const both = `${query}${query === '' ? '' : '&'}prevsharesnapshot=${since}`;
      const told = await this.#share.file(name).ranges(both, { 'x-ms-file-support-rename': 'true' });
      const written = pagesIn(told.filter((range) => !range.startsWith('cleared')));
      const cleared = pagesIn(told.filter((range) => range.startsWith('cleared')));
      const where = `${name} ${both}: ${told.join(' ')}`;
      for (let at = 0; at * page < model.bytes.length; at++) {
        const end = Math.min((at + 1) * page, model.bytes.length);
        const then = Buffer.alloc(end - at * page);
        before.bytes.subarray(at * page, end).copy(then);
        const differs = !then.equals(model.bytes.subarray(at * page, end));
        if (differs) assert.ok(written.has(at) || cleared.has(at), `page ${at} changed; ${where}`);
        if (written.has(at)) assert.ok(model.pages.has(at), `page ${at} is a hole; ${where}`);
        if (cleared.has(at)) {
          assert.ok(!model.pages.has(at) && before.pages.has(at), `page ${at} was not cleared; ${where}`);
        }
      }
      assert.ok(
        [...written, ...cleared].every((at) => at * page < model.bytes.length),
        where,
      );
    }
  }
}

const seeds = process.env['LAZULI_FULL'] === '1' ? 60 : 6;

for (let seed = 1; seed <= seeds; seed++) {
  test(`files beside a model, seed ${seed}`, async (t) => {
    const { share } = await given(t, { directory: 'd' });
    const work = new Work(share, seededRandom(seed));
    for (let step = 1; step <= 80; step++) {
      await work.step();
      if (step % 20 === 0) await work.check();
    }
    assert.ok(header(await gives(share.head(), 200), 'etag'));
  });
}
