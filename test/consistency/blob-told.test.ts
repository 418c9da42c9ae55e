// Many clients on a few blobs, in process, where every few commits are refused or lost: what one of them was told stays
// true for all, and at the end nothing is left of what was deleted.

import { test } from 'node:test';
import { tellOfBlobs } from './told-blobs.js';

for (const [seed, gone, turnsUp, refused, loaded, keeping] of [
  [1, 0, 0, 0, 0, 'nothing'],
  [2, 0.08, 0, 0, 0.5, 'nothing'],
  [3, 0.08, 0, 0.1, 1, 'versions'],
  [4, 0, 0.03, 0, 0.5, 'soft delete'],
  [5, 0.02, 0.02, 0.1, 1, 'nothing'],
  [6, 0.08, 0, 0.3, 0, 'soft delete'],
] as const) {
  test(`what was told of blobs stays true: ${gone} of the groups lost, ${turnsUp} turn up, ${refused} of the calls refused, load ${loaded}, ${keeping} kept (seed ${seed})`, () =>
    tellOfBlobs(seed, { gone, turnsUp, refused, slow: 0.2, loaded }, 75, keeping));
}
