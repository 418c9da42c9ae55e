// How fast are files over SMB, signed, beside Samba's own server on the same machine?
//
//   blocks    reads and writes of 4 KiB, 64 KiB and 1 MiB within one file, in order and anywhere, 8 under way; the writes of a run
//             are flushed at its end, and that is part of its time
//   files     small ones: created, written and closed; opened, read and closed; deleted; by one client and by 8 at a time
//   smbclient puts and gets one large file; starting it and logging on is part of the time
//
// Both servers in turns, the best of each: how much in a second, and, as a busy machine spoils that, how much processor
// time the server took for one of them. Samba's answers a CLOSE before anything is on disk; ours when it is. So small
// files are also measured with Samba told to sync each write (`sync always`), which promises no more than ours.

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import type { Bench, Size } from './main.js';
import { LoadClient } from './smb-client.js';
import { type SmbTarget, smbd, startLazuli, startSmbd } from './targets.js';

const smbclient = '/usr/bin/smbclient';
const mib = 2 ** 20;
const largeBytes: Record<Size, number> = { small: mib, full: 64 * mib };
const fileBytes: Record<Size, number> = { small: mib, full: 64 * mib };
const smallFiles: Record<Size, number> = { small: 5, full: 300 };
const rounds: Record<Size, number> = { small: 1, full: 3 };
const blockSizes = [4096, 65_536, mib];
const mostBlocks = 2048;
const underWay = 8;

/** What was done how often in a second, bytes counted in MiB, and how many milliseconds of the processor one took. */
type Rates = Map<string, { readonly perSecond: number; readonly cpuMs: number }>;

/** Ourselves, with a share `bench`. */
export async function startOurs(): Promise<SmbTarget> {
  const server = await startLazuli();
  const { name, keys } = developmentAccount;
  const fields = { sv: '2021-12-02', ss: 'f', srt: 'sco', sp: 'rwdlc', se: '2099-01-01T00:00:00Z' };
  const sas = signSas({ service: 'file', account: name }, fields, Buffer.from(keys[0], 'base64'));
  const url = `http://127.0.0.1:${server.ports.file}/${name}/bench?restype=share&${sas}`;
  const made = await fetch(url, { method: 'PUT' });
  if (made.status !== 201) throw new Error(`the share was not made: ${await made.text()}`);
  const dispose = () => server[Symbol.asyncDispose]();
  return {
    name: 'Lazuli',
    pid: server.pid,
    port: server.ports.smb,
    login: `${name}%${keys[0]}`,
    [Symbol.asyncDispose]: dispose,
  };
}

interface Work {
  readonly name: string;
  /** Operations, and in what the rate is counted. */
  readonly count: number;
  readonly amount: number;
}

async function measure(
  target: SmbTarget,
  rates: Rates,
  work: Work,
  run: () => Promise<unknown>,
): Promise<void> {
  const [begun, used] = [performance.now(), cpuMs(target.pid)];
  await run();
  const perSecond = work.amount / ((performance.now() - begun) / 1000);
  rates.set(work.name, { perSecond, cpuMs: (cpuMs(target.pid) - used) / work.count });
}

const msPerTick = 10;

/** What a server has used so far, and its children: Samba's has one for each connection. Linux alone tells. */
function cpuMs(pid: number): number {
  if (!existsSync('/proc/self/stat')) return Number.NaN;
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parent = 0, ...rest] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = rest.slice(9);
      if (Number(name) === pid) ticks += user + system + endedUser + endedSystem;
      else if (parent === pid) ticks += user + system;
    } catch {} // It has ended meanwhile.
  }
  return ticks * msPerTick;
}

/** So many at a time, until all are done. */
async function each(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function measureBlocks(target: SmbTarget, size: Size, rates: Rates): Promise<number> {
  await using client = await LoadClient.open(target);
  const total = fileBytes[size];
  const file = await client.create('blocks', 'overwriteIf');
  const bytes = Buffer.alloc(mib, 'lazuli over SMB ');
  await each(total / mib, 1, (index) => client.write(file, index * mib, bytes));
  let sum = 0;
  for (const block of blockSizes) {
    const count = Math.min(total / block, mostBlocks);
    const data = bytes.subarray(0, block);
    // A step that has no divisor in common with the number of blocks reaches all of them, in no order.
    const places = {
      sequential: (index: number) => index,
      random: (index: number) => (index * 7919) % count,
    };
    for (const [order, place] of Object.entries(places)) {
      const at = (index: number) => place(index) * block;
      const work = (what: string) => {
        const name = `${what} ${sizeName(block)} ${order}`;
        return { name, count, amount: (count * block) / mib };
      };
      const write = () => each(count, underWay, (index) => client.write(file, at(index), data));
      await measure(target, rates, work('write'), () => write().then(() => client.flush(file)));
      const read = async (index: number) => {
        const found = await client.read(file, at(index), block);
        if (found.length !== block) throw new Error(`read ${found.length} of ${block} bytes`);
        sum = (sum + (found[0] ?? 0)) % 65_521;
      };
      await measure(target, rates, work('read'), () => each(count, underWay, read));
    }
  }
  await client.close(file);
  return sum;
}

const sizeName = (bytes: number) => (bytes < mib ? `${bytes / 1024} KiB` : `${bytes / mib} MiB`);

async function measureFiles(target: SmbTarget, size: Size, clients: number, rates: Rates): Promise<void> {
  const opened = await Promise.all(Array.from({ length: clients }, () => LoadClient.open(target)));
  const data = Buffer.alloc(4096, 'lazuli over SMB ');
  const count = smallFiles[size];
  const all = async (what: string, work: (client: LoadClient, name: string) => Promise<void>) => {
    const run = ([number, client]: [number, LoadClient]) =>
      each(count, 1, (index) => work(client, `small${number}-${index}`));
    const name = `${what}, ${clients} at a time`;
    const done = { name, count: count * clients, amount: count * clients };
    await measure(target, rates, done, () => Promise.all([...opened.entries()].map(run)));
  };
  await all('put files', async (client, name) => {
    const file = await client.create(name, 'overwriteIf');
    await client.write(file, 0, data);
    await client.close(file);
  });
  await all('get files', async (client, name) => {
    const file = await client.create(name, 'open');
    await client.read(file, 0, data.length);
    await client.close(file);
  });
  await all('delete files', async (client, name) => client.close(await client.create(name, 'open', true)));
  for (const client of opened) await client[Symbol.asyncDispose]();
}

async function measureSmbclient(target: SmbTarget, cwd: string, size: Size, rates: Rates): Promise<void> {
  const { port, login } = target;
  const run = (commands: string) => {
    const options = ['-p', String(port), '-U', login, '--client-protection=sign', '-c', commands];
    return promisify(execFile)(smbclient, ['//127.0.0.1/bench', ...options], { cwd, maxBuffer: 1 << 26 });
  };
  const amount = largeBytes[size] / mib;
  const work = (what: string) => ({ name: `smbclient ${what}`, count: amount, amount });
  await measure(target, rates, work('put'), () => run('put large copy'));
  await measure(target, rates, work('get'), () => run('get copy back'));
  await run('del copy');
}

export const smbBench: Bench = async (size, print) => {
  const cwd = await mkdtemp(join(tmpdir(), 'lazuli-smb-bench-'));
  const compared = size === 'full' && existsSync(smbd) && process.getuid?.() === 0;
  await using ours = await startOurs();
  await using theirs = compared ? await startSmbd() : undefined;
  await using synced = compared ? await startSmbd(['strict sync = yes', 'sync always = yes']) : undefined;
  await writeFile(join(cwd, 'large'), Buffer.alloc(largeBytes[size], 'lazuli over SMB '));
  const best = new Map<SmbTarget, Rates>();
  let sum = 0;
  for (let round = 0; round < rounds[size]; round++) {
    for (const target of [ours, theirs, synced]) {
      if (!target) continue;
      const rates: Rates = new Map();
      if (target !== synced) sum = await measureBlocks(target, size, rates);
      for (const clients of [1, 8]) await measureFiles(target, size, clients, rates);
      if (target !== synced && existsSync(smbclient)) await measureSmbclient(target, cwd, size, rates);
      best.set(target, better(best.get(target), rates));
    }
  }
  for (const line of told(best, ours, theirs, synced)) print(line);
  if (!compared) print('smbd is compared with in the full size, where it is installed, by root');
  if (existsSync(join(cwd, 'back'))) sum += crc32(await readFile(join(cwd, 'back')));
  await rm(cwd, { recursive: true });
  return sum.toString(16);
};

function better(before: Rates | undefined, now: Rates): Rates {
  const best = ([name, { perSecond, cpuMs }]: [string, { perSecond: number; cpuMs: number }]) => {
    const known = before?.get(name);
    const rate = {
      perSecond: Math.max(perSecond, known?.perSecond ?? 0),
      cpuMs: Math.min(cpuMs, known?.cpuMs ?? Number.POSITIVE_INFINITY),
    };
    return [name, rate] as const;
  };
  return new Map([...now].map(best));
}

function told(
  best: ReadonlyMap<SmbTarget, Rates>,
  ours: SmbTarget,
  theirs: SmbTarget | undefined,
  synced: SmbTarget | undefined,
): string[] {
  return [...(best.get(ours) ?? [])].map(([name, { perSecond, cpuMs }]) => {
    const unit = name.includes('files') ? 'files/s' : 'MiB/s';
    const beside = (target: SmbTarget | undefined, label: string) => {
      const other = target && best.get(target)?.get(name);
      if (other === undefined) return '';
      const ratio = (perSecond / other.perSecond).toFixed(2);
      return `, ${label} ${show(other.perSecond)} (${other.cpuMs.toFixed(2)} ms): ${ratio} x`;
    };
    const others = beside(theirs, 'smbd') + beside(synced, 'smbd that syncs');
    return `${name.padEnd(28)} Lazuli ${show(perSecond)} ${unit} (${cpuMs.toFixed(2)} ms)${others}`;
  });
}

const show = (rate: number) => (rate < 100 ? rate.toFixed(1) : String(Math.round(rate)));
