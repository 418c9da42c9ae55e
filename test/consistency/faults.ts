// What goes wrong while clients work. Each fault ends by itself, and the server runs when it has.

import { appendFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { remote } from '#src/server/admin/client.js';
import { dataFolder } from '#src/server/data-folder.js';
import type { Program } from '../support/restartable.js';
import { nowMs, type Recorded } from './history.js';

export interface FaultContext {
  readonly program: Program;
  readonly random: () => number;
  /** A folder on the disk that the data is on, if that disk is small enough to be filled. */
  readonly smallDisk: string | undefined;
  /** By how much the server's clock was moved. */
  jumpedMs: number;
  /** By how much it fell back when the server was started again: what is hidden stays so for as much longer. */
  lostMs: number;
  /** Faults that could not be made, and why. */
  readonly skipped: Set<string>;
  /** What a fault does to objects is part of their history. */
  readonly history: (record: Recorded) => void;
}

export type Fault = (context: FaultContext) => Promise<void>;

const mebibyte = 1024 * 1024;
/** Leases that end do so after a minute. */
const leapMs = 70_000;

export const faults = {
  async kill(context) {
    const { program, random } = context;
    await program.kill();
    context.lostMs += program.shiftedMs;
    await delay(random() * 200);
    await program.start();
  },

  async pause({ program, random }) {
    await program.pause(100 + random() * 800);
  },

  /** Less free than new data needs. */
  async low(context) {
    await withBallast(context, (folder) => freeBytes(folder) - 100 * mebibyte);
  },

  /** Not a byte left. */
  async full(context) {
    await withBallast(context, () => Number.POSITIVE_INFINITY);
  },

  /** The clock of leases and visibility jumps ahead. */
  async jump(context) {
    const ms = 200 + Math.floor(context.random() * 1500);
    const why = await moveClock(context.program.location, ms);
    if (why === undefined) {
      context.jumpedMs += ms;
      context.program.shiftedMs += ms;
    } else context.skipped.add(`a clock that jumps: ${why}`);
  },

  /** It leaps, by more than the leases that have an end: none of them holds any more. */
  async leap(context) {
    const startMs = nowMs();
    const why = await moveClock(context.program.location, leapMs);
    if (why !== undefined) {
      context.skipped.add(`a clock that leaps: ${why}`);
      return;
    }
    context.jumpedMs += leapMs;
    context.program.shiftedMs += leapMs;
    const call = { client: 'clock.0', object: 'timed 0', call: { op: 'leap' }, result: { ok: true } };
    context.history({ ...call, startMs, endMs: nowMs(), wire: '' });
  },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/**
 * Those that can be made in one round: a start puts the clock back, so that leases which had ended would hold again.
 */
export function together(names: readonly FaultName[]): readonly FaultName[] {
  return names.includes('leap') ? names.filter((name) => name !== 'kill') : names;
}

async function withBallast(context: FaultContext, size: (folder: string) => number): Promise<void> {
  const { smallDisk, random, skipped } = context;
  if (smallDisk === undefined) {
    skipped.add(
      'a disk that fills: no small file system can be mounted here, that needs Linux and its root user',
    );
    return;
  }
  const ballast = join(smallDisk, 'ballast');
  fill(ballast, size(smallDisk));
  await delay(300 + random() * 700);
  rmSync(ballast);
  await delay(300); // the server looks for space now and then
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** As many bytes as asked for, or until not one more can be written. */
function fill(path: string, bytes: number): void {
  writeFileSync(path, '');
  let left = bytes;
  for (let piece = 8 * mebibyte; piece >= 1 && left > 0; ) {
    try {
      appendFileSync(path, Buffer.alloc(Math.min(piece, left)));
      left -= piece;
    } catch {
      piece = Math.floor(piece / 2);
    }
  }
}

/** Nothing if it was moved, else why not. */
async function moveClock(location: string, shiftMs: number): Promise<string | undefined> {
  const admin = await remote(dataFolder(location));
  if (admin === undefined) return 'the server has no admin socket';
  await admin.call('POST', '/api/clock', { shiftMs });
  return undefined;
}
