// Scenarios B1 to B11 of the specification, in its own words.

import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  ArgumentError,
  ArgumentOutOfRangeError,
  BackupInProgressError,
  type BackupOptions,
  type Dictionary,
  InvalidDataError,
  InvalidOperationError,
  MissingFullBackupError,
  NotPrimaryError,
  OperationCanceledError,
  StateManager,
  TimeoutError,
} from './index.js';
import { all, temporary } from './scenario.suite.js';

interface Given {
  readonly folder: string;
  readonly location: string;
  readonly state: StateManager;
  readonly d: Dictionary<string, number>;
  set(key: string, value: number): Promise<void>;
  /** Into a folder of this name below `backups`. */
  backup(
    name: string,
    kind: 'full' | 'incremental',
    more?: Partial<BackupOptions>,
  ): ReturnType<StateManager['backup']>;
}

async function given(t: TestContext, options: { maxBackupLogBytes?: number } = {}): Promise<Given> {
  const folder = await temporary();
  const location = join(folder, 'state');
  const state = await StateManager.open({ location, ...options });
  t.after(() => state.close());
  const d = await state.dictionary<string, number>('d');
  return {
    folder,
    location,
    state,
    d,
    set: (key, value) => state.transaction((tx) => d.set(tx, key, value)),
    backup: (name, kind, more) => state.backup({ folder: join(folder, 'backups', name), kind, ...more }),
  };
}

/** All there is, of every kind. */
async function contentOf(state: StateManager): Promise<unknown> {
  const d = await state.dictionary<string, number>('d');
  const [q, cq] = [await state.queue<string>('q'), await state.concurrentQueue<string>('cq')];
  return state.transaction(async (tx) => [
    await all(d.entries(tx)),
    await d.count(tx),
    await all(q.entries(tx)),
    await cq.count(),
    (await state.list()).map(({ name }) => name),
  ]);
}

async function restored(t: TestContext, from: string | string[]): Promise<StateManager> {
  const location = join(await temporary(), 'restored');
  await StateManager.restore({ from, location });
  const state = await StateManager.open({ location });
  t.after(() => state.close());
  return state;
}

async function rowsOf(state: StateManager): Promise<[string, number][]> {
  const d = await state.dictionary<string, number>('d');
  return state.transaction((tx) => all(d.entries(tx)));
}

test('B1: full backup, restore into empty: identical state', async (t) => {
  const { folder, state, d, backup } = await given(t);
  const [q, cq] = [await state.queue<string>('q'), await state.concurrentQueue<string>('cq')];
  await state.transaction(async (tx) => {
    for (let n = 0; n < 500; n++) await d.set(tx, `key ${n}`, n);
    for (const item of ['a', 'b', 'c']) await q.enqueue(tx, item);
    for (const item of ['x', 'y']) await cq.enqueue(tx, item);
  });
  await state.transaction((tx) => q.tryDequeue(tx));
  const info = await backup('1', 'full');
  assert.equal(info.kind, 'full');
  assert.equal(info.parent, info.id);
  assert.equal(info.folder, join(folder, 'backups', '1'));
  assert.ok(info.lastVersion >= info.firstVersion);
  const again = await restored(t, join(folder, 'backups'));
  assert.deepEqual(await contentOf(again), await contentOf(state));
});

test('B2: full + inc1 + inc2, restore: state of inc2', async (t) => {
  const { folder, state, d, set, backup } = await given(t);
  await set('a', 1);
  const full = await backup('0', 'full');
  await set('a', 2);
  await set('b', 2);
  const first = await backup('1', 'incremental');
  await state.transaction((tx) => d.remove(tx, 'a'));
  await set('c', 3);
  const second = await backup('2', 'incremental');
  assert.deepEqual([first.parent, second.parent], [full.id, first.id]);
  assert.equal(second.firstVersion, first.lastVersion + 1);
  await set('d', 4);
  const again = await restored(t, join(folder, 'backups'));
  assert.deepEqual(await rowsOf(again), [
    ['b', 2],
    ['c', 3],
  ]);
  // After a restore an incremental backup needs a new full one first.
  await assert.rejects(
    again.backup({ folder: join(folder, 'other'), kind: 'incremental' }),
    MissingFullBackupError,
  );
});

test('B3: full + inc2 without inc1: ArgumentException', async (t) => {
  const { folder, set, backup } = await given(t);
  await backup('0', 'full');
  await set('a', 1);
  await backup('1', 'incremental');
  await set('a', 2);
  await backup('2', 'incremental');
  await rm(join(folder, 'backups', '1'), { recursive: true });
  await assert.rejects(restored(t, join(folder, 'backups')), ArgumentError);
});

test('B4: inc only; two fulls in the folder: FabricMissingFullBackupException', async (t) => {
  const { folder, set, backup } = await given(t);
  await backup('0', 'full');
  await set('a', 1);
  await backup('1', 'incremental');
  await assert.rejects(restored(t, join(folder, 'backups', '1')), MissingFullBackupError);
  await backup('2', 'full');
  await assert.rejects(restored(t, join(folder, 'backups')), MissingFullBackupError);
  await assert.rejects(restored(t, join(folder, 'nothing here')), MissingFullBackupError);
  const two = await restored(t, [join(folder, 'backups', '0'), join(folder, 'backups', '1')]);
  assert.deepEqual(await rowsOf(two), [['a', 1]]);
});

test('B5: incremental without prior full; after log truncation: FabricMissingFullBackupException; or a full one on request', async (t) => {
  const { set, backup } = await given(t, { maxBackupLogBytes: 2_000 });
  await assert.rejects(backup('0', 'incremental'), MissingFullBackupError);
  await backup('1', 'full');
  for (let n = 0; n < 100; n++) await set(`key ${n}`, n);
  await assert.rejects(backup('2', 'incremental'), MissingFullBackupError);
  const info = await backup('3', 'incremental', { orFull: true });
  assert.equal(info.kind, 'full');
  assert.equal((await backup('4', 'incremental', { orFull: true })).kind, 'incremental');
});

test('B6: second backup while one runs: FabricBackupInProgressException', async (t) => {
  const { backup } = await given(t);
  let go = () => {};
  const gate = new Promise<boolean>((resolve) => {
    go = () => resolve(true);
  });
  const first = backup('1', 'full', { callback: () => gate });
  await assert.rejects(backup('2', 'full'), BackupInProgressError);
  go();
  await first;
  await backup('3', 'full');
});

test('B7: callback returns false: InvalidOperationException; next incremental bases on the earlier backup', async (t) => {
  const { folder, set, backup } = await given(t);
  const full = await backup('0', 'full');
  await set('a', 1);
  const seen: unknown[] = [];
  const callback: BackupOptions['callback'] = async (info, signal) => {
    seen.push(info.kind, signal.aborted, (await readdir(info.folder)).sort());
    return false;
  };
  await assert.rejects(backup('1', 'incremental', { callback }), InvalidOperationError);
  assert.deepEqual(seen, ['incremental', false, ['incremental.metadata', 'rows']]);
  assert.deepEqual(await readdir(join(folder, 'backups', '1')), [], 'it is not left to be taken for one');
  await set('b', 2);
  const next = await backup('2', 'incremental', { callback: () => true });
  assert.equal(next.parent, full.id);
  const error = new Error('the upload failed');
  await assert.rejects(
    backup('3', 'incremental', { callback: () => Promise.reject(error) }),
    (thrown) => thrown === error,
  );
  assert.deepEqual(await rowsOf(await restored(t, join(folder, 'backups'))), [
    ['a', 1],
    ['b', 2],
  ]);
});

test('B7: a first full backup whose callback returns false is none: an incremental one cannot stand on it', async (t) => {
  const { backup } = await given(t);
  await assert.rejects(backup('0', 'full', { callback: () => false }), InvalidOperationError);
  await assert.rejects(backup('1', 'incremental'), MissingFullBackupError);
});

test('B8: restore of an older backup, Safe / Force: ArgumentException / state replaced', async (t) => {
  const { folder, location, state, set, backup } = await given(t);
  await set('a', 1);
  await backup('0', 'full');
  await set('a', 2);
  await set('b', 2);
  const from = join(folder, 'backups');
  await assert.rejects(StateManager.restore({ from, location, policy: 'force' }), InvalidOperationError);
  await state.close();
  await assert.rejects(StateManager.restore({ from, location }), ArgumentError);
  await assert.rejects(StateManager.restore({ from, location, policy: 'safe' }), /it is older/);
  await using still = await StateManager.open({ location });
  assert.deepEqual(await rowsOf(still), [
    ['a', 2],
    ['b', 2],
  ]);
  await still.close();
  await StateManager.restore({ from, location, policy: 'force' });
  await using now = await StateManager.open({ location });
  assert.deepEqual(await rowsOf(now), [['a', 1]]);
});

test('B8: a newer backup over a state that is older, Safe: state replaced', async (t) => {
  const { folder, set, backup } = await given(t);
  await set('a', 1);
  await backup('0', 'full');
  await set('a', 2);
  await backup('1', 'incremental');
  const target = join(folder, 'target');
  await StateManager.restore({ from: join(folder, 'backups', '0'), location: target });
  await StateManager.restore({ from: join(folder, 'backups'), location: target });
  await using now = await StateManager.open({ location: target });
  assert.deepEqual(await rowsOf(now), [['a', 2]]);
});

test('B9: writes during a full backup: not blocked; restored state is a consistent prefix', async (t) => {
  const { state, d, backup } = await given(t);
  await state.transaction(async (tx) => {
    for (let n = 0; n < 3_000; n++) await d.set(tx, `padding ${n}`, n);
    await d.set(tx, 'left', 0);
    await d.set(tx, 'right', 0);
  });
  let running = true;
  let written = 0;
  const writer = async () => {
    for (let n = 1; running; n++) {
      await state.transaction(async (tx) => {
        await d.set(tx, 'left', n);
        await d.set(tx, `row ${n}`, n);
        await d.set(tx, 'right', n);
      });
      written = n;
    }
  };
  const writing = writer();
  const info = await backup('0', 'full');
  const during = written;
  running = false;
  await writing;
  assert.ok(during > 0, 'nothing was written meanwhile');
  const rows = new Map(await rowsOf(await restored(t, info.folder)));
  const last = rows.get('left') as number;
  assert.equal(rows.get('right'), last);
  assert.ok(last <= written);
  for (let n = 1; n <= last + 5; n++) assert.equal(rows.has(`row ${n}`), n <= last, `row ${n} of ${last}`);
});

test('B10: flipped byte in backup.log: InvalidDataException, current state untouched', async (t) => {
  const { folder, location, state, set, backup } = await given(t);
  await set('a', 1);
  await backup('0', 'full');
  await set('b', 2);
  await state.close();
  for (const name of ['rows', 'backup.metadata']) {
    const path = join(folder, 'backups', '0', name);
    const content = await readFile(path);
    const flipped = Buffer.from(content);
    const middle = Math.floor(content.length / 2);
    flipped[middle] = (flipped[middle] as number) ^ 1;
    await writeFile(path, flipped);
    const restoring = StateManager.restore({ from: join(folder, 'backups'), location, policy: 'force' });
    await assert.rejects(restoring, InvalidDataError);
    await writeFile(path, content);
    await using still = await StateManager.open({ location });
    assert.deepEqual(await rowsOf(still), [
      ['a', 1],
      ['b', 2],
    ]);
  }
});

test('B11: crash in the middle of restore, reopen: never half restored: the old state, or refused until it is restored again', async (t) => {
  const { folder, location, state, set, backup } = await given(t);
  await set('a', 1);
  await backup('0', 'full');
  await set('b', 2);
  await state.close();
  const from = join(folder, 'backups');
  // What a crash leaves after the old state has been taken away, and before the new one stands.
  const copy = join(folder, 'copy');
  await cp(location, copy, { recursive: true });
  await rm(join(copy, 'format'));
  await cp(join(location, 'store'), join(copy, 'restoring', 'store'), { recursive: true });
  await assert.rejects(StateManager.open({ location: copy }), (error) => {
    assert.ok(error instanceof InvalidDataError);
    assert.match(error.message, /was being restored .* cut off\. Restore it again/);
    return true;
  });
  await StateManager.restore({ from, location: copy });
  await using again = await StateManager.open({ location: copy });
  assert.deepEqual(await rowsOf(again), [['a', 1]]);
});

test('7.1: what cannot be is refused, and the time and a signal end a backup', async (t) => {
  const { state, folder, backup } = await given(t);
  await assert.rejects(state.backup({ folder: '' }), ArgumentError);
  await assert.rejects(backup('x', 'partial' as never), ArgumentError);
  await assert.rejects(backup('x', 'full', { callback: 'upload' as never }), ArgumentError);
  for (const timeoutMs of [-1, 2 ** 31, Number.NaN])
    await assert.rejects(backup('x', 'full', { timeoutMs }), ArgumentOutOfRangeError);
  await assert.rejects(state.backup({ folder: join(folder, 'state') }), ArgumentError, 'a folder in use');
  const never = () => new Promise<boolean>(() => {});
  await assert.rejects(backup('late', 'full', { callback: never, timeoutMs: 30 }), TimeoutError);
  await assert.rejects(backup('canceled', 'full', { signal: AbortSignal.abort() }), OperationCanceledError);
  await assert.rejects(
    backup('demoted', 'full', {
      callback: () => {
        state.role = 'secondary';
        return true;
      },
    }),
    NotPrimaryError,
  );
  state.role = 'primary';
  await backup('at last', 'full');
  for (const wrong of [{ from: '' }, { from: undefined }, { location: '' }, { policy: 'hope' }]) {
    const options = { from: folder, location: join(folder, 'new'), ...wrong } as never;
    await assert.rejects(StateManager.restore(options), ArgumentError);
  }
});

test('a folder that holds something else is never restored into', async (t) => {
  const { folder, backup } = await given(t);
  await backup('0', 'full');
  const location = await temporary();
  await writeFile(join(location, 'thesis.txt'), 'all my work');
  for (const policy of ['safe', 'force'] as const)
    await assert.rejects(
      StateManager.restore({ from: join(folder, 'backups'), location, policy }),
      ArgumentError,
    );
  assert.deepEqual(await readdir(location), ['thesis.txt']);
});
