// Documents say what is so: their tables are current, their links lead somewhere.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { withOptionsTable } from '#src/server/options-table.js';
import { root } from '../support/program.js';

test('the table of options in docs/configuration.md is current: else run node scripts/options-table.mjs', () => {
  const document = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  assert.equal(document, withOptionsTable(document));
});

const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

for (const document of documents) {
  test(`every link in ${document} leads somewhere`, () => {
    const text = readFileSync(join(root, document), 'utf8');
    const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => link);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    const missing = local.filter((link) => !existsSync(join(root, dirname(document), link)));
    assert.deepEqual(missing, []);
  });
}
