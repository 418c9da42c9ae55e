import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from './command-line.js';
import { nearest } from './nearest.js';
import { optionNames, options, variableOf } from './options.js';

// biome-ignore format: a table
const lines: readonly (readonly [args: string, command: string, words: string, given: object])[] = [
  ['',                                 'start',   '',           {}],
  ['start',                            'start',   '',           {}],
  ['-s -l data',                       'start',   '',           { silent: true, location: 'data' }],
  ['--location=data --silent',         'start',   '',           { silent: true, location: 'data' }],
  ['--LOCATION data',                  'start',   '',           { location: 'data' }],
  ['blob --blobPort 0',                'blob',    '',           { blobPort: '0' }],
  ['azurite-queue',                    'queue',   '',           {}],
  ['account create mine -l data',      'account', 'create mine', { location: 'data' }],
  ['--silent=false',                   'start',   '',           { silent: 'false' }],
  ['--blobHost ::1 --pwd=a=b',         'start',   '',           { blobHost: '::1', pwd: 'a=b' }],
];
for (const [args, command, words, given] of lines) {
  test(`lazuli ${args}`, () => {
    const parsed = parseCommandLine(args.split(' ').filter((word) => word !== ''));
    assert.deepEqual(
      { command: parsed.command, words: parsed.words.join(' '), given: Object.fromEntries(parsed.given) },
      { command, words, given },
    );
  });
}

test('a program called azurite-table serves tables', () => {
  assert.equal(parseCommandLine(['-s'], 'azurite-table').command, 'table');
  assert.equal(parseCommandLine(['-s'], 'lazuli-blob').command, 'blob');
  assert.equal(parseCommandLine(['-s'], 'azurite').command, 'start');
});

// biome-ignore format: a table
const meant: readonly (readonly [wrong: string, right: string | undefined])[] = [
  ['blobprot',   'blobPort'],
  ['locaton',    'location'],
  ['cert-file',  undefined],
  ['inmemory',   undefined],
  ['slient',     'silent'],
];
for (const [wrong, right] of meant) {
  test(`--${wrong} was meant for ${right ?? 'nothing that is near'}`, () =>
    assert.equal(nearest(wrong, optionNames), right));
}

test('a wrong command says what was meant', () => {
  assert.throws(() => parseCommandLine(['strat']), /no command strat; did you mean start\?/);
  assert.throws(() => parseCommandLine(['frobnicate']), /--help lists the commands/);
});

test('variables are named after options', () => {
  assert.equal(variableOf('blobKeepAliveTimeout'), 'LAZULI_BLOB_KEEP_ALIVE_TIMEOUT');
  assert.equal(new Set(options.map(({ name }) => variableOf(name))).size, options.length);
});

// biome-ignore format: a table
const refused: readonly (readonly [args: string, message: RegExp])[] = [
  ['-l --silent',            /--location needs a value: --location <folder>/],
  ['--location -s',          /--location needs a value/],
  ['--debug --blobPort=1',   /--debug needs a value/],
  ['start ./data',           /start does not take \.\/data/],
  ['queue work',             /queue does not take work/],
  ['verify data',            /verify does not take data/],
  ['backup a b',             /backup does not take b/],
  ['constructor',            /there is no command constructor/],
];
for (const [args, message] of refused) {
  test(`lazuli ${args} is refused`, () => assert.throws(() => parseCommandLine(args.split(' ')), message));
}

test('a value may begin with a hyphen', () => {
  assert.equal(parseCommandLine(['--pwd', '-secret']).given.get('pwd'), '-secret');
  assert.equal(parseCommandLine(['--location=-s']).given.get('location'), '-s');
});
