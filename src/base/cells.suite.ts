// A table in a test, aligned by hand, taken apart into its cells. Columns are two or more blanks apart, so
// an entry may contain single ones; an empty entry does not exist, write `-`.
//
//   const outcomes = `
//                  acquire A   acquire B
//     available    leased A    leased B
//     leased A     leased A    409
//   `;
//   for (const { row, column, cell } of cells(outcomes)) ...   // 'leased A', 'acquire B', '409'

import { assert } from './assert.js';

export type Cell = Readonly<{ row: string; column: string; cell: string }>;

/** A table whose first line names the columns after the first, and whose first column names the rows. */
export function cells(table: string): Cell[] {
  const [columns = [], ...lines] = split(table);
  return lines.flatMap(([row = '', ...entries]) => {
    assert(
      entries.length === columns.length,
      `${row}: ${entries.length} cells for ${columns.length} columns`,
    );
    return entries.map((cell, index) => ({ row, column: columns[index] ?? '', cell }));
  });
}

/** A table whose first line names every column: each further line is a record. */
export function rows(table: string): Record<string, string>[] {
  const [columns = [], ...lines] = split(table);
  return lines.map((entries) => {
    assert(
      entries.length === columns.length,
      `${entries[0]}: ${entries.length} entries, ${columns.length} columns`,
    );
    return Object.fromEntries(entries.map((entry, index) => [columns[index] ?? '', entry]));
  });
}

function split(table: string): string[][] {
  const lines = table.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map((line) => line.split(/ {2,}/));
}
