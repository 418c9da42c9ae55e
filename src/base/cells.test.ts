import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, rows } from './cells.suite.js';

test('a table is taken apart into its cells', () => {
  const found = cells(`
                 acquire A   renew
    available    leased A    409
    leased A     leased A    -
  `);
  assert.deepEqual(found, [
    { row: 'available', column: 'acquire A', cell: 'leased A' },
    { row: 'available', column: 'renew', cell: '409' },
    { row: 'leased A', column: 'acquire A', cell: 'leased A' },
    { row: 'leased A', column: 'renew', cell: '-' },
  ]);
});

test('a table whose columns all have names is taken apart into records', () => {
  assert.deepEqual(
    rows(`
      name    wanted
      a b     400
    `),
    [{ name: 'a b', wanted: '400' }],
  );
});

test('a missing cell is an error, not a test less', () => {
  assert.throws(() => cells('a  b\nrow  1'), /row: 1 cells for 2 columns/);
  assert.throws(() => rows('a  b\n1'), /1 entries, 2 columns/);
});
