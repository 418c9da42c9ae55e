import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Disk, memoryDisk } from './disk.js';
import type { Engine } from './engine.js';
import { openEngineOn } from './level.js';
import { openMemoryStore } from './store.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const textOf = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString();

/** An engine, and how often its store was asked for a key. */
async function counted(): Promise<{ engine: Engine; asked: () => number }> {
  let asked = 0;
  const inner = memoryDisk();
  const disk = Object.assign(Object.create(inner) as Disk, {
    open: async () => {
      const store = await inner.open();
      return {
        ...store,
        get: (...of: Parameters<typeof store.get>) => {
          asked++;
          return store.get(...of);
        },
      };
    },
  });
  const engine = await openEngineOn(disk);
  return {
    engine,
    asked: () => {
      const before = asked;
      asked = 0;
      return before;
    },
  };
}

async function write(engine: Engine, key: string, value: string | undefined): Promise<void> {
  const { durable } = await engine.commit({
    writes: [{ key: bytes(key), value: value === undefined ? undefined : bytes(value) }],
  });
  await durable;
}

test('a key that was read is not read again, and what is written to it later is known as well', async () => {
  const { engine, asked } = await counted();
  await write(engine, 'a', '1');
  asked();
  assert.equal(textOf((await engine.get(bytes('a'))).value), '1');
  assert.equal(asked(), 1);
  let last = 0;
  for (const value of ['2', '3', undefined, '4', 'x'.repeat(9000)]) {
    await write(engine, 'a', value);
    const found = await engine.get(bytes('a'));
    assert.equal(textOf(found.value), value);
    assert.equal(found.seen, 0, 'it is on disk');
    if (value === undefined) assert.equal(found.version, 0);
    else assert.ok(found.version > last);
    last = found.version;
    assert.equal(asked(), value !== undefined && value.length > 8192 ? 1 : 0, 'a long value is not kept');
  }
  await engine.close();
});

test('what was only written is not kept: a load of data does not drive out what is read', async () => {
  const { engine, asked } = await counted();
  await write(engine, 'read', '1');
  await engine.get(bytes('read'));
  const writes = Array.from({ length: 50_000 }, (_, number) => ({
    key: bytes(`written ${number}`),
    value: bytes('2'),
  }));
  await (await engine.commit({ writes })).durable;
  asked();
  assert.equal(textOf((await engine.get(bytes('read'))).value), '1');
  assert.equal(asked(), 0);
  assert.equal(textOf((await engine.get(bytes('written 7'))).value), '2');
  assert.equal(asked(), 1);
  await engine.close();
});

test('one key that is written all the time does not drive out the others', async () => {
  const { engine, asked } = await counted();
  for (const key of ['quiet', 'busy']) {
    await write(engine, key, '1');
    await engine.get(bytes(key));
  }
  for (let number = 0; number < 1500; number++) await write(engine, 'busy', 'y'.repeat(8000));
  asked();
  await engine.get(bytes('quiet'));
  assert.equal(asked(), 0);
  await engine.close();
});

test('of very many keys that are read only the last ones are kept', async () => {
  const { engine, asked } = await counted();
  const keys = Array.from({ length: 40_000 }, (_, number) => bytes(`${number}`));
  await engine.getMany(keys);
  assert.ok(asked() >= keys.length);
  await engine.getMany(keys.slice(-8000));
  assert.equal(asked(), 0);
  await engine.getMany(keys.slice(0, 8000));
  assert.equal(asked(), 8000);
  await engine.close();
});

test('what is kept does not keep the memory that it came in', async () => {
  const { engine } = await counted();
  const slab = Buffer.alloc(32 * 1024, 'x');
  const key = bytes('a');
  await engine.get(key);
  await (await engine.commit({ writes: [{ key, value: slab.subarray(100, 140) }] })).durable;
  const { value } = await engine.get(key);
  assert.equal(value?.length, 40);
  assert.ok(value.buffer.byteLength <= 2048);
  await engine.close();
});

test('a store in memory has bytes of its own, and gives out others', async () => {
  const store = await openMemoryStore();
  const slab = Buffer.from('key value');
  await store.write([{ type: 'put', key: slab.subarray(0, 3), value: slab.subarray(4) }]);
  slab.fill('!');
  const found = store.get(bytes('key'), undefined);
  assert.equal(textOf(found), 'value');
  found?.fill('!');
  assert.equal(textOf(store.get(bytes('key'), undefined)), 'value');
  await store.close();
});

test('what is known is renewed by a group of more keys than are known', async () => {
  const { engine, asked } = await counted();
  await write(engine, 'a', 'old');
  await engine.get(bytes('a'));
  asked();
  const writes = ['a', 'b', 'c', 'd'].map((key) => ({ key: bytes(key), value: bytes('new') }));
  await (await engine.commit({ writes })).durable;
  assert.equal(textOf((await engine.get(bytes('a'))).value), 'new');
  assert.equal(asked(), 0);
  await engine.close();
});
