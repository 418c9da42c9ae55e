// How fast are files over SMB, signed, beside Samba's own server on the same machine? smbclient puts and gets one large
// file, in transfers as large as the two agree on, and a folder of small ones; both servers in turns, the best of
// each; starting smbclient and logging on is part of the time.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { signSas } from '#src/http/auth/sign.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import type { Bench, Size } from './main.js';
import { type SmbTarget, smbd, startLazuli, startSmbd } from './targets.js';

const smbclient = '/usr/bin/smbclient';
const largeBytes: Record<Size, number> = { small: 1 << 20, full: 256 << 20 };
const smallFiles: Record<Size, number> = { small: 5, full: 300 };
const rounds: Record<Size, number> = { small: 1, full: 3 };

async function startOurs(): Promise<SmbTarget> {
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
    port: server.ports.smb,
    login: `${name}%${keys[0]}`,
    [Symbol.asyncDispose]: dispose,
  };
}

async function client({ port, login }: SmbTarget, cwd: string, commands: string): Promise<number> {
  const args = [
    '//127.0.0.1/bench',
    '-p',
    String(port),
    '-U',
    login,
    '--client-protection=sign',
    '-c',
    commands,
  ];
  const begun = performance.now();
  await promisify(execFile)(smbclient, args, { cwd, maxBuffer: 1 << 26 });
  return (performance.now() - begun) / 1000;
}

type Times = Record<'put' | 'get' | 'putSmall' | 'getSmall' | 'deleteSmall', number>;

async function measure(target: SmbTarget, cwd: string): Promise<Times> {
  const each = (commands: string) => client(target, cwd, commands);
  const times = {
    put: await each('put large copy'),
    get: await each('get copy back'),
    putSmall: await each('prompt; mput small*'),
    getSmall: await each('prompt; lcd got; mget small*'),
    deleteSmall: await each('del small*'),
  };
  await each('del copy');
  return times;
}

const least = (all: readonly Times[], name: keyof Times) => Math.min(...all.map((times) => times[name]));

export const smbBench: Bench = async (size, print) => {
  if (!existsSync(smbclient)) {
    print('smbclient is not installed: nothing is measured');
    return 'nothing';
  }
  const cwd = await mkdtemp(join(tmpdir(), 'lazuli-smb-bench-'));
  const compared = size === 'full' && existsSync(smbd) && process.getuid?.() === 0;
  await using ours = await startOurs();
  await using theirs = compared ? await startSmbd() : undefined;
  const targets = [ours, ...(theirs ? [theirs] : [])];
  const large = Buffer.alloc(largeBytes[size], 'lazuli over SMB ');
  await writeFile(join(cwd, 'large'), large);
  await mkdir(join(cwd, 'got'));
  for (let n = 0; n < smallFiles[size]; n++) await writeFile(join(cwd, `small${n}`), large.subarray(0, 4096));
  const times = targets.map((): Times[] => []);
  for (let round = 0; round < rounds[size]; round++) {
    for (const [index, target] of targets.entries()) times[index]?.push(await measure(target, cwd));
  }
  for (const line of told(targets, times, size)) print(line);
  if (!compared) print('smbd is compared with in the full size, where it is installed, by root');
  const sum = crc32(await readFile(join(cwd, 'back'))).toString(16);
  await rm(cwd, { recursive: true });
  return sum;
};

function told(targets: readonly SmbTarget[], times: readonly Times[][], size: Size): string[] {
  const rates = (what: keyof Times, work: number) => times.map((all) => work / least(all, what));
  const line = (name: string, unit: string, all: readonly number[]) => {
    const [ours = 0, theirs] = all;
    const shown = all.map((rate, index) => `${targets[index]?.name} ${Math.round(rate)} ${unit}`).join(', ');
    return `${name.padEnd(22)} ${shown}${theirs === undefined ? '' : `: ${(ours / theirs).toFixed(2)} x`}`;
  };
  const mib = largeBytes[size] / 2 ** 20;
  const count = smallFiles[size];
  return [
    line(`put ${mib} MiB`, 'MiB/s', rates('put', mib)),
    line(`get ${mib} MiB`, 'MiB/s', rates('get', mib)),
    line(`put ${count} of 4 KiB`, 'files/s', rates('putSmall', count)),
    line(`get ${count} of 4 KiB`, 'files/s', rates('getSmall', count)),
    line(`delete ${count}`, 'files/s', rates('deleteSmall', count)),
  ];
}
