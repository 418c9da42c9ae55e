// One bit flipped anywhere in any file: every read gives what was written, or an error that names the file.

import assert from 'node:assert/strict';
import { cp, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { DamageError } from '#src/engine/errors.js';
import {
  type Checking,
  type Content,
  filesOf,
  flipBit,
  makeStore,
  openStore,
  readAll,
  temporaryFolder,
} from './damaged-store.js';

const trials = process.env.LAZULI_FULL ? 200 : 40;
const seed = Number(process.env.LAZULI_SEED ?? 1);

async function trial(
  store: { location: string; content: Content },
  copy: string,
  file: string,
  bit: number,
  checking: Checking,
): Promise<'found' | 'harmless'> {
  await cp(store.location, copy, { recursive: true });
  await flipBit(join(copy, file), bit);
  const what = `bit ${bit} of ${file}`;
  const namesIt = (error: unknown) => {
    assert.ok(error instanceof DamageError, `${what}: ${error}`);
    assert.ok(error.message.includes(basename(file)), `${what}: ${error.message}`);
  };
  try {
    await using engine = await openStore(copy, checking);
    const { wrong, errors } = await readAll(engine, store.content);
    assert.deepEqual(wrong, [], what);
    errors.forEach(namesIt);
    return errors.length > 0 ? 'found' : 'harmless';
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    namesIt(error);
    return 'found';
  }
}

for (const end of ['closed', 'killed'] as const) {
  test(`${trials} bits flipped in a store that was ${end} (seed ${seed})`, async (t) => {
    const folder = await temporaryFolder(t);
    const location = join(folder, 'store');
    const content = await makeStore(location, end, seed);
    const files = filesOf(location);
    assert.ok(files.filter((file) => file.endsWith('.ldb')).length >= 2, 'there are tables');
    const random = seededRandom(seed);
    const outcomes: string[] = [];
    for (let index = 0; index < trials; index++) {
      const file = files[Math.floor(random() * files.length)] as string;
      const { size } = await stat(join(location, file));
      if (size === 0) continue;
      const bit = Math.floor(random() * size * 8);
      const checking = index % 2 === 0 ? 'before' : 'lazily';
      const outcome = await trial({ location, content }, join(folder, `${index}`), file, bit, checking);
      outcomes.push(outcome);
      if (process.env.LAZULI_VERBOSE) console.log(outcome, checking, file, bit);
    }
    assert.ok(
      outcomes.filter((outcome) => outcome === 'found').length > outcomes.length / 4,
      'damage is found',
    );
  });
}
