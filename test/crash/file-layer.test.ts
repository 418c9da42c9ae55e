// Everything that is stored goes through base/files.ts, so that a test can record it and cut it off anywhere. Who
// changes files without it is named here, with the reason why a power cut does no harm.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../support/program.js';

const exceptions: Readonly<Record<string, string>> = {
  'base/files.ts': 'it is the layer',
  'engine/durable-mark.ts':
    'a note that is true whether it reached the disk or not; stands before each answer',
  'engine/owner.ts': 'the lock of LevelDB: an empty store that is made anew where it is damaged',
  'server/admin/admin.ts': 'a socket',
  'server/commands/reset.ts': 'everything is to be removed',
  'server/data-folder.ts': 'a folder for a socket',
  'server/debug-log.ts': 'a log for people to read',
  'server/dev-cert.ts': 'a certificate, which is made anew',
  'server/run.ts': 'the folder that the data folder lies in',
};

const changing =
  /\b(appendFile|chmod|copyFile|cp|createWriteStream|fsync|link|mkdir|mkdtemp|open|rename|rm|rmdir|symlink|truncate|unlink|write|writeFile)(Sync)?\b/;

function changesFiles(text: string): boolean {
  const imports = [...text.matchAll(/import (?:\* as \w+|[^;]*?) from 'node:fs(?:\/promises)?'/g)].map(
    ([all]) => all,
  );
  return imports.some((one) => changing.test(one) || one.includes('* as'));
}

test('what changes files goes through the one layer for it', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.ts$/.test(name) && !/\.(test|suite|simulated)\.ts$/.test(name));
  const found = files.filter((name) => changesFiles(readFileSync(join(root, 'src', name), 'utf8')));
  // One that only reads, with a handle of its own, is told by its `r`.
  const writers = found.filter((name) => name !== 'engine/table-guard.ts');
  assert.deepEqual(writers.sort(), Object.keys(exceptions).sort());
  assert.ok(files.length > 300, 'all were looked at');
});

test('an import that writes is known', () => {
  for (const text of [
    "import { readFile, writeFile } from 'node:fs/promises';",
    "import {\n  mkdirSync,\n} from 'node:fs';",
    "import * as fs from 'node:fs';",
  ])
    assert.ok(changesFiles(text), text);
  assert.ok(!changesFiles("import { readFileSync, existsSync } from 'node:fs';\nwriteFile();"));
});
