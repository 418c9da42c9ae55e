// A process that puts, copies and deletes contents, and reclaims their space, is killed again and again on the
// same folder: every owner it told of is there with all its bytes, and the rows agree with each other.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { unpackPiece } from '#src/services/common/content-rows.js';
import { bytesOf, checkRows, readAll } from '#src/services/common/contents.suite.js';
import { type Owner, openOwnedContents } from './contents-store.js';
import { runAndKill } from './kill.js';

const rounds = process.env['LAZULI_FULL'] === '1' ? 60 : 4;
const seed = 21;

/** What may be there for each owner: `undefined` for nothing. More than one where the last was cut off. */
type Expected = Map<string, readonly (string | undefined)[]>;

test(`${rounds} times killed while contents change: all that was told is whole (seed ${seed})`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-contents-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const random = seededRandom(seed);
  const expected: Expected = new Map();
  let told = 0;
  for (let round = 0; round < rounds; round++) {
    const lines = await runAndKill('contents-writer.js', [folder, `${seed + round}`], {
      afterLines: 100 + Math.floor(random() * 400),
    });
    told += lines.filter((line) => line.startsWith('done')).length;
    for (const line of lines) note(expected, line);
    await check(folder, expected);
  }
  t.diagnostic(`${told} changes told of`);
});

function note(expected: Expected, line: string): void {
  const [verb = '', ...rest] = line.split(' ');
  const [owner = ''] = rest;
  const before = expected.get(owner) ?? [undefined];
  if (verb === 'done') noteDone(expected, rest);
  if (verb === 'put') expected.set(owner, [...before, rest.slice(1).join(' ')]);
  if (verb === 'delete') expected.set(owner, [...before, undefined]);
  // What is copied is not known until it is done: any content may be there.
  if (verb === 'copy') expected.set(owner, [...before, 'any']);
}

function noteDone(expected: Expected, [verb, owner = '', ...content]: readonly string[]): void {
  const [first, ...later] = expected.get(owner) ?? [];
  if (verb === 'put') expected.set(owner, [later.at(-1)]);
  if (verb === 'delete') expected.set(owner, [undefined]);
  if (verb === 'copy') expected.set(owner, [content.join(' ')]);
  if (verb === 'nothing') expected.set(owner, [first, ...later].slice(0, -1));
}

async function check(folder: string, expected: Expected): Promise<void> {
  const reported: unknown[] = [];
  await using opened = await openOwnedContents(folder, (error) => reported.push(error));
  const found = await opened.store.run(async (tx) => {
    const all = new Map<string, Owner>();
    for await (const [key, owner] of opened.owners.entries(tx)) all.set(String(key), owner);
    return all;
  });
  for (const [owner, possible] of expected) {
    const there = found.get(owner);
    const shown = there && `${there.salt} ${there.length}`;
    assert.ok(possible.includes(shown) || possible.includes('any'), `${owner}: ${shown}, not ${possible}`);
    expected.set(owner, [shown]);
  }
  const references = new Map<string, number>();
  for (const { salt, length, piece } of found.values()) {
    const reader = await opened.store.run((tx) => opened.contents.open(tx, [unpackPiece(piece)]));
    assert.ok((await readAll(reader)).equals(bytesOf(length, salt)));
    const name = `${piece[0]} ${piece[1]}`;
    references.set(name, (references.get(name) ?? 0) + 1);
  }
  await checkRows(opened, references);
  await opened.reclaim.makeRoom();
  await checkRows(opened, references);
  assert.deepEqual(reported, []);
}
