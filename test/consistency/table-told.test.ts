// Many clients on a table, in process, where every few commits are refused or lost: what one of them was told stays
// true for all, whichever way it was asked.

import { test } from 'node:test';
import { tellOfTables } from './told-tables.js';

for (const [seed, gone, turnsUp, refused, loaded] of [
  [1, 0, 0, 0.2, 0],
  [2, 0.08, 0, 0, 0.5],
  [3, 0, 0.08, 0, 0.5],
  [4, 0.08, 0.08, 0.1, 1],
  [5, 0.05, 0.05, 0.3, 0],
  [6, 0.08, 0, 0.1, 1],
] as const) {
  test(`what was told of a table stays true: ${gone} of the groups lost, ${turnsUp} turn up, ${refused} of the calls refused, load ${loaded} (seed ${seed})`, () =>
    tellOfTables(seed, { gone, turnsUp, refused, slow: 0.2, loaded }, 75));
}
