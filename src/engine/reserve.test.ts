import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedDisk } from '../base/files.simulated.js';
import { isFull, Reserve } from './reserve.js';

const size = 3 * 1024 * 1024 + 5;
const floor = 1000;

async function given(): Promise<{
  disk: SimulatedDisk;
  reserve: Reserve;
  found: () => Promise<number | undefined>;
}> {
  const disk = new SimulatedDisk();
  await disk.makeFolder('/data');
  const reserve = new Reserve(disk, '/data/reserve', size);
  return { disk, reserve, found: async () => (await disk.status('/data/reserve'))?.size };
}

test('it is made where there is room beside the floor, and only there', async () => {
  const { disk, reserve, found } = await given();
  disk.free = floor + size - 1;
  await reserve.keep(floor);
  assert.equal(await found(), undefined);
  disk.free = floor + size;
  await reserve.keep(floor);
  assert.equal(await found(), size);
});

test('it is given up once and comes back when there is room', async () => {
  const { disk, reserve, found } = await given();
  await reserve.keep(floor);
  assert.equal(await reserve.giveUp(), true);
  assert.equal(await found(), undefined);
  assert.equal(await reserve.giveUp(), false);
  disk.free = 0;
  await reserve.keep(floor);
  assert.equal(await found(), undefined);
  disk.free = 2 ** 40;
  await reserve.keep(floor);
  assert.equal(await found(), size);
});

test('one of another size, or cut off by a crash, is made anew; a whole one is kept', async () => {
  const { disk, reserve, found } = await given();
  {
    await using file = await disk.open('/data/reserve', 'new');
    await file.write(Buffer.alloc(100), 0);
  }
  await reserve.keep(floor);
  assert.equal(await found(), size);
  const changes: string[] = [];
  disk.before = ({ name }) => changes.push(name);
  await new Reserve(disk, '/data/reserve', size).keep(floor);
  assert.deepEqual(changes, []);
});

test('what could not be made whole is not left in the way', async () => {
  const { disk, reserve, found } = await given();
  let writes = 0;
  disk.before = ({ name }) => {
    if (name === 'write' && ++writes === 2) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  };
  await reserve.keep(floor);
  assert.equal(await found(), undefined);
  disk.before = undefined;
  await reserve.keep(floor);
  assert.equal(await found(), size);
});

test('closed while it is made, it ends and leaves nothing', async () => {
  const { disk, reserve, found } = await given();
  let closing: Promise<void> | undefined;
  disk.before = ({ name }) => {
    if (name === 'sync') closing ??= reserve.close();
  };
  await reserve.keep(floor);
  await closing;
  assert.equal(await found(), undefined);
  await reserve.keep(floor);
  assert.equal(await found(), undefined);
});

test('a full disk is known by what Node and LevelDB say of it', () => {
  const said = (message: string, cause?: unknown) => new Error(message, { cause });
  assert.equal(isFull(Object.assign(said('x'), { code: 'ENOSPC' })), true);
  assert.equal(isFull(Object.assign(said('x'), { code: 'EDQUOT' })), true);
  assert.equal(isFull(said('IO error: /data/store/000005.log: No space left on device')), true);
  assert.equal(isFull(said('Database failed to open', said('IO error: Disk quota exceeded'))), true);
  assert.equal(isFull(Object.assign(said('x'), { code: 'EIO' })), false);
  assert.equal(isFull('ENOSPC'), false);
});
