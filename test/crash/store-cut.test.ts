// The power is cut while a server works: the bytes of blobs and the backups lie on a simulated disk that loses,
// reorders and tears what was not synced, the rows in LevelDB as a process that is killed leaves them. Afterwards the
// server starts, every blob that was told of is whole, any other is as before or as it was to be, and `verify` finds
// nothing. Of backups, each that was taken can be restored, and the next one stands on it or copies all.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeFolders } from '#src/base/files.js';
import { SimulatedDisk } from '#src/base/files.simulated.js';
import { seededRandom } from '#src/base/random.js';
import { MissingFullBackupError } from '#src/engine/errors.js';
import { verifyChain } from '#src/engine/restore.js';
import { restoreBackup, takeBackup } from '#src/server/backup.js';
import { dataFolder } from '#src/server/data-folder.js';
import { verifyContents } from '#src/server/verify.js';
import { type Blob, Container } from '../support/given.js';
import { gives, startServer, type TestServer } from '../support/server.js';
import { copyOut, splitDisk } from '../support/split-disk.js';
import type { WireAnswer } from '../support/wire.js';

const full = process.env.LAZULI_FULL === '1';
const seeds = full ? Array.from({ length: 4 }, (_, index) => index + 1) : [1];
const rounds = full ? 20 : 8;
/** An odd number, so that no kind of call is spared. */
const cutEvery = full ? 7 : 11;
const limit = { timeout: 900_000 };
const quiet = () => {};

interface Running extends Disposable {
  readonly server: TestServer;
  readonly container: Container;
  stop(): Promise<void>;
}

/** On the simulated disk, if there is one, are the extents and the backups. */
async function start(location: string, disk?: SimulatedDisk): Promise<Running> {
  const { extents } = dataFolder(location);
  const place = (path: string) => {
    if (path.startsWith('/backups')) return path;
    return path.startsWith(extents) ? `/extents${path.slice(extents.length)}` : undefined;
  };
  const closing: (() => unknown)[] = [];
  const t = { after: (close: () => unknown) => void closing.push(close) } as Pick<TestContext, 'after'>;
  const server = await startServer(t, 'blob', {
    location,
    ...(disk && { files: splitDisk(disk, place) }),
  });
  const stop = async () => {
    for (const close of closing.splice(0)) await close();
  };
  return { server, container: new Container(server, 'box'), stop, [Symbol.dispose]: () => void stop() };
}

/** What a name may hold: nothing or a content. Two while something is under way. */
type Expected = Map<string, readonly (string | undefined)[]>;

const contentOf = (salt: string, length: number) =>
  `${salt};`.repeat(Math.ceil(length / (salt.length + 1))).slice(0, length);
const lengths = [10, 3000, 9000, 70_000, 400_000];
const names = Array.from({ length: 10 }, (_, index) => `blob ${index}`);
const others = ['log', 'pages'];
const pageBytes = 128 * 1024;

class Writer {
  readonly expected: Expected = new Map([...names, ...others].map((name) => [name, [undefined]]));
  readonly #container: Container;
  readonly #random: () => number;
  #count = 0;

  constructor(container: Container, seed: number) {
    this.#container = container;
    this.#random = seededRandom(seed);
  }

  /** A few changes at once, each of another blob; copies come from one that nobody changes meanwhile. */
  async work(): Promise<void> {
    const first = Math.floor(this.#random() * 5);
    await Promise.all([0, 1, 2, 3].map((step) => this.#change(names[first + step] as string)));
    await Promise.all([this.#change(names[9] as string), this.#append(), this.#pages()]);
  }

  #content(): string {
    const length = lengths[Math.floor(this.#random() * lengths.length)] as number;
    return contentOf(String(++this.#count), length);
  }

  #change(name: string): Promise<void> {
    const blob = this.#container.blob(name);
    const content = this.#content();
    const dice = this.#random();
    if (dice < 0.4) return this.#tell(name, content, () => gives(blob.upload(content), 201));
    if (dice < 0.65) return this.#tell(name, content, () => commitBlocks(blob, content));
    if (dice < 0.8) return this.#tell(name, undefined, () => blob.delete());
    const [source] = this.expected.get(names[9] as string) ?? [];
    if (source === undefined || name === names[9]) return Promise.resolve();
    const copied = this.#container.blob(names[9] as string);
    return this.#tell(name, source, () => gives(blob.copyFrom(copied), 202));
  }

  async #append(): Promise<void> {
    const blob = this.#container.blob('log');
    const [before] = this.expected.get('log') ?? [];
    if (before === undefined || before.length > 1_000_000) {
      await this.#tell('log', undefined, () => blob.delete());
      await this.#tell('log', '', () => gives(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201));
    }
    const added = this.#content();
    const content = `${this.expected.get('log')?.[0] ?? ''}${added}`;
    await this.#tell('log', content, () => gives(blob.append(added), 201));
  }

  /** Two halves, of which one is written over, or a stretch across both. */
  async #pages(): Promise<void> {
    const blob = this.#container.blob('pages');
    const [before] = this.expected.get('pages') ?? [];
    if (before === undefined) {
      const headers = { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': String(2 * pageBytes) };
      await this.#tell('pages', '\0'.repeat(2 * pageBytes), () => gives(blob.put('', headers), 201));
    }
    const [old = ''] = this.expected.get('pages') ?? [];
    const start = ([0, pageBytes / 2, pageBytes] as const)[Math.floor(this.#random() * 3)] ?? 0;
    const written = contentOf(String(++this.#count), pageBytes);
    const content = old.slice(0, start) + written + old.slice(start + pageBytes);
    const headers = { 'x-ms-page-write': 'update', Range: `bytes=${start}-${start + pageBytes - 1}` };
    await this.#tell('pages', content, () => gives(blob.put('comp=page', headers, written), 201));
  }

  async #tell(name: string, content: string | undefined, work: () => Promise<WireAnswer>): Promise<void> {
    const [before] = this.expected.get(name) ?? [];
    this.expected.set(name, [before, content]);
    await work();
    this.expected.set(name, [content]);
  }
}

async function commitBlocks(blob: Blob, content: string): Promise<WireAnswer> {
  const half = Math.ceil(content.length / 2);
  await gives(blob.putBlock('a', content.slice(0, half)), 201);
  await gives(blob.putBlock('b', content.slice(half)), 201);
  return gives(blob.commit(['Latest a', 'Latest b']), 201);
}

function shown(content: string | undefined): string {
  return content === undefined ? 'nothing' : `${content.slice(0, 8)}... ${content.length} bytes`;
}

/** Each blob is as it may be, and all that is stored can be read. */
async function checkAll({ server, container }: Running, expected: Expected): Promise<void> {
  for (const [name, possible] of expected) {
    const read = await container.blob(name).get();
    assert.ok(read.status === 200 || read.status === 404, `${name}: ${read.status} ${read.text}`);
    const found = read.status === 404 ? undefined : read.text;
    assert.ok(
      possible.includes(found),
      `${name}: ${shown(found)}, and not ${possible.map(shown).join(' or ')}`,
    );
  }
  const report = await verifyContents(server.running.store, quiet);
  assert.deepEqual(report.damage, []);
}

/** Without the file that keeps room: it is large, and a start makes it. */
function copyLive(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter: (path) => !['reserve', 'admin.sock'].includes(basename(path)),
  });
}

interface Image {
  readonly disk: SimulatedDisk;
  readonly folder: string;
  readonly expected: Expected;
  /** How many backups were told to be taken. */
  readonly taken: number;
}

/** A power cut before every so many calls to the disk, each with another fate for what was not synced. */
class Cuts {
  readonly images: Image[] = [];
  readonly #folder: string;
  readonly #seed: number;
  calls = 0;
  count = 0;
  taken = 0;

  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#seed = seed;
  }

  begin(disk: SimulatedDisk, expected: Expected, every = cutEvery): void {
    disk.before = () => {
      if (this.calls++ % every !== 0) return;
      const folder = join(this.#folder, `image-${this.count}`);
      copyLive(join(this.#folder, 'live'), folder);
      const fate = this.count % 4 < 2 ? this.count % 2 : this.#seed * 1000 + this.count;
      this.images.push({ disk: disk.crash(fate), folder, expected: new Map(expected), taken: this.taken });
      this.count++;
    };
  }
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-store-cut-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

for (const seed of seeds) {
  test(
    `blobs survive a power cut at any call to the disk, and verify finds nothing (seed ${seed})`,
    limit,
    async (t) => {
      const folder = temporary(t);
      const disk = new SimulatedDisk();
      using live = await start(join(folder, 'live'), disk);
      await gives(live.container.create(), 201);
      const writer = new Writer(live.container, seed);
      const cuts = new Cuts(folder, seed);
      cuts.begin(disk, writer.expected);
      for (let round = 0; round < rounds; round++) {
        await writer.work();
        if (round % 2 === 1) await Promise.all([live.server.running.sweep(), writer.work()]);
        for (const image of cuts.images.splice(0)) await checkImage(image);
      }
      disk.before = undefined;
      t.diagnostic(`${cuts.calls} calls to the disk, ${cuts.count} power cuts`);
      assert.ok(cuts.count >= rounds, `the power was cut ${cuts.count} times`);
      await live.stop();
    },
  );
}

async function checkImage({ disk, folder, expected }: Image): Promise<void> {
  using after = await start(folder, disk);
  await checkAll(after, expected);
  await after.server.running.sweep(); // goes on where it was cut off
  await checkAll(after, expected);
  await gives(after.container.blob('later').upload(contentOf('later', 50_000)), 201);
  await after.stop();
  rmSync(folder, { recursive: true });
}

test(
  'a backup of the whole store is restored, wherever the power was cut while one was taken',
  limit,
  async (t) => {
    const folder = temporary(t);
    const disk = new SimulatedDisk();
    await makeFolders(disk, '/backups');
    await disk.syncFolder('/');
    using live = await start(join(folder, 'live'), disk);
    await gives(live.container.create(), 201);
    const writer = new Writer(live.container, 5);
    const cuts = new Cuts(folder, 5);
    /** What each backup holds. */
    const held: Expected[] = [];
    const kinds = full
      ? (['full', ...Array(5).fill('incremental')] as const)
      : (['full', 'incremental', 'incremental'] as const);
    for (const kind of kinds) {
      await writer.work();
      await writer.work();
      held.push(new Map(writer.expected));
      cuts.begin(disk, writer.expected, full ? 1 : 5);
      await takeBackup(live.server.running.store, `/backups/${held.length}`, kind, quiet);
      disk.before = undefined;
      cuts.taken++;
      if (kind === 'full') await live.server.running.sweep();
    }
    cuts.begin(disk, writer.expected, 1);
    disk.before?.({ name: 'sync', path: '' });
    disk.before = undefined;
    await live.stop();
    const restored = new Set<number>();
    for (const [index, image] of cuts.images.entries()) restored.add(await checkBackups(image, held, index));
    t.diagnostic(
      `${cuts.calls} calls to the disk, ${cuts.count} power cuts; restored: ${[...restored].sort()}`,
    );
    assert.deepEqual(
      [...restored].sort(),
      Array.from({ length: kinds.length + 1 }, (_, count) => count),
    );
  },
);

/** Restores what is there, then has the server that was cut off take its next backup, and restores that. */
async function checkBackups(
  { disk, folder, taken }: Image,
  held: readonly Expected[],
  index: number,
): Promise<number> {
  const count = await restoreAndCheck(disk, `${folder}-restored`, (count) => held[count - 1] as Expected);
  assert.ok(count >= taken, `of ${taken} backups that were taken ${count} are there`);
  if (taken > 0 && (full || index % 2 === 0)) {
    using after = await start(folder, disk);
    const content = contentOf('after the cut', 30_000);
    await gives(after.container.blob('later').upload(content), 201);
    await takeBackup(after.server.running.store, '/backups/next', 'incremental', quiet);
    const expected = await read(after, [...names, ...others, 'later']);
    assert.deepEqual(expected.get('later'), [content]);
    await after.stop();
    await restoreAndCheck(disk, `${folder}-next`, () => expected);
  }
  rmSync(folder, { recursive: true });
  return count;
}

/** How many backups stand on each other in what is there; what they hold together is whole. */
async function restoreAndCheck(
  disk: SimulatedDisk,
  target: string,
  expected: (count: number) => Expected,
): Promise<number> {
  const backups = `${target}-backups`;
  await copyOut(disk, '/backups', backups);
  try {
    const chain = await verifyChain(backups);
    await restoreBackup([backups], target, quiet);
    using restored = await start(target);
    await checkAll(restored, expected(chain.length));
    await restored.stop();
    return chain.length;
  } catch (error) {
    if (error instanceof MissingFullBackupError) return 0;
    throw error;
  } finally {
    for (const folder of [backups, target]) rmSync(folder, { recursive: true, force: true });
  }
}

async function read({ container }: Running, wanted: readonly string[]): Promise<Expected> {
  const found: Expected = new Map();
  for (const name of wanted) {
    const { status, text } = await container.blob(name).get();
    found.set(name, [status === 404 ? undefined : text]);
  }
  return found;
}
