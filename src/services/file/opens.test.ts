import assert from 'node:assert/strict';
import { test } from 'node:test';
import { access, allAccess, share } from './access.js';
import { type BreakNotice, breakTimeoutMs } from './caches.js';
import { caching, oplockStates } from './caching-rules.js';
import type { OpenRequest } from './open-handles.js';
import { Opens, openLimits } from './opens.js';
import { FileRefused } from './refusals.js';

/** A table whose timers run when told to, with handles that note what they are told. */
function table(limits = openLimits) {
  const timers = new Set<{ at: number; run: () => void }>();
  let now = 0;
  const opens = new Opens((ms, run) => {
    const timer = { at: now + ms, run };
    timers.add(timer);
    return () => timers.delete(timer);
  }, limits);
  const advance = (ms: number) => {
    now += ms;
    for (const timer of [...timers]) {
      if (timer.at > now) continue;
      timers.delete(timer);
      timer.run();
    }
  };
  let nextId = 1n;
  const notices: BreakNotice[] = [];
  const closed: bigint[] = [];
  const open = async (options: Partial<OpenRequest> = {}) => {
    const id = options.id ?? nextId++;
    const owner = {
      ...{ sessionId: 1n, client: '', clientName: '', openedAt: 0 },
      breaking: (notice: BreakNotice) => void notices.push(notice),
      closed: () => void closed.push(id),
    };
    const reserved = await opens.reserve({
      ...{
        id,
        volume: 'v',
        file: 7n,
        access: allAccess,
        share: share.all,
        overwrites: false,
        creates: false,
      },
      ...{ deleteOnClose: false, wish: { kind: 'none' }, cacheable: true, owner },
      ...options,
    });
    return { id, reserved };
  };
  const left = () => {
    const { files, handles, locks, caches } = opens.counters;
    return { files, handles, locks, caches, timers: timers.size };
  };
  return { opens, open, advance, notices, closed, left };
}

test('a lock and a write that are asked for at once: one of them waits or is refused', async () => {
  const { opens, open } = table();
  const { id: locker } = await open();
  const { id: writer } = await open();
  const range = { offset: 0n, length: 10n };
  let isLocked = false;
  const locking = opens.lock(locker, [{ ...range, owner: locker, exclusive: true }], false).then(() => {
    isLocked = true;
  });
  const done = opens.begin(writer, 'write', range);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(done === undefined || !isLocked, 'bytes are written that somebody else has locked');
  done?.();
  await locking;
});

test('a handle that is closed while its lock waits for work under way leaves no lock behind', async () => {
  const { opens, open, left } = table();
  const { id: writer } = await open();
  const range = { offset: 0n, length: 10n };
  for (const mayWait of [false, true]) {
    const { id: locker } = await open();
    const done = opens.begin(writer, 'write', range);
    const locking = opens.lock(locker, [{ ...range, owner: locker, exclusive: true }], mayWait);
    await opens.close(locker);
    done?.();
    assert.deepEqual(await locking, { outcome: 'refused', code: 'HandleClosed' });
    assert.equal(left().locks, 0);
  }
});

const nothing = { files: 0, handles: 0, locks: 0, caches: 0, timers: 0 };
const batch = { kind: 'oplock', state: oplockStates.batch } as const;
const lease = (key: string, state: number) => ({ kind: 'lease', key, state, epoch: 10 }) as const;
const rwh = caching.read | caching.write | caching.handle;
const rh = caching.read | caching.handle;

test('a second open that the first does not share with is refused, and allowed once it is closed', async () => {
  const { opens, open, left } = table();
  const first = await open({ share: share.read });
  assert.deepEqual((await open()).reserved, { outcome: 'refused', code: 'SharingViolation' });
  await opens.close(first.id);
  const second = await open();
  assert.equal(second.reserved.outcome, 'open');
  await opens.close(second.id);
  assert.deepEqual(left(), nothing);
});

test('a reservation that is withdrawn leaves nothing behind', async () => {
  const { opens, open, left } = table();
  const { id } = await open({ share: share.none });
  await opens.withdraw(id);
  assert.deepEqual(left(), nothing);
});

test('an open waits for a batch oplock to be broken, and goes on when it is acknowledged', async () => {
  const { opens, open, notices, left } = table();
  const first = await open({ wish: batch });
  const second = await open();
  assert.equal(second.reserved.outcome, 'wait');
  assert.deepEqual(
    notices.map(({ open: id, from, to, needsAck }) => ({ id, from, to, needsAck })),
    [{ id: first.id, from: rwh, to: caching.read, needsAck: true }],
  );
  assert.deepEqual(await opens.acknowledge({ open: first.id }, caching.read), {
    ok: true,
    state: caching.read,
  });
  assert(second.reserved.outcome === 'wait');
  await second.reserved.changed;
  const again = await open({ id: second.id });
  assert.equal(again.reserved.outcome, 'open');
  assert.equal(notices.length, 1);
  await opens.close(first.id);
  await opens.close(second.id);
  assert.deepEqual(left(), nothing);
});

test('a break that nobody acknowledges ends after 35 seconds with nothing left to the holder', async () => {
  const { opens, open, advance, left } = table();
  const first = await open({ wish: lease('a', rwh) });
  const second = await open({ wish: lease('b', rwh) });
  assert(second.reserved.outcome === 'wait');
  advance(breakTimeoutMs - 1);
  assert.equal((await open({ id: second.id, wish: lease('b', rwh) })).reserved.outcome, 'wait');
  advance(1);
  await second.reserved.changed;
  const again = await open({ id: second.id, wish: lease('b', rwh) });
  assert(again.reserved.outcome === 'open');
  assert.equal(again.reserved.cache?.state, rh, 'the other still has the file open');
  assert.deepEqual(await opens.acknowledge({ key: 'a' }, rh), { ok: false, code: 'LeaseNotBreaking' });
  await opens.close(first.id);
  await opens.close(second.id);
  assert.deepEqual(left(), nothing);
});

test('closing the handle ends the wait for its oplock', async () => {
  const { opens, open, left } = table();
  const first = await open({ wish: batch, share: share.none });
  const second = await open();
  assert(second.reserved.outcome === 'wait');
  await opens.close(first.id);
  await second.reserved.changed;
  assert.equal((await open({ id: second.id })).reserved.outcome, 'open');
  await opens.close(second.id);
  assert.deepEqual(left(), nothing);
});

test('opens with one lease key share one lease and do not break each other', async () => {
  const { opens, open, notices, left } = table();
  const first = await open({ wish: lease('a', rh) });
  const second = await open({ wish: lease('a', rwh) });
  assert(second.reserved.outcome === 'open');
  assert.equal(second.reserved.cache?.state, rwh);
  assert.equal(second.reserved.cache?.epoch, 12, 'granted, then more');
  assert.deepEqual(notices, []);
  assert.deepEqual((await open({ file: 8n, wish: lease('a', rh) })).reserved, {
    outcome: 'refused',
    code: 'InvalidParameter',
  });
  await opens.close(first.id);
  assert.equal(opens.counters.caches, 1);
  await opens.close(second.id);
  assert.deepEqual(left(), nothing);
});

test('a marked file refuses every open and is removed with its last handle', async () => {
  const { opens, open, left } = table();
  const first = await open({ deleteOnClose: true });
  const second = await open();
  assert.equal(await opens.close(first.id), 'kept');
  assert(opens.isDeletePending('v', 7n));
  assert.deepEqual((await open()).reserved, { outcome: 'refused', code: 'DeletePending' });
  assert.equal(await opens.close(second.id), 'remove');
  assert.deepEqual(
    (await open()).reserved,
    { outcome: 'refused', code: 'DeletePending' },
    'while it is removed',
  );
  await opens.removed('v', 7n);
  const fresh = await open();
  assert.equal(fresh.reserved.outcome, 'open');
  await opens.close(fresh.id);
  assert.deepEqual(left(), nothing);
});

test('a handle closed by force is told, and takes its delete-on-close along', async () => {
  const { opens, open, closed, left } = table();
  const { id } = await open({ deleteOnClose: true });
  assert.equal(await opens.close(id, true), 'kept');
  assert.deepEqual(closed, [id]);
  assert.deepEqual(left(), nothing);
});

const exclusive = (owner: bigint, offset = 0n, length = 10n) => ({ owner, offset, length, exclusive: true });

test('locks that wait are granted in the order they came', async () => {
  const { opens, open, left } = table();
  const [a, b, c] = [(await open()).id, (await open()).id, (await open()).id];
  assert.equal((await opens.lock(a, [exclusive(a)], false)).outcome, 'locked');
  assert.deepEqual(await opens.lock(b, [exclusive(b)], false), {
    outcome: 'refused',
    code: 'LockNotGranted',
  });
  const order: string[] = [];
  const [waitB, waitC] = [
    await opens.lock(b, [exclusive(b)], true),
    await opens.lock(c, [exclusive(c)], true),
  ];
  assert(waitB.outcome === 'wait' && waitC.outcome === 'wait');
  const grantedB = waitB.wait.granted.then(() => order.push('b'));
  const grantedC = waitC.wait.granted.then(() => order.push('c'));
  assert(await opens.unlock(a, { offset: 0n, length: 10n }));
  await grantedB;
  assert.deepEqual(order, ['b']);
  await opens.close(b);
  await grantedC;
  assert.deepEqual(order, ['b', 'c']);
  await opens.close(a);
  await opens.close(c);
  assert.deepEqual(left(), nothing);
});

test('a wait for a lock ends with its handle, or when it is given up', async () => {
  const { opens, open } = table();
  const [a, b, c] = [(await open()).id, (await open()).id, (await open()).id];
  await opens.lock(a, [exclusive(a)], false);
  const waiting = await opens.lock(b, [exclusive(b)], true);
  const cancelled = await opens.lock(c, [exclusive(c)], true);
  assert(waiting.outcome === 'wait' && cancelled.outcome === 'wait');
  cancelled.wait.giveUp('Cancelled');
  await assert.rejects(cancelled.wait.granted, new FileRefused('Cancelled'));
  await opens.close(b);
  await assert.rejects(waiting.wait.granted, new FileRefused('RangeNotLocked'));
});

test('a lock is not granted while bytes under it are being written', async () => {
  const { opens, open } = table();
  const [a, b] = [(await open()).id, (await open()).id];
  const done = opens.begin(a, 'write', { offset: 5n, length: 1n });
  assert(done);
  let granted = false;
  const locking = opens.lock(b, [exclusive(b)], false).then(({ outcome }) => {
    granted = outcome === 'locked';
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(granted, false);
  done();
  await locking;
  assert.equal(granted, true);
  assert.equal(opens.begin(a, 'write', { offset: 5n, length: 1n }), undefined, 'now it is locked');
  assert.equal(opens.begin(a, 'read', { offset: 10n, length: 1n })?.(), undefined, 'beside it is free');
});

test('locks, handles of a file and handles in all are bounded', async () => {
  const limits = { opens: 3, opensPerFile: 2, locksPerOpen: 2, locksPerFile: 3 };
  const { opens, open } = table(limits);
  const [a, b] = [(await open()).id, (await open()).id];
  assert.deepEqual((await open()).reserved, { outcome: 'refused', code: 'TooManyOpens' });
  const shared = (owner: bigint, count: number) =>
    Array.from({ length: count }, () => ({ owner, offset: 0n, length: 1n, exclusive: false }));
  assert.deepEqual(await opens.lock(a, shared(a, 3), false), { outcome: 'refused', code: 'TooManyLocks' });
  assert.equal((await opens.lock(a, shared(a, 2), false)).outcome, 'locked');
  assert.deepEqual(await opens.lock(b, shared(b, 2), false), { outcome: 'refused', code: 'TooManyLocks' });
  assert.equal((await open({ file: 8n })).reserved.outcome, 'open');
  assert.deepEqual((await open({ file: 9n })).reserved, { outcome: 'refused', code: 'TooManyOpens' });
});

test('REST: sharing, deletion, locks and what clients cache', async () => {
  const { opens, open, notices, left } = table();
  type Asked = Parameters<Opens['admit']> extends [string, bigint, ...infer Rest] ? Rest : never;
  const admit = async (...asked: Asked) => {
    const admitted = await opens.admit('v', 7n, ...asked);
    if (admitted.outcome === 'admitted') admitted.done();
    return admitted;
  };
  assert.equal((await admit('deleteFile', 'renameOrDelete')).outcome, 'admitted', 'nobody has it open');

  const reader = await open({ access: access.readData, wish: lease('a', rwh) });
  const read = await admit('getFile', 'restRead', { use: 'read' });
  assert.equal(read.outcome, 'wait', 'W is flushed first');
  await opens.acknowledge({ key: 'a' }, rh);
  assert.equal((await admit('getFile', 'restRead', { use: 'read' })).outcome, 'admitted');
  assert.equal((await admit('deleteFile', 'renameOrDelete')).outcome, 'wait', 'H might be a cached handle');
  await opens.acknowledge({ key: 'a' }, caching.read);
  assert.deepEqual(await admit('deleteFile', 'renameOrDelete'), {
    outcome: 'refused',
    code: 'SharingViolation',
  });
  assert.equal(
    (await admit('putRange', 'restWrite', { use: 'write' })).outcome,
    'admitted',
    'R is told, not waited for',
  );
  assert.deepEqual(
    notices.map(({ to }) => to),
    [rh, caching.read, caching.none],
  );

  await opens.lock(reader.id, [exclusive(reader.id)], false);
  assert.deepEqual(
    await admit('putRange', 'restWrite', { use: 'write', range: { offset: 99n, length: 1n } }),
    {
      outcome: 'refused',
      code: 'FileLockConflict',
    },
  );
  const beside = { use: 'read', range: { offset: 99n, length: 1n } } as const;
  assert.equal((await admit('getFile', 'restRead', beside)).outcome, 'admitted');
  await opens.setDeletePending(reader.id, true);
  assert.deepEqual(await admit(undefined, undefined), { outcome: 'refused', code: 'DeletePending' });
  await opens.setDeletePending(reader.id, false);
  await opens.close(reader.id);
  assert.deepEqual(left(), nothing);
});
