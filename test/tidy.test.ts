// What a reader would otherwise have to check: imports point down, no file is dead, no function outgrows
// a screen, and no word of this machine or of a registry is in the repository.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'src');

/** From the top down. An import points to a later row or stays in its folder. */
const layers = [['server'], ['http', 'smb'], ['services'], ['collections'], ['extents', 'engine'], ['base']];
/** Files that are started or imported from outside, by the command line or by package.json. */
const entries = ['server/main.ts', 'server/start.ts', 'collections/index.ts'];
const longestFunction = 70;

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(source, name));

type Import = { from: string; to: string };

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'|new URL\('(\.[^']+)'/g);
  return [...found].map((match) => ({
    from: file,
    to: resolve(dirname(file), (match[1] ?? match[2] ?? '').replace(/\.js$/, '.ts')),
  }));
}

const imports = files.flatMap(importsOf).filter(({ to }) => to.startsWith(source));
const show = (file: string) => relative(source, file);
const folder = (file: string) => show(file).split('/')[0] ?? '';
const layer = (file: string) => layers.findIndex((row) => row.includes(folder(file)));

test('every source folder has a place in the layers', () => {
  assert.deepEqual(
    [...new Set(files.map(folder))].filter((name) => !layers.flat().includes(name)),
    [],
  );
});

test('imports point down or stay in their folder', () => {
  const wrong = imports.filter(({ from, to }) => folder(from) !== folder(to) && layer(from) >= layer(to));
  assert.deepEqual(
    wrong.map(({ from, to }) => `${show(from)} imports ${show(to)}`),
    [],
  );
});

test('no file is dead: each is an entry, a test or imported by a file that is not its own test', () => {
  const used = new Set(
    imports.filter(({ from, to }) => from !== to.replace(/\.ts$/, '.test.ts')).map(({ to }) => to),
  );
  const dead = files
    .filter((file) => !file.endsWith('.test.ts') && !entries.includes(show(file)))
    .filter((file) => !used.has(file) && !usedFromOutside(file));
  assert.deepEqual(dead.map(show), []);
});

function usedFromOutside(file: string): boolean {
  const name = show(file).replace(/\.ts$/, '.js');
  return outside.some((text) => text.includes(`#src/${name}`));
}

const outside = ['test', 'bench', 'examples'].flatMap((name) => {
  try {
    return readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, name, file), 'utf8'));
  } catch {
    return [];
  }
});

test(`no function is longer than ${longestFunction} lines`, () => {
  assert.deepEqual(files.filter((file) => !/\.(test|suite)\.ts$/.test(file)).flatMap(longFunctions), []);
});

/** By indentation, which the formatter guarantees: a signature that ends in `{` and the `}` below it. */
function longFunctions(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const long: string[] = [];
  lines.forEach((line, start) => {
    if (
      !/^ *(export )?(default )?(async )?(function\b|(static |private |override |async |get |set |\*|#)*[\w#$]+(<.*>)?\(.*\)?(: .*)? \{$|const \w+ = (async )?\(.*=> \{$)/.test(
        line,
      )
    )
      return;
    if (/^ *(if|for|while|switch|catch|else|return|do|try|class|interface|type)\b/.test(line)) return;
    const indent = line.match(/^ */)?.[0] ?? '';
    const end = lines.findIndex((other, index) => index > start && other.startsWith(`${indent}}`));
    if (end - start > longestFunction) long.push(`${show(file)}:${start + 1} has ${end - start} lines`);
  });
  return long;
}

test('no registry host is in the lock file', () => {
  assert.doesNotMatch(readFileSync(join(root, 'package-lock.json'), 'utf8'), /https?:\/\/[^"]*registry/);
});
