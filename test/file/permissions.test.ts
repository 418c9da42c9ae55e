// Permissions where they are enforced: what may be opened, emptied, created, renamed and replaced, on the real store.
// Every case is allowed where they are not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { access, allAccess, attribute, share as shareMode } from '#src/services/file/access.js';
import { type Identity, keyHolder } from '#src/services/file/acl-rules.js';
import type { FileContext } from '#src/services/file/attempts.js';
import { closeFile } from '#src/services/file/close-file.js';
import { makeDescriptor } from '#src/services/file/descriptor.js';
import { rootId } from '#src/services/file/file-system.js';
import { type OpenFileRequest, openFile } from '#src/services/file/open-file.js';
import { FileRefused } from '#src/services/file/refusals.js';
import { renameFile } from '#src/services/file/rename-file.js';
import { parseSddl } from '#src/services/file/sddl.js';
import { account, givenFiles } from '../support/file-service.js';

function security(dacl: string): Buffer {
  const parsed = parseSddl(`O:BAG:BAD:${dacl}`);
  assert.ok(parsed.ok, dacl);
  return makeDescriptor(parsed.value);
}

interface Prepared {
  readonly directory?: string;
  readonly file?: string;
  readonly attributes?: number;
}

const all = '(A;;FA;;;SY)';

/** `d` with a file `f`, and beside it `e` where everything is allowed, with a file `g`. */
async function prepared({ directory = all, file = all, attributes = attribute.archive }: Prepared) {
  const files = await givenFiles();
  const volume = await files.volumes.open(account, 'files');
  assert.ok(volume);
  await volume.transaction(async (tx) => {
    const folder = { directory: true, attributes: attribute.directory };
    const d = await tx.create({ parent: rootId, name: 'd', ...folder, security: security(directory) });
    const e = await tx.create({ parent: rootId, name: 'e', ...folder, security: security(all) });
    await tx.create({ parent: d.id, name: 'f', directory: false, attributes, security: security(file) });
    const plain = { directory: false, attributes: attribute.archive, security: security(all) };
    await tx.create({ parent: e.id, name: 'g', ...plain });
  });
  const contextOf = (judged: Identity | undefined): FileContext => ({
    ...{ volume, opens: files.opens, judged },
    wait: () => Promise.reject(new Error('nobody caches anything here')),
  });
  return { files, volume, contextOf };
}

let nextId = 1n;

function request(asked: Partial<OpenFileRequest>): OpenFileRequest {
  return {
    ...{ id: nextId++, path: ['d', 'f'], kind: 'any', disposition: 'open', access: 0, maximum: false },
    ...{
      share: shareMode.all,
      attributes: 0,
      deleteOnClose: false,
      writeThrough: false,
      security: undefined,
    },
    wish: { kind: 'none' },
    owner: {
      ...{ sessionId: 1n, client: '127.0.0.1', clientName: '', openedAt: 0 },
      ...{ breaking: () => {}, closed: () => {} },
    },
    ...asked,
  };
}

/** What was granted, or why nothing was. */
async function outcomeOf(work: () => Promise<number>): Promise<number | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileRefused) return error.code;
    throw error;
  }
}

async function opening(context: FileContext, asked: Partial<OpenFileRequest>): Promise<number | string> {
  const wanted = request(asked);
  const outcome = await outcomeOf(async () => (await openFile(context, wanted)).access);
  const handle = context.opens.handle(wanted.id);
  assert.equal(handle !== undefined, typeof outcome === 'number', 'who is refused holds nothing');
  if (handle) await closeFile(context.volume, context.opens, handle);
  return outcome;
}

const { readData, writeData, appendData, readAttributes, readControl, writeDac, writeOwner } = access;
const no = 'AccessDenied';
const writes = '(A;;0x113;;;SY)';
const file = { path: ['d', 'new'], disposition: 'create', kind: 'file', access: allAccess } as const;
const folder = { ...file, kind: 'directory' } as const;
const deletes = { deleteOnClose: true, maximum: true } as const;

// biome-ignore format: a table
const opens: readonly (readonly [what: string, Prepared, Partial<OpenFileRequest>, outcome: number | string])[] = [
  ['what is allowed',                         { file: '(A;;0x1;;;SY)' }, { access: readData }, readData],
  ['what is not',                             { file: '(A;;0x1;;;SY)' }, { access: readData | writeData }, no],
  ['what is denied',                          { file: '(D;;0x2;;;WD)(A;;FA;;;SY)' }, { access: writeData }, no],
  ['in an empty DACL',                        { file: '' }, { access: readControl }, no],
  ['in none',                                 { file: 'NO_ACCESS_CONTROL' }, { access: allAccess }, allAccess],
  ['DELETE, by the file',                     { directory: '', file: '(A;;SD;;;SY)' }, { access: access.delete }, access.delete],
  ['DELETE, by the directory',                { directory: '(A;;0x40;;;SY)', file: '' }, { access: access.delete }, access.delete],
  ['DELETE, by neither',                      { directory: '(A;;0x3f;;;SY)', file: '' }, { access: access.delete }, no],
  ['attributes, by the directory',            { directory: '(A;;0x1;;;SY)', file: '' }, { access: readAttributes }, readAttributes],
  ['attributes, by neither',                  { directory: '(A;;0x40;;;SY)', file: '' }, { access: readAttributes }, no],
  ['the descriptor to read it',               { file: '(A;;RC;;;SY)' }, { access: readControl }, readControl],
  ['the descriptor to write it, read alone',  { file: '(A;;RC;;;SY)' }, { access: writeDac }, no],
  ['the owner, rights alone',                 { file: '(A;;WD;;;SY)' }, { access: writeOwner }, no],
  ['all there is',                            { directory: '', file: '(A;;0x3;;;SY)' }, { maximum: true }, 3],
  ['all there is of a read-only file',        { directory: '', file: '(A;;0x3;;;SY)', attributes: attribute.readOnly }, { maximum: true }, 1],
  ['all there is of nothing',                 { directory: '', file: '' }, { maximum: true }, no],
  ['all there is and more',                   { directory: '', file: '(A;;0x3;;;SY)' }, { maximum: true, access: access.execute }, no],
  ['through a directory that allows nothing', { directory: '' }, { access: allAccess }, allAccess],
  ['overwrite what can be read',              { file: '(A;;FR;;;SY)' }, { access: readData, disposition: 'overwrite' }, no],
  ['overwrite if it is there, likewise',      { file: '(A;;FR;;;SY)' }, { access: readData, disposition: 'overwriteIf' }, no],
  ['overwrite what can be written',           { file: writes }, { access: readData, disposition: 'overwrite' }, readData],
  ['overwrite, bytes alone',                  { file: '(A;;0x3;;;SY)' }, { access: readData, disposition: 'overwrite' }, no],
  ['supersede what can be written',           { directory: '', file: writes }, { access: readData, disposition: 'supersede' }, no],
  ['supersede what can be deleted, too',      { directory: '(A;;0x40;;;SY)', file: writes }, { access: readData, disposition: 'supersede' }, readData],
  ['open if it is there',                     { directory: '', file: '(A;;0x1;;;SY)' }, { access: readData, disposition: 'openIf' }, readData],
  ['delete on close what cannot be',          { directory: '', file: '(A;;FR;;;SY)' }, deletes, no],
  ['delete on close, by the file',            { directory: '', file: '(A;;SD;;;SY)' }, deletes, access.delete],
  ['delete on close, by the directory',       { directory: '(A;;0x40;;;SY)', file: '' }, deletes, access.delete],
  ['a new file',                              { directory: '(A;;0x2;;;SY)' }, file, allAccess],
  ['a new file, directories alone',           { directory: '(A;;0x4;;;SY)' }, file, no],
  ['a new directory',                         { directory: '(A;;0x4;;;SY)' }, folder, allAccess],
  ['a new directory, files alone',            { directory: '(A;;0x2;;;SY)' }, folder, no],
  ['a new file with a DACL of nothing',       {}, { ...file, security: security('') }, allAccess],
  ['a new file with all there is',            { directory: '(A;;0x2;;;SY)' }, { ...file, access: 0, maximum: true }, allAccess],
  ['what is not there',                       { directory: '' }, { path: ['d', 'x'], access: readData }, 'NameNotFound'],
];
for (const [what, state, asked, outcome] of opens) {
  test(`open ${what}: ${outcome}`, async () => {
    const { files, contextOf } = await prepared(state);
    await using _ = files;
    assert.equal(await opening(contextOf(keyHolder), asked), outcome);
    const unjudged = await opening(contextOf(undefined), asked);
    if (outcome === no) assert.equal(typeof unjudged, 'number');
  });
}

// biome-ignore format: a table
const renames: readonly (readonly [what: string, Prepared, from: string, to: string, outcome: string | number])[] = [
  ['into a directory that takes files',   { directory: '(A;;0x2;;;SY)' },  'e/g', 'd/n', 0],
  ['into one that takes none',            { directory: '(A;;0x4;;;SY)' },  'e/g', 'd/n', no],
  ['a directory into one that takes them', { directory: '(A;;0x4;;;SY)' }, 'e',   'd/n', 0],
  ['a directory into one that does not',  { directory: '(A;;0x2;;;SY)' },  'e',   'd/n', no],
  ['within one that takes none',          { directory: '(A;;0x1;;;SY)' },  'd/f', 'd/n', no],
  ['over what can be deleted',            { directory: '(A;;0x2;;;SY)', file: '(A;;SD;;;SY)' }, 'e/g', 'd/f', 0],
  ['over what the directory lets go',     { directory: '(A;;0x42;;;SY)', file: '' }, 'e/g', 'd/f', 0],
  ['over what cannot be deleted',         { directory: '(A;;0x2;;;SY)', file: '(A;;0x1;;;SY)' }, 'e/g', 'd/f', no],
];
for (const [what, state, from, to, outcome] of renames) {
  test(`rename ${what}: ${outcome === 0 ? 'done' : outcome}`, async () => {
    const { files, contextOf } = await prepared(state);
    await using _ = files;
    const move = async (judged: Identity | undefined) => {
      const context = contextOf(judged);
      const opened = request({ path: from.split('/'), access: access.delete });
      await openFile(contextOf(undefined), opened);
      const handle = context.opens.handle(opened.id);
      assert.ok(handle);
      const target = { path: to.split('/'), replace: true };
      const moved = await outcomeOf(async () => {
        await renameFile(context, handle, target);
        return 0;
      });
      await closeFile(context.volume, context.opens, handle);
      return moved;
    };
    assert.equal(await move(keyHolder), outcome);
    if (outcome === no) assert.equal(await move(undefined), 0);
  });
}

test('what the creator may do is decided when it is opened again', async () => {
  const { files, contextOf } = await prepared({});
  await using _ = files;
  const context = contextOf(keyHolder);
  const nothing = { ...file, security: security('') };
  assert.equal(await opening(context, nothing), allAccess);
  assert.equal(await opening(context, { path: ['d', 'new'], access: readData }), no);
  assert.equal(await opening(context, { path: ['d', 'new'], access: appendData }), no);
});
