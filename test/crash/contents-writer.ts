// Puts, replaces and deletes contents until it is killed, while space is reclaimed all the time. It tells on the
// standard output what it begins and what is done:
//
//   node contents-writer.js FOLDER SEED
//
//   put OWNER SALT LENGTH     begin to, and "done put" once it is durable
//   delete OWNER              begin to, and "done delete"
//   copy OWNER FROM           begin to, and "done copy OWNER SALT LENGTH", or "done nothing" where there is no FROM

import { writeSync } from 'node:fs';
import { seededRandom } from '#src/base/random.js';
import { packPiece, unpackPiece } from '#src/services/common/content-rows.js';
import { bytesOf } from '#src/services/common/contents.suite.js';
import { type Owner, openOwnedContents } from './contents-store.js';

const [folder = '', seed = '1'] = process.argv.slice(2);
const clients = 8;
const ownersOfEach = 20;
const tell = (line: string) => writeSync(1, `${line}\n`);
const fail = (error: unknown) => {
  writeSync(2, `${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
};

const { store, contents, owners, reclaim } = await openOwnedContents(folder, fail);

async function put(owner: number, salt: number, length: number): Promise<void> {
  tell(`put ${owner} ${salt} ${length}`);
  using body = await contents.store(bytesOf(length, salt));
  await store.run(async (tx) => {
    const old = await owners.get(tx, owner, { lock: 'update' });
    const piece = await contents.name(tx, body);
    if (piece) await owners.set(tx, owner, { salt, length, piece: packPiece(piece) });
    if (old) await contents.drop(tx, [unpackPiece(old.piece)]);
  });
  tell(`done put ${owner}`);
}

async function remove(owner: number): Promise<void> {
  tell(`delete ${owner}`);
  await store.run(async (tx) => {
    const old = await owners.remove(tx, owner);
    if (old) await contents.drop(tx, [unpackPiece(old.piece)]);
  });
  tell(`done delete ${owner}`);
}

async function copy(owner: number, from: number): Promise<void> {
  tell(`copy ${owner} ${from}`);
  const copied = await store.run(async (tx): Promise<Owner | undefined> => {
    const source = await owners.get(tx, from);
    if (!source) return undefined;
    const old = await owners.get(tx, owner, { lock: 'update' });
    await contents.share(tx, [unpackPiece(source.piece)]);
    await owners.set(tx, owner, source);
    if (old) await contents.drop(tx, [unpackPiece(old.piece)]);
    return source;
  });
  tell(copied ? `done copy ${owner} ${copied.salt} ${copied.length}` : `done nothing ${owner}`);
}

async function client(index: number): Promise<never> {
  const random = seededRandom(Number(seed) * 100 + index);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  for (;;) {
    const owner = index * ownersOfEach + upTo(ownersOfEach - 1);
    const dice = random();
    const lengths = [100, 5_000, 60_000, 300_000];
    if (dice < 0.6) await put(owner, upTo(1_000_000), 1 + upTo(lengths[upTo(3)] as number));
    else if (dice < 0.8) await remove(owner);
    else await copy(owner, upTo(clients * ownersOfEach - 1));
  }
}

async function reclaimer(): Promise<never> {
  for (;;) await reclaim.makeRoom();
}

await Promise.all([reclaimer(), ...Array.from({ length: clients }, (_, index) => client(index))]).catch(fail);
