// Snapshots, versions, soft delete and leases of one blob in every combination, against a small model: after each step
// all that should be there is there as it was, and nothing else. Block blobs, append blobs and page blobs; accounts
// that keep versions or not, and what was deleted or not.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type Blob, Container, header, leaseA } from '../support/given.js';
import { assertNothingLeft } from '../support/leftovers.js';
import { gives, startServer, type TestServer } from '../support/server.js';
import { assertUsageExact } from '../support/usage.js';
import type { WireAnswer } from '../support/wire.js';

const seed = 20_261_116;
const day = 24 * 3600;
const retentionDays = 7;
const size = 1024;

type Type = 'BlockBlob' | 'AppendBlob' | 'PageBlob';

interface State {
  readonly content: string;
  readonly metadata: string;
}

interface Kept extends State {
  readonly kind: 'snapshot' | 'version';
  /** How it is named in a request. */
  readonly id: string;
  deletedAt?: number;
}

/** What a name should have. What was the blob and is deleted softly has no id that a client was told. */
interface Model {
  current: (State & { readonly version: string | undefined }) | undefined;
  readonly kept: Kept[];
  readonly buried: (State & { readonly wasBase: boolean; readonly deletedAt: number })[];
  leased: boolean;
  now: number;
}

type Step =
  | { readonly kind: 'put' | 'change' | 'metadata'; readonly value: number }
  | { readonly kind: 'snapshot' | 'undelete' | 'acquire' | 'break' | 'sweep' }
  | { readonly kind: 'delete'; readonly snapshots: 'none' | 'include' | 'only' }
  | { readonly kind: 'delete kept'; readonly which: number }
  | { readonly kind: 'pass'; readonly days: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('put', 'change', 'metadata'), value: fc.nat(9) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('snapshot', 'undelete', 'acquire', 'break', 'sweep') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('delete'),
      snapshots: fc.constantFrom('none', 'include', 'only'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete kept'), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass'), days: fc.integer({ min: 1, max: 4 }) }) },
) as fc.Arbitrary<Step>;

class Run {
  readonly model: Model = { current: undefined, kept: [], buried: [], leased: false, now: 0 };
  readonly blob: Blob;
  readonly type: Type;
  readonly server: TestServer;
  readonly versioning: boolean;
  readonly retains: boolean;

  constructor(blob: Blob, type: Type, versioning: boolean, retains: boolean) {
    this.blob = blob;
    this.server = blob.server;
    this.type = type;
    this.versioning = versioning;
    this.retains = retains;
  }

  get #lease() {
    return this.model.leased ? { 'x-ms-lease-id': leaseA } : {};
  }

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'put':
        return this.#put(String(one.value));
      case 'change':
        return this.#change(String(one.value));
      case 'metadata':
        return this.#metadata(String(one.value));
      case 'snapshot':
        return this.#snapshot();
      case 'undelete':
        return this.#undelete();
      case 'acquire':
      case 'break':
        return this.#leaseIt(one.kind);
      case 'delete':
        return this.#delete(one.snapshots);
      case 'delete kept':
        return this.#deleteKept(one.which);
      case 'pass':
        this.server.pass(one.days * day);
        this.model.now += one.days;
        this.#forget();
        return;
      case 'sweep':
        return this.server.running.sweep();
    }
  }

  /** What the blob was becomes a version, is buried, or is gone. */
  #leave(wasBase: boolean): void {
    const { current } = this.model;
    if (current === undefined) return;
    if (current.version !== undefined) {
      this.model.kept.push({ ...current, kind: 'version', id: current.version });
    } else if (this.retains) {
      this.model.buried.push({ ...current, wasBase, deletedAt: this.model.now });
    }
  }

  #forget(): void {
    const { model } = this;
    const over = (at: number) => at + retentionDays <= model.now;
    model.kept.splice(
      0,
      model.kept.length,
      ...model.kept.filter(({ deletedAt }) => deletedAt === undefined || !over(deletedAt)),
    );
    model.buried.splice(0, model.buried.length, ...model.buried.filter(({ deletedAt }) => !over(deletedAt)));
  }

  #version(answer: WireAnswer): string | undefined {
    return this.versioning ? header(answer, 'x-ms-version-id') : undefined;
  }

  async #put(letter: string): Promise<void> {
    const page = this.type === 'PageBlob' ? { 'x-ms-blob-content-length': String(size) } : {};
    const headers = { 'x-ms-blob-type': this.type, ...page, 'x-ms-meta-m': `put${letter}`, ...this.#lease };
    const content = this.type === 'BlockBlob' ? letter.repeat(size) : '';
    const put = await gives(this.blob.put('', headers, content), 201);
    this.#leave(false);
    const written = this.type === 'PageBlob' ? '\0'.repeat(size) : content;
    this.model.current = { content: written, metadata: `put${letter}`, version: this.#version(put) };
  }

  /** A change of the content that makes no version: an append, a page. */
  async #change(letter: string): Promise<void> {
    const { current } = this.model;
    if (current === undefined || this.type === 'BlockBlob') return;
    const bytes = letter.repeat(512);
    if (this.type === 'AppendBlob') {
      await gives(this.blob.append(bytes, this.#lease), 201);
      this.model.current = { ...current, content: current.content + bytes };
      return;
    }
    const at = Number(letter) % 2 === 0 ? 0 : 512;
    const headers = { 'x-ms-page-write': 'update', Range: `bytes=${at}-${at + 511}`, ...this.#lease };
    await gives(this.blob.put('comp=page', headers, bytes), 201);
    const content = at === 0 ? bytes + current.content.slice(512) : current.content.slice(0, 512) + bytes;
    this.model.current = { ...current, content };
  }

  async #metadata(value: string): Promise<void> {
    const { current } = this.model;
    const answer = await this.blob.put('comp=metadata', { 'x-ms-meta-m': value, ...this.#lease });
    assert.equal(answer.status, current === undefined ? 404 : 200, answer.text);
    if (current === undefined) return;
    if (current.version !== undefined)
      this.model.kept.push({ ...current, kind: 'version', id: current.version });
    this.model.current = { ...current, metadata: value, version: this.#version(answer) };
  }

  async #snapshot(): Promise<void> {
    const { current } = this.model;
    const answer = await this.blob.put('comp=snapshot');
    assert.equal(answer.status, current === undefined ? 404 : 201, answer.text);
    if (current === undefined) return;
    this.model.kept.push({ ...current, kind: 'snapshot', id: header(answer, 'x-ms-snapshot') });
    if (current.version === undefined) return;
    this.model.kept.push({ ...current, kind: 'version', id: current.version });
    this.model.current = { ...current, version: this.#version(answer) };
  }

  #live(kind: 'snapshot' | 'version'): Kept[] {
    return this.model.kept.filter((kept) => kept.kind === kind && kept.deletedAt === undefined);
  }

  async #delete(snapshots: 'none' | 'include' | 'only'): Promise<void> {
    const { model } = this;
    const asked = snapshots === 'none' ? {} : { 'x-ms-delete-snapshots': snapshots };
    const answer = await this.blob.delete('', { ...asked, ...this.#lease });
    if (model.current === undefined) return assert.equal(answer.status, 404, answer.text);
    const live = this.#live('snapshot');
    if (snapshots === 'none' && live.length > 0) return assert.equal(answer.status, 409, answer.text);
    assert.equal(answer.status, 202, answer.text);
    if (snapshots !== 'none') for (const kept of live) this.#bury(kept);
    if (snapshots === 'only') return;
    this.#leave(true);
    model.current = undefined;
    model.leased = false;
  }

  #bury(kept: Kept): void {
    if (this.retains) kept.deletedAt = this.model.now;
    else this.model.kept.splice(this.model.kept.indexOf(kept), 1);
  }

  async #deleteKept(which: number): Promise<void> {
    const live = [...this.#live('snapshot'), ...this.#live('version')];
    const kept = live[which % Math.max(live.length, 1)];
    if (kept === undefined) return;
    await gives(this.blob.delete(queryOf(kept)), 202);
    this.#bury(kept);
  }

  async #undelete(): Promise<void> {
    const { model } = this;
    const answer = await this.blob.put('comp=undelete');
    const known = model.current !== undefined || model.kept.length > 0 || model.buried.length > 0;
    assert.equal(answer.status, known ? 200 : 404, answer.text);
    if (!known) return;
    for (const kept of model.kept) delete kept.deletedAt;
    const last = model.current === undefined ? model.buried.findLast(({ wasBase }) => wasBase) : undefined;
    if (last !== undefined) {
      model.current = { content: last.content, metadata: last.metadata, version: undefined };
    }
    const others = model.buried.filter((buried) => buried !== last);
    model.buried.length = 0;
    await this.#findIds(others);
  }

  /** What was buried is a snapshot now, by an id that only a listing tells. */
  async #findIds(states: readonly State[]): Promise<void> {
    const known = new Set(this.model.kept.map(({ id }) => id));
    const fresh = (await this.#listed('snapshots', 'Snapshot')).filter((id) => !known.has(id));
    assert.equal(fresh.length, states.length, 'each that was buried came back');
    for (const [index, { content, metadata }] of states.entries()) {
      this.model.kept.push({ content, metadata, kind: 'snapshot', id: fresh[index] ?? '' });
    }
  }

  async #listed(include: string, element: string): Promise<string[]> {
    const [, container = '', name = ''] = this.blob.path.split('/');
    const list = await gives(
      new Container(this.server, container).list(`include=${include}&prefix=${name}`),
      200,
    );
    return [...list.text.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'g'))].map(
      ([, id = '']) => id,
    );
  }

  async #leaseIt(action: 'acquire' | 'break'): Promise<void> {
    const { model } = this;
    if (model.current === undefined) return;
    if (action === 'acquire') {
      await gives(this.blob.acquire(-1), 201);
      model.leased = true;
    } else if (model.leased) {
      await gives(this.blob.lease('break', { 'x-ms-lease-break-period': '0' }), 202);
      model.leased = false;
    }
  }

  async check(): Promise<void> {
    const { current } = this.model;
    const got = await this.blob.get();
    assert.equal(got.status, current === undefined ? 404 : 200);
    if (current !== undefined) this.#same(got, current, 'the blob');
    for (const kept of this.model.kept) {
      const one = await this.blob.get(queryOf(kept));
      assert.equal(one.status, kept.deletedAt === undefined ? 200 : 404, `${kept.kind} ${kept.id}`);
      if (kept.deletedAt === undefined) this.#same(one, kept, `${kept.kind} ${kept.id}`);
    }
    const ids = (kind: 'snapshot' | 'version') =>
      this.#live(kind)
        .map(({ id }) => id)
        .sort();
    assert.deepEqual((await this.#listed('snapshots', 'Snapshot')).sort(), ids('snapshot'));
    const versions =
      current?.version === undefined ? ids('version') : [...ids('version'), current.version].sort();
    assert.deepEqual((await this.#listed('versions', 'VersionId')).sort(), versions);
    const deleted = (await this.#listed('deleted,snapshots,versions', 'Deleted')).length;
    const buried = this.model.kept.filter(({ deletedAt }) => deletedAt !== undefined).length;
    assert.equal(deleted, this.model.buried.length + buried, 'what is deleted softly');
  }

  #same(got: WireAnswer, { content, metadata }: State, what: string): void {
    assert.equal(got.headers.get('x-ms-meta-m'), metadata, what);
    assert.ok(got.text === content, `${what} has its content`);
  }
}

function queryOf({ kind, id }: Kept): string {
  return kind === 'snapshot' ? `snapshot=${id}` : `versionid=${id}`;
}

for (const versioning of [false, true]) {
  for (const retains of [false, true]) {
    describe(`versions ${versioning ? 'kept' : 'not kept'}, soft delete ${retains ? 'on' : 'off'}`, () => {
      const stops: (() => Promise<void>)[] = [];
      let container: Container;
      let made = 0;
      before(async () => {
        const server = await startServer({ after: (stop) => stops.push(stop as never) }, 'blob', {
          settings: { versioning },
        });
        container = new Container(server, 'photos');
        await gives(container.create(), 201);
        const body = `<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>${retentionDays}</Days></DeleteRetentionPolicy></StorageServiceProperties>`;
        if (retains)
          await gives(server.ask({ method: 'PUT', path: '/?restype=service&comp=properties', body }), 202);
      });
      after(async () => {
        await gives(container.delete(), 202);
        await assertNothingLeft(container.server);
        for (const stop of stops) await stop();
      });

      for (const type of ['BlockBlob', 'AppendBlob', 'PageBlob'] as const) {
        test(`${type}, seed ${seed}`, async () => {
          const property = fc.asyncProperty(
            fc.array(step, { minLength: 1, maxLength: 16 }),
            async (steps) => {
              const blob = container.blob(`blob${++made}x`);
              const run = new Run(blob, type, versioning, retains);
              for (const one of steps) {
                await run.take(one);
                await run.check();
              }
              await assertUsageExact(container.server);
            },
          );
          await fc.assert(property, { seed, numRuns: process.env['LAZULI_FULL'] === '1' ? 300 : 12 });
        });
      }
    });
  }
}
