// A disk that is really full: a small file system in memory, where one can be mounted.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderDisk } from '#src/engine/disk.js';
import type { Engine } from '#src/engine/engine.js';
import { ReadOnlyError } from '#src/engine/errors.js';
import { openEngineOn } from '#src/engine/level.js';

const mebibyte = 1024 * 1024;
const limit = { timeout: 60_000 };

/** A file system of that size; nothing where this user may not mount one. */
function smallDisk(t: TestContext, sizeBytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'lazuli', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    t.skip('no small file system can be mounted here: that needs Linux and its root user');
    return undefined;
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** Until not a byte more can be written. */
function fillUp(path: string): void {
  writeFileSync(path, '');
  for (let piece = mebibyte; piece >= 1; ) {
    try {
      appendFileSync(path, Buffer.alloc(piece));
    } catch {
      piece = Math.floor(piece / 2);
    }
  }
}

async function read(engine: Engine, key: string): Promise<string | undefined> {
  const { value } = await engine.get(Buffer.from(key));
  return value && Buffer.from(value).toString();
}

test(
  'a write fails, space returns, 50 writes are told of, the process is killed: all 50 are there',
  limit,
  async (t) => {
    const folder = smallDisk(t, 64 * mebibyte);
    if (folder === undefined) return;
    const ballast = join(folder, 'ballast');
    const data = join(folder, 'data');
    writeFileSync(ballast, Buffer.alloc(32 * mebibyte));

    const child = spawn(process.execPath, [join(import.meta.dirname, 'filler.js'), data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    const signal = await new Promise((resolve) => {
      child.on('close', (code, signal) => resolve(signal ?? code));
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (text.includes('full\n')) rmSync(ballast);
        if (text.includes('done\n')) child.kill('SIGKILL');
      });
    });
    assert.equal(signal, 'SIGKILL');
    const numbers = Array.from({ length: 50 }, (_, number) => `${number}`);
    assert.deepEqual(output.trimEnd().split('\n'), ['full', 'again', ...numbers, 'done']);

    const engine = await openEngineOn(await folderDisk(data, { reserveBytes: 0, probeBytes: mebibyte }), {
      floorBytes: 0,
    });
    t.after(() => engine.close());
    for (const number of numbers) {
      const value = await read(engine, `told-${number}`);
      assert.equal(value, Buffer.alloc(1000, `told-${number}`).toString(), `write ${number} is gone`);
    }
  },
);

test('a start on a full disk comes up, can read and delete', limit, async (t) => {
  const folder = smallDisk(t, 64 * mebibyte);
  if (folder === undefined) return;
  const data = join(folder, 'data');
  const open = async (): Promise<Engine> => {
    const disk = await folderDisk(data, { reserveBytes: 8 * mebibyte, probeBytes: 2 * mebibyte });
    return openEngineOn(disk, { floorBytes: 16 * mebibyte, retryMs: 10 });
  };
  const put = (key: string) => ({ key: Buffer.from(key), value: Buffer.from(key) });

  const first = await open();
  await (await first.commit({ writes: [put('a'), put('b')] })).durable;
  while (!reserved(data, 8 * mebibyte)) await new Promise((resolve) => setTimeout(resolve, 50));
  await first.close();
  fillUp(join(folder, 'ballast'));

  const second = await open();
  assert.equal(await read(second, 'a'), 'a');
  while (second.health().state === 'failed') await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(second.health().state, 'full');
  await assert.rejects(async () => second.commit({ writes: [put('c')] }), ReadOnlyError);
  await (await second.commit({ writes: [{ key: Buffer.from('a'), value: undefined }] })).durable;
  await second.close();

  rmSync(join(folder, 'ballast'));
  const third = await open();
  assert.equal(third.health().state, 'open');
  assert.equal(await read(third, 'a'), undefined);
  assert.equal(await read(third, 'b'), 'b');
  await (await third.commit({ writes: [put('c')] })).durable;
  await third.close();
});

function reserved(data: string, sizeBytes: number): boolean {
  return statSync(join(data, 'reserve'), { throwIfNoEntry: false })?.size === sizeBytes;
}
