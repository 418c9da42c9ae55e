import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReservedName, matchesPattern, parsePath, readName } from './names.js';
import { Refused } from './status.js';

// biome-ignore format: a table
const paths = [
  ['',              []],
  ['a',             ['a']],
  ['a\\b',          ['a', 'b']],
  ['a\\',           ['a']],
  ['a \\b.',        ['a ', 'b.']],
  ['a\\..\\b',      ['b']],
  ['a\\..',         []],
  ['..',            'OBJECT_PATH_SYNTAX_BAD'],
  ['a\\..\\..',     'OBJECT_PATH_SYNTAX_BAD'],
  ['.',             'OBJECT_NAME_INVALID'],
  ['a\\\\b',        'OBJECT_NAME_INVALID'],
  ['a:b',           'OBJECT_NAME_INVALID'],
  ['a::$DATA',      'OBJECT_NAME_INVALID'],
  ['a/b',           'OBJECT_NAME_INVALID'],
  ['a*',            'OBJECT_NAME_INVALID'],
  ['a\u0001',       'OBJECT_NAME_INVALID'],
  ['a'.repeat(255), ['a'.repeat(255)]],
  ['a'.repeat(256), 'OBJECT_NAME_INVALID'],
  [`${'a\\'.repeat(1100)}a`, 'OBJECT_NAME_INVALID'],
] as const;
for (const [name, outcome] of paths) {
  test(`the path ${JSON.stringify(name.slice(0, 20))} is ${JSON.stringify(outcome).slice(0, 40)}`, () => {
    if (typeof outcome === 'string') assert.throws(() => parsePath(name), new Refused(outcome));
    else assert.deepEqual(parsePath(name).path, outcome);
  });
}

test('a name is whole UTF-16 without zeros', () => {
  assert.throws(() => readName(Buffer.from('abc')), new Refused('INVALID_PARAMETER'));
  assert.throws(() => readName(Buffer.from('a\0', 'utf16le')), new Refused('OBJECT_NAME_INVALID'));
  assert.throws(() => readName(Buffer.from('\ud800a', 'utf16le')), new Refused('OBJECT_NAME_INVALID'));
  assert.equal(readName(Buffer.from('ä😀', 'utf16le')), 'ä😀');
});

test('device names are reserved, also in lower case, not with an extension', () => {
  assert(['CON', 'nul', 'Com1', 'lpt9', 'clock$'].every(isReservedName));
  assert(!['con.txt', 'com0', 'console', ''].some(isReservedName));
});

// biome-ignore format: a table
const patterns = [
  ['*',        'anything',   true],
  ['*.*',      'nodot',      true],
  ['*.TXT',    'a.txt',      true],
  ['*.txt',    'a.txtx',     false],
  ['a?c',      'abc',        true],
  ['a?c',      'ac',         false],
  ['a>c',      'ac',         false],
  ['abc>',     'abc',        true],
  ['a>.b',     'a.b',        true],
  ['<.txt',    'a.b.txt',    true],
  ['a"txt',    'a.txt',      true],
  ['a"',       'a',          true],
  ['a"',       'ab',         false],
  ['<',        'a.b.c',      false],  // `*.` of DOS: names without an extension
  ['<',        'abc',        true],
  ['A*b*C',    'axxbxxc',    true],
  ['A*b*C',    'axxcxxb',    false],
] as const;
for (const [pattern, name, matches] of patterns) {
  test(`${name} ${matches ? 'matches' : 'does not match'} ${pattern}`, () => {
    assert.equal(matchesPattern(name, pattern), matches);
  });
}

test('a pattern of many wildcards costs no more than its length', () => {
  const begun = process.cpuUsage().user;
  assert.equal(matchesPattern('a'.repeat(255), `${'*a'.repeat(127)}b`), false);
  assert(process.cpuUsage().user - begun < 1_000_000);
});
