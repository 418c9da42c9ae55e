import assert from 'node:assert/strict';
import { test } from 'node:test';
import { access, allAccess, share } from './access.js';
import {
  afterClose,
  attributesOnly,
  leaseRefusesOpen,
  type RestUse,
  readsPermissionsOnly,
  restConflict,
  sharingConflict,
  usesFile,
} from './opens-rules.js';

/** The cells of a table in text: rows named on the left, columns above. */
function cells(table: string): { row: string; column: string; cell: string }[] {
  const split = (line: string) => line.trim().split(/\s{2,}/);
  const [head, ...rows] = table.trim().split('\n');
  const columns = split(head ?? '');
  return rows.flatMap((line) => {
    const [row = '', ...values] = split(line);
    assert.equal(values.length, columns.length, line);
    return values.map((cell, index) => ({ row, column: columns[index] ?? '', cell }));
  });
}

const shareBits: Record<string, number> = { R: share.read, W: share.write, D: share.delete };
const shareOf = (text: string) =>
  [...text.replace('none', '')].reduce((bits, letter) => bits | (shareBits[letter] ?? 0), 0);
const rights: Record<string, number> = {
  attributes: access.readAttributes | access.writeAttributes | access.synchronize,
  permissions: access.readControl | access.writeDac | access.writeOwner,
  read: access.readData,
  execute: access.execute,
  write: access.writeData,
  append: access.appendData,
  delete: access.delete,
};

// One open does what the row says and shares all; another reads its attributes for all the column shares
// and reads, so that it is hindered only by what the column does not share.
const oneAgainstShare = `
               none  R   W   D   RW  RD  WD  RWD
  attributes   ok    ok  ok  ok  ok  ok  ok  ok
  permissions  ok    ok  ok  ok  ok  ok  ok  ok
  read         X     ok  X   X   ok  ok  X   ok
  execute      X     ok  X   X   ok  ok  X   ok
  write        X     X   ok  X   ok  X   ok  ok
  append       X     X   ok  X   ok  X   ok  ok
  delete       X     X   X   ok  X   ok  ok  ok
`;
for (const { row, column, cell } of cells(oneAgainstShare)) {
  test(`an open to ${row} beside one that reads and shares ${column}: ${cell}`, () => {
    const one = { access: rights[row] ?? 0, share: share.all };
    const other = { access: access.readData, share: shareOf(column) };
    assert.equal(sharingConflict(one, other), cell === 'X');
    assert.equal(sharingConflict(other, one), cell === 'X', 'whoever came first');
  });
}

test('an open of attributes alone is not hindered by one that shares nothing, nor hinders it', () => {
  const looking = { access: rights.attributes ?? 0, share: share.none };
  const alone = { access: allAccess, share: share.none };
  assert.equal(sharingConflict(looking, alone), false);
  assert.equal(sharingConflict(alone, looking), false);
  assert(attributesOnly(looking.access) && !usesFile(looking.access));
  assert(!attributesOnly(access.readControl));
  assert(readsPermissionsOnly(access.readControl) && !readsPermissionsOnly(access.writeDac));
});

// The published matrix: rows are the share modes of an SMB open with all access.
const restMatrix = `
         createOverwrite  copyOnto  getFile  copySource  listRanges  putRange  setProperties  setMetadata  deleteFile  acquireLease
  none   X                X         X        X           X           X         X              X            X           X
  R      X                X         ok       ok          ok          X         X              X            X           X
  W      X                X         X        X           X           ok        ok             ok           X           X
  D      X                X         X        X           X           X         X              X            X           X
  RW     X                X         ok       ok          ok          ok        ok             ok           X           X
  RD     X                X         ok       ok          ok          X         X              X            X           X
  WD     ok               ok        X        X           X           ok        ok             ok           X           X
  RWD    ok               ok        ok       ok          ok          ok        ok             ok           X           X
`;
for (const { row, column, cell } of cells(restMatrix)) {
  test(`REST ${column} beside an SMB open that shares ${row}: ${cell}`, () => {
    const open = { access: allAccess, share: shareOf(row) };
    assert.equal(restConflict(column as RestUse, open), cell === 'X');
  });
}

// The same beside an open that shares everything, by what it does itself.
const restLease = `
               acquireLease  deleteFile  putRange  getFile
  attributes   ok            X           ok        ok
  read         ok            X           ok        ok
  write        X             X           ok        ok
  append       X             X           ok        ok
  delete       X             X           ok        ok
`;
for (const { row, column, cell } of cells(restLease)) {
  test(`REST ${column} beside an SMB open to ${row}: ${cell}`, () => {
    const open = { access: rights[row] ?? 0, share: share.all };
    assert.equal(restConflict(column as RestUse, open), cell === 'X');
  });
}

const leased = `
               available  leased
  attributes   ok         ok
  permissions  ok         ok
  read         ok         ok
  execute      ok         ok
  write        ok         X
  append       ok         X
  delete       ok         X
`;
for (const { row, column, cell } of cells(leased)) {
  test(`an SMB open to ${row} of a file whose REST lease is ${column}: ${cell}`, () => {
    assert.equal(leaseRefusesOpen(column === 'leased', rights[row] ?? 0, false), cell === 'X');
  });
}

test('a leased file refuses an open that overwrites, whatever its access', () => {
  assert.equal(leaseRefusesOpen(true, access.readData, true), true);
  assert.equal(leaseRefusesOpen(false, access.readData, true), false);
});

const closing = `
                                     others left  last  last, forced
  nothing                            open         forget  forget
  handle deletes                     marked       remove  forget
  marked                             marked       remove  remove
  marked, handle deletes             marked       remove  remove
`;
for (const { row, column, cell } of cells(closing)) {
  test(`closing a handle, ${column}, of a file with ${row}: ${cell}`, () => {
    const after = afterClose({
      deletePending: row.startsWith('marked'),
      handleDeletes: row.includes('handle deletes'),
      handlesLeft: column === 'others left' ? 1 : 0,
      forced: column.endsWith('forced'),
    });
    assert.equal(after, cell);
  });
}

test('closing by force while others remain drops delete-on-close and keeps a mark', () => {
  const file = { handlesLeft: 1, forced: true };
  assert.equal(afterClose({ ...file, deletePending: false, handleDeletes: true }), 'open');
  assert.equal(afterClose({ ...file, deletePending: true, handleDeletes: false }), 'marked');
});
