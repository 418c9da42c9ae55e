// What operations on open files leave behind when they are refused in the end, or when others come in between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { access, allAccess, share } from '#src/services/file/access.js';
import type { FileContext } from '#src/services/file/attempts.js';
import { closeFile, setDisposition } from '#src/services/file/close-file.js';
import { type OpenFileRequest, openFile } from '#src/services/file/open-file.js';
import type { OpenHandle } from '#src/services/file/open-handles.js';
import { renameFile } from '#src/services/file/rename-file.js';
import { deleteShare } from '#src/services/file/shares.js';
import { account, type GivenFiles, givenFiles } from '../support/file-service.js';

let lastId = 0n;

async function contextOf({ volumes, opens }: GivenFiles): Promise<FileContext> {
  const volume = await volumes.open(account, 'files');
  assert.ok(volume);
  return { volume, opens, wait: (changed) => changed };
}

async function open(
  context: FileContext,
  path: readonly string[],
  options: Partial<OpenFileRequest> = {},
): Promise<OpenHandle> {
  const who = { sessionId: 1n, client: '', clientName: '', openedAt: 0 };
  const request: OpenFileRequest = {
    ...{ id: ++lastId, path, kind: 'any', disposition: 'openIf', access: allAccess, maximum: false },
    ...{ share: share.all, attributes: 0, deleteOnClose: false, writeThrough: false, security: undefined },
    ...{ wish: { kind: 'none' }, owner: { ...who, breaking: () => {}, closed: () => {} } },
    ...options,
  };
  await openFile(context, request);
  const handle = context.opens.handle(request.id);
  assert.ok(handle);
  return handle;
}

/** Once, when an operation asks whether somebody caches what it changes: it has looked at all else by then. */
function inBetween({ opens }: FileContext, act: () => Promise<unknown>): void {
  const { break: ask } = opens;
  opens.break = async (...asked) => {
    opens.break = ask;
    await act();
    return ask.call(opens, ...asked);
  };
}

const directory = { kind: 'directory', disposition: 'create' } as const;

test('a handle whose file cannot be looked at any more is closed all the same', async () => {
  await using files = await givenFiles();
  const context = await contextOf(files);
  const handle = await open(context, ['file'], { deleteOnClose: true });
  const deletion = {
    leaseId: undefined,
    snapshots: 'none',
    retentionDays: undefined,
    nameHeldMs: 0,
  } as const;
  await deleteShare(files.store, [account, 'files'], deletion);
  await assert.rejects(closeFile(context.volume, files.opens, handle), { code: 'ShareNotFound' });
  const { handles, files: held } = files.opens.counters;
  assert.deepEqual({ handles, held }, { handles: 0, held: 0 });
});

test('a directory that is filled while it is marked for deletion is not marked when that is refused', async () => {
  await using files = await givenFiles();
  const context = await contextOf(files);
  const handle = await open(context, ['directory'], directory);
  let inside: OpenHandle | undefined;
  inBetween(context, async () => {
    inside = await open(context, ['directory', 'file']);
  });
  const marking = setDisposition(context, handle, { deletes: true, ignoreReadOnly: false });
  await assert.rejects(marking, { code: 'DirectoryNotEmpty' });
  assert.ok(!files.opens.isDeletePending(context.volume.id, handle.file));
  for (const each of [inside, handle]) if (each) await closeFile(context.volume, files.opens, each);
});

test('a directory is not renamed while something below it comes to be open', async () => {
  await using files = await givenFiles();
  const context = await contextOf(files);
  const handle = await open(context, ['directory'], directory);
  const first = await open(context, ['directory', 'file']);
  await closeFile(context.volume, files.opens, first);
  let inside: OpenHandle | undefined;
  inBetween(context, async () => {
    const readOnly = { disposition: 'open', access: access.readData } as const;
    inside = await open(context, ['directory', 'file'], readOnly);
  });
  const renaming = renameFile(context, handle, { path: ['other'], replace: false });
  await assert.rejects(renaming, { code: 'AccessDenied' });
  for (const each of [inside, handle]) if (each) await closeFile(context.volume, files.opens, each);
});
