// One blob and all that is kept of it, beside a small model: what each step does to both, and that afterwards all that
// should be there is there as it was, and nothing else.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Blob, Container, header, leaseA } from '../support/given.js';
import { gives, type TestServer } from '../support/server.js';
import type { WireAnswer } from '../support/wire.js';

const day = 24 * 3600;
export const retentionDays = 7;
const size = 1024;

export type Type = 'BlockBlob' | 'AppendBlob' | 'PageBlob';

interface State {
  readonly content: string;
  readonly metadata: string;
  /** Until which day a policy keeps it as it is, and whether that can only be extended. */
  policy?: { readonly until: number; readonly locked: boolean };
  hold?: boolean;
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

export type Step =
  | { readonly kind: 'put' | 'change' | 'metadata'; readonly value: number }
  | { readonly kind: 'snapshot' | 'undelete' | 'acquire' | 'break' | 'sweep' | 'intrude' }
  | { readonly kind: 'delete'; readonly snapshots: 'none' | 'include' | 'only' }
  | { readonly kind: 'delete kept' | 'purge' | 'remove policy'; readonly which: number }
  | { readonly kind: 'hold'; readonly which: number; readonly on: boolean }
  | { readonly kind: 'policy'; readonly which: number; readonly days: number; readonly locked: boolean }
  | { readonly kind: 'pass'; readonly days: number };

const which = fc.nat(9);
const days = fc.integer({ min: 1, max: 4 });

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('put', 'change', 'metadata'), value: fc.nat(9) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('snapshot', 'undelete', 'acquire', 'break', 'sweep', 'intrude'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('delete'),
      snapshots: fc.constantFrom('none', 'include', 'only'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('delete kept', 'purge', 'remove policy'), which }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold'), which, on: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('policy'), which, days, locked: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass'), days }) },
) as fc.Arbitrary<Step>;

export interface RunOptions {
  readonly type: Type;
  readonly versioning: boolean;
  readonly retains: boolean;
  /** Policies and legal holds can be set. */
  readonly immutable: boolean;
}

export class Run {
  readonly model: Model = { current: undefined, kept: [], buried: [], leased: false, now: 0 };
  readonly blob: Blob;
  readonly type: Type;
  readonly server: TestServer;
  readonly versioning: boolean;
  readonly retains: boolean;
  readonly immutable: boolean;

  constructor(blob: Blob, { type, versioning, retains, immutable }: RunOptions) {
    this.blob = blob;
    this.server = blob.server;
    this.type = type;
    this.versioning = versioning;
    this.retains = retains;
    this.immutable = immutable;
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
      case 'purge':
        return this.#purge(one.which);
      case 'hold':
        return this.#hold(one.which, one.on);
      case 'policy':
        return this.#setPolicy(one.which, one.days, one.locked);
      case 'remove policy':
        return this.#removePolicy(one.which);
      case 'intrude':
        return this.#intrude();
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
    const status = this.#isBound(current) ? 409 : 201;
    if (this.type === 'AppendBlob') {
      await gives(this.blob.append(bytes, this.#lease), status);
      if (status === 409) return;
      this.model.current = { ...current, content: current.content + bytes };
      return;
    }
    const at = Number(letter) % 2 === 0 ? 0 : 512;
    const headers = { 'x-ms-page-write': 'update', Range: `bytes=${at}-${at + 511}`, ...this.#lease };
    await gives(this.blob.put('comp=page', headers, bytes), status);
    if (status === 409) return;
    const content = at === 0 ? bytes + current.content.slice(512) : current.content.slice(0, 512) + bytes;
    this.model.current = { ...current, content };
  }

  async #metadata(value: string): Promise<void> {
    const { current } = this.model;
    const answer = await this.blob.put('comp=metadata', { 'x-ms-meta-m': value, ...this.#lease });
    assert.equal(answer.status, this.#statusOf(current, 200), answer.text);
    if (answer.status !== 200 || current === undefined) return;
    if (current.version !== undefined)
      this.model.kept.push({ ...current, kind: 'version', id: current.version });
    this.model.current = { ...current, metadata: value, version: this.#version(answer) };
  }

  async #snapshot(): Promise<void> {
    const { current } = this.model;
    const answer = await this.blob.put('comp=snapshot');
    assert.equal(answer.status, this.#statusOf(current, 201), answer.text);
    if (answer.status !== 201 || current === undefined) return;
    this.model.kept.push({ ...current, kind: 'snapshot', id: header(answer, 'x-ms-snapshot') });
    if (current.version === undefined) return;
    this.model.kept.push({ ...current, kind: 'version', id: current.version });
    this.model.current = { ...current, version: this.#version(answer) };
  }

  /** Whether a policy or a hold keeps it as it is. */
  #isBound({ policy, hold }: State): boolean {
    return hold === true || (policy !== undefined && policy.until > this.model.now);
  }

  #statusOf(current: State | undefined, status: number): number {
    if (current === undefined) return 404;
    return this.#isBound(current) ? 409 : status;
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
    const isRefused = snapshots === 'none' ? live.length > 0 : live.some((kept) => this.#isBound(kept));
    if (isRefused || this.#isBound(model.current)) return assert.equal(answer.status, 409, answer.text);
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
    if (this.#isBound(kept)) return void (await gives(this.blob.delete(queryOf(kept)), 409));
    await gives(this.blob.delete(queryOf(kept)), 202);
    this.#bury(kept);
  }

  /** For good: only what soft delete keeps. */
  async #purge(which: number): Promise<void> {
    const { kept: all } = this.model;
    const kept = all[which % Math.max(all.length, 1)];
    if (kept === undefined) return;
    const isDeleted = kept.deletedAt !== undefined;
    await gives(this.blob.delete(`${queryOf(kept)}&deletetype=permanent`), isDeleted ? 202 : 409);
    if (isDeleted) all.splice(all.indexOf(kept), 1);
  }

  /** The blob as it is now, or one of those that are kept; how a request names it. */
  #target(which: number): { readonly state: State; readonly query: string } | undefined {
    const live = [...this.#live('snapshot'), ...this.#live('version')];
    const { current } = this.model;
    const all = current === undefined ? live : [current, ...live];
    const state = all[which % Math.max(all.length, 1)];
    if (!this.immutable || state === undefined) return undefined;
    return { state, query: 'kind' in state ? `&${queryOf(state as Kept)}` : '' };
  }

  async #hold(which: number, on: boolean): Promise<void> {
    const target = this.#target(which);
    if (target === undefined) return;
    await gives(this.blob.put(`comp=legalhold${target.query}`, { 'x-ms-legal-hold': String(on) }), 200);
    target.state.hold = on;
  }

  async #setPolicy(which: number, days: number, locked: boolean): Promise<void> {
    const target = this.#target(which);
    if (target === undefined) return;
    const { policy: old } = target.state;
    const { now } = this.model;
    const policy = { until: now + days, locked };
    const isRefused = old?.locked === true && old.until > now && (!locked || policy.until < old.until);
    const headers = {
      'x-ms-immutability-policy-until-date': new Date(
        this.server.clock.now() + days * day * 1000,
      ).toUTCString(),
      'x-ms-immutability-policy-mode': locked ? 'Locked' : 'Unlocked',
    };
    await gives(this.blob.put(`comp=immutabilityPolicies${target.query}`, headers), isRefused ? 409 : 200);
    if (!isRefused) target.state.policy = policy;
  }

  async #removePolicy(which: number): Promise<void> {
    const target = this.#target(which);
    if (target === undefined) return;
    const { policy } = target.state;
    const isRefused = policy?.locked === true && policy.until > this.model.now;
    await gives(this.blob.delete(`comp=immutabilityPolicies${target.query}`), isRefused ? 409 : 200);
    if (!isRefused) delete target.state.policy;
  }

  /** Without the lease, or with one that is not there, nothing is written. */
  async #intrude(): Promise<void> {
    const { current, leased } = this.model;
    if (current === undefined) return;
    const headers = leased ? {} : { 'x-ms-lease-id': leaseA };
    const status = this.#isBound(current) ? 409 : 412;
    await gives(this.blob.put('comp=metadata', { 'x-ms-meta-m': 'intruder', ...headers }), status);
    await gives(this.blob.delete('', { 'x-ms-delete-snapshots': 'include', ...headers }), status);
    const type = { 'x-ms-blob-type': 'BlockBlob' };
    await gives(this.blob.put('', { ...type, ...headers }, 'intruder'), 412);
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
