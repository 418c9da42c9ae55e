// The server service: lists the shares of the account and says what server this is.

import { NdrReader, NdrWriter } from './ndr.js';
import type { PipeOwner } from './pipe.js';

interface ShareRow {
  readonly name: string;
  readonly type: number;
  readonly comment: string;
}

const diskShare = 0;
const pipeShare = 0x80000003;
const notSupportedLevel = 124;
const noSuchShare = 2310;

type Operation = (owner: PipeOwner, input: NdrReader) => Promise<Buffer>;

// biome-ignore format: a table
const operations: Readonly<Record<number, Operation>> = {
  15: shareEnum,
  16: shareGetInfo,
  21: serverGetInfo,
  36: shareEnum,
};

/** The result of a call, or nothing for an operation that is not known or an input that cannot be read. */
export async function callServerService(
  owner: PipeOwner,
  operation: number,
  input: Buffer,
): Promise<Buffer | undefined> {
  const run = operations[operation];
  if (!run) return undefined;
  try {
    return await run(owner, new NdrReader(input));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

async function sharesOf({ server, account }: PipeOwner): Promise<ShareRow[]> {
  const shares = await server.volumes.list(account);
  return [
    ...shares.map(({ name, comment }) => ({ name, type: diskShare, comment })),
    { name: 'IPC$', type: pipeShare, comment: 'Remote IPC' },
  ];
}

/** What a level shows of a share: its numbers and texts in order. Texts follow all rows. */
// biome-ignore format: a table
const levels: Readonly<Record<number, (share: ShareRow) => readonly (number | string | null)[]>> = {
  0:    ({ name }) => [name],
  1:    ({ name, type, comment }) => [name, type, comment],
  2:    ({ name, type, comment }) => [name, type, comment, 0, 0xffffffff, 0, '', null],
  502:  ({ name, type, comment }) => [name, type, comment, 0, 0xffffffff, 0, '', null, 0, 0],
  1005: () => [0],
};

async function shareEnum(owner: PipeOwner, input: NdrReader): Promise<Buffer> {
  input.optionalText();
  const level = input.u32();
  input.u32(); // The union repeats the level.
  const makeRow = level === 1005 ? undefined : levels[level];
  const output = new NdrWriter();
  output.u32(level);
  output.u32(level);
  if (!makeRow) {
    output.u32(0);
    output.u32(0);
    output.u32(0);
    output.u32(notSupportedLevel);
    return output.done();
  }
  const rows = (await sharesOf(owner)).map(makeRow);
  output.pointer();
  output.u32(rows.length);
  output.pointer();
  output.u32(rows.length);
  output.rows(rows);
  output.u32(rows.length);
  output.pointer();
  output.u32(0); // Nothing is left to resume.
  output.u32(0);
  return output.done();
}

async function shareGetInfo(owner: PipeOwner, input: NdrReader): Promise<Buffer> {
  input.optionalText();
  const name = input.text();
  const level = input.u32();
  const makeRow = levels[level];
  const share = (await sharesOf(owner)).find((row) => row.name.toLowerCase() === name.toLowerCase());
  const output = new NdrWriter();
  output.u32(level);
  if (!makeRow || !share) {
    output.u32(0);
    output.u32(makeRow ? noSuchShare : notSupportedLevel);
    return output.done();
  }
  output.pointer();
  output.rows([makeRow(share)]);
  output.u32(0);
  return output.done();
}

const ntPlatform = 500;
const serverType = 0x9003;

async function serverGetInfo({ server }: PipeOwner, input: NdrReader): Promise<Buffer> {
  input.optionalText();
  const level = input.u32();
  const short = [ntPlatform, server.serverName];
  const long = [...short, 10, 0, serverType, 'Lazuli'];
  const rows: Readonly<Record<number, readonly (number | string)[]>> = {
    100: short,
    101: long,
    102: [...long, 0xffffffff, 15, 0, 240, 3000, 0, 'c:\\'],
  };
  const row = rows[level];
  const output = new NdrWriter();
  output.u32(level);
  if (!row) {
    output.u32(0);
    output.u32(notSupportedLevel);
    return output.done();
  }
  output.pointer();
  output.rows([row]);
  output.u32(0);
  return output.done();
}
