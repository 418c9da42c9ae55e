// SIGKILL at any time, for files: a range that was acknowledged is there and whole, a file that was being renamed has one
// name, and what the share is said to use is the sum of its files. Each writer has files of its own, so that what must be
// there is known; all of them share one directory and one counter.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { content, foreignServer, slow, until } from '../support/foreign.js';
import { run, startProgram, temporaryFolder } from '../support/program.js';
import { type RestOptions, rest } from '../support/rest.js';

const rounds = process.env['LAZULI_FULL'] === '1' ? 6 : 3;
const writers = 6;
const perRound = process.env['LAZULI_FULL'] === '1' ? 600 : 120;
const slots = 4;
/** Short ones lie in a row, long ones in an extent. */
const slotBytes = [100, 3000, 9000, 70_000] as const;
const offsets = slotBytes.map((_, at) => slotBytes.slice(0, at).reduce((sum, bytes) => sum + bytes, 0));
const length = slotBytes.reduce((sum, bytes) => sum + bytes, 0);

type Ask = (path: string, options?: RestOptions) => Promise<Response>;

/** What one writer knows: what was acknowledged, and what it was about to do. */
interface Writer {
  readonly name: string;
  count: number;
  acknowledged: number;
  /** By slot: the value that was acknowledged and the one that may be there. */
  readonly ranges: { done: number; tried: number }[];
  place: { done: 'here' | 'there'; tried: 'here' | 'there' };
  size: { done: number | undefined; tried: number | undefined };
}

const put = { method: 'PUT' } as const;
const moving = ({ name }: Writer, place: 'here' | 'there') => `/crash/${place}/${name}-moving`;

/** The bytes of a slot in its n-th version: each tells which it is. */
function bytesOf(slot: number, version: number): Buffer {
  return Buffer.alloc(slotBytes[slot] ?? 0, `${slot}:${version};`);
}

async function prepare(ask: Ask, writer: Writer): Promise<void> {
  for (const path of [`/crash/${writer.name}`, moving(writer, 'here')]) {
    const headers = { 'x-ms-type': 'file', 'x-ms-content-length': String(length) };
    assert.equal((await ask(path, { ...put, headers })).status, 201);
  }
  for (let slot = 0; slot < slots; slot++) await putRange(ask, writer, slot);
}

async function putRange(ask: Ask, writer: Writer, slot: number): Promise<void> {
  const at = writer.ranges[slot];
  const start = offsets[slot] ?? 0;
  assert.ok(at);
  at.tried = ++writer.count;
  const body = bytesOf(slot, at.tried);
  const headers = { 'x-ms-write': 'update', 'x-ms-range': `bytes=${start}-${start + body.length - 1}` };
  const answer = await ask(`/crash/${writer.name}?comp=range`, { ...put, headers, body });
  assert.equal(answer.status, 201);
  at.done = at.tried;
}

async function move(ask: Ask, url: string, writer: Writer): Promise<void> {
  const { done } = writer.place;
  const tried = done === 'here' ? 'there' : 'here';
  writer.place = { done, tried };
  const headers = { 'x-ms-file-rename-source': `${url}/devstoreaccount1${moving(writer, done)}` };
  assert.equal((await ask(`${moving(writer, tried)}?comp=rename`, { ...put, headers })).status, 200);
  writer.place = { done: tried, tried };
}

/** Made, made longer, made shorter, deleted: the usage of the share follows. */
async function resize(ask: Ask, writer: Writer): Promise<void> {
  const path = `/crash/${writer.name}-size`;
  const { done } = writer.size;
  const tried = done === undefined ? 1000 : done > 100_000 ? undefined : done * 7;
  writer.size = { done, tried };
  const headers = { 'x-ms-content-length': String(tried) };
  const answer =
    tried === undefined
      ? await ask(path, { method: 'DELETE' })
      : done === undefined
        ? await ask(path, { ...put, headers: { 'x-ms-type': 'file', ...headers } })
        : await ask(`${path}?comp=properties`, { ...put, headers });
  assert.ok(answer.ok, `${answer.status}`);
  writer.size = { done: tried, tried };
}

async function writeUntilGone(ask: Ask, url: string, writer: Writer): Promise<void> {
  for (;;) {
    try {
      for (let slot = 0; slot < slots; slot++) await putRange(ask, writer, slot);
      await move(ask, url, writer);
      await resize(ask, writer);
      writer.acknowledged += slots + 2;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return; // it is gone
    }
  }
}

async function check(ask: Ask, writer: Writer): Promise<void> {
  const bytes = Buffer.from(await (await ask(`/crash/${writer.name}`)).arrayBuffer());
  assert.equal(bytes.length, length);
  writer.ranges.forEach((range, slot) => {
    const start = offsets[slot] ?? 0;
    const there = bytes.subarray(start, start + (slotBytes[slot] ?? 0));
    const found = [range.done, range.tried].find((version) => bytesOf(slot, version).equals(there));
    assert.ok(found !== undefined, `${writer.name}, slot ${slot}: ${there.toString('latin1', 0, 40)}`);
    range.done = found;
  });
  const places = (['here', 'there'] as const).map(async (place) =>
    (await ask(moving(writer, place), { method: 'HEAD' })).status === 200 ? [place] : [],
  );
  const [place, other] = (await Promise.all(places)).flat();
  assert.ok(place !== undefined && other === undefined, `${writer.name} has one name: ${place}, ${other}`);
  assert.ok(place === writer.place.done || place === writer.place.tried, `${writer.name} is ${place}`);
  writer.place = { done: place, tried: place };
  const head = await ask(`/crash/${writer.name}-size`, { method: 'HEAD' });
  const size = head.status === 200 ? Number(head.headers.get('content-length')) : undefined;
  assert.ok(size === writer.size.done || size === writer.size.tried, `${writer.name} has ${size} bytes`);
  writer.size = { done: size, tried: size };
}

function newWriter(name: string): Writer {
  return {
    ...{ name, count: 0, acknowledged: 0 },
    ranges: Array.from({ length: slots }, () => ({ done: 0, tried: 0 })),
    place: { done: 'here', tried: 'here' },
    size: { done: undefined, tried: undefined },
  };
}

test('killed in the middle: ranges, names and sizes of files are as they were acknowledged', async (t) => {
  const location = temporaryFolder(t);
  const all = Array.from({ length: writers }, (_, at) => newWriter(`w${at}`));
  const acknowledged = () => all.reduce((sum, writer) => sum + writer.acknowledged, 0);
  for (let round = 0; round <= rounds; round++) {
    const program = await startProgram(t, ['-s', '-l', location]);
    const url = program.urls['file'] ?? '';
    const ask: Ask = (path, options) => rest('file', url, path, options);
    if (round === 0) {
      assert.equal((await ask('/crash?restype=share', put)).status, 201);
      for (const place of ['here', 'there']) await ask(`/crash/${place}?restype=directory`, put);
      for (const writer of all) await prepare(ask, writer);
    } else {
      for (const writer of all) await check(ask, writer);
      const sizes = all.reduce((sum, { size }) => sum + (size.done ?? 0), 0);
      const stats = await (await ask('/crash?restype=share&comp=stats')).text();
      const used = Number(/<ShareUsageBytes>(\d+)</.exec(stats)?.[1]);
      assert.equal(used, writers * 2 * length + sizes, 'the usage is the sum of the files');
      const snapshot = await ask('/crash?restype=share&comp=snapshot', put);
      assert.equal(snapshot.status, 201);
    }
    if (round === rounds) {
      await program.stop('SIGKILL');
      break;
    }
    const before = acknowledged();
    const writing = all.map((writer) => writeUntilGone(ask, url, writer));
    while (acknowledged() < before + perRound) await new Promise((turn) => setImmediate(turn));
    await program.stop('SIGKILL');
    await Promise.all(writing);
  }
  const verified = await run(['verify', '--location', location]);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  t.diagnostic(`acknowledged: ${acknowledged()} writes in ${rounds} rounds`);
});

test('killed while a copy is pending: it goes on, and ends as if nothing had been', async (t) => {
  const location = temporaryFolder(t);
  const source = slow();
  const foreign = await foreignServer(t, source.answer);
  const args = ['-s', '-l', location, '--copySources', 'any'];
  const first = await startProgram(t, args);
  const ask = (program: typeof first, path: string, options?: RestOptions) =>
    rest('file', program.urls['file'] ?? '', path, options);
  assert.equal((await ask(first, '/crash?restype=share', put)).status, 201);
  const headers = { 'x-ms-copy-source': foreign.url };
  assert.equal((await ask(first, '/crash/copy', { ...put, headers })).status, 202);
  await until(() => foreign.requests.length === 2);
  await first.stop('SIGKILL');

  const second = await startProgram(t, args);
  const state = async () =>
    (await ask(second, '/crash/copy', { method: 'HEAD' })).headers.get('x-ms-copy-status');
  assert.equal(await state(), 'pending');
  assert.equal((await ask(second, '/crash/copy', { method: 'DELETE' })).status, 409);
  await until(() => foreign.requests.length === 3);
  source.letGo();
  await until(async () => (await state()) !== 'pending');
  assert.equal(await state(), 'success');
  const copied = Buffer.from(await (await ask(second, '/crash/copy')).arrayBuffer());
  assert.ok(copied.equals(content));
  await second.stop('SIGKILL');
  const verified = await run(['verify', '--location', location]);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
});
