import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import { StorageError } from './errors.js';
import { checkBlockId, checkName, isBlockId, isSystemContainer, type nameRules } from './names.js';

/** In the table `a*63` is the letter 63 times, `\u` an escape, `-` alone is nothing. */
function spelled(text: string): string {
  if (text === 'empty') return '';
  return text
    .replace(/(\S)\*(\d+)/g, (_, letter: string, count: string) => letter.repeat(Number(count)))
    .replace(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function verdict(kind: keyof typeof nameRules, name: string): string {
  try {
    checkName(kind, name);
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof StorageError);
    return error.code;
  }
}

const names = `
  kind           name              verdict
  account        abc               ok
  account        devstoreaccount1  ok
  account        a*24              ok
  account        ab                OutOfRangeInput
  account        a*25              OutOfRangeInput
  account        Abc               InvalidResourceName
  account        a-b               InvalidResourceName
  container      abc               ok
  container      a*63              ok
  container      0-0               ok
  container      a-b-c             ok
  container      ab                OutOfRangeInput
  container      empty             OutOfRangeInput
  container      a*64              OutOfRangeInput
  container      a--b              InvalidResourceName
  container      -ab               InvalidResourceName
  container      ab-               InvalidResourceName
  container      Abc               InvalidResourceName
  container      a_b               InvalidResourceName
  container      a.b               InvalidResourceName
  container      abc\\u000a        InvalidResourceName
  container      äbc               InvalidResourceName
  container      $root             ok
  container      $web              ok
  container      $logs             ok
  container      $blobchangefeed   ok
  container      $other            InvalidResourceName
  newContainer   abc               ok
  newContainer   $root             ok
  newContainer   $web              ok
  newContainer   $logs             InvalidResourceName
  newContainer   $blobchangefeed   InvalidResourceName
  queue          abc               ok
  queue          a*63              ok
  queue          a*64              OutOfRangeInput
  queue          ab                OutOfRangeInput
  queue          a--b              InvalidResourceName
  queue          $root             InvalidResourceName
  share          abc               ok
  share          $root             InvalidResourceName
  share          Share             InvalidResourceName
  table          abc               ok
  table          Abc1              ok
  table          a*63              ok
  table          a*64              OutOfRangeInput
  table          ab                OutOfRangeInput
  table          1bc               InvalidResourceName
  table          a-b               InvalidResourceName
  table          a_b               InvalidResourceName
  table          tables            InvalidResourceName
  table          Tables            InvalidResourceName
  blob           a                 ok
  blob           a*1024            ok
  blob           a*1025            InvalidUri
  blob           empty             InvalidUri
  blob           /                 ok
  blob           //a//             ok
  blob           a/b.c/..          ok
  blob           ä\\u0001          ok
  blob           \\u0080           InvalidResourceName
  blob           \\u0081           ok
  blob           \\u008c           InvalidResourceName
  blob           \\ufdd0           ok
  blob           \\ufdd1           InvalidResourceName
  blob           \\ufff0           InvalidResourceName
  blob           \\ufffe           ok
  blob           \\uffff           ok
  blob           \\ud800           InvalidResourceName
  blob           \\ud83d\\ude00    ok
  rootBlob       a                 ok
  rootBlob       a/b               InvalidResourceName
  component      a                 ok
  component      a*255             ok
  component      a*256             InvalidResourceName
  component      empty             InvalidResourceName
  component      a:b               InvalidResourceName
  component      a"b               InvalidResourceName
  component      a\\u005cb         InvalidResourceName
  component      a/b               InvalidResourceName
  component      a|b               InvalidResourceName
  component      a<b               InvalidResourceName
  component      a>b               InvalidResourceName
  component      a?b               InvalidResourceName
  component      a\\u002ab         InvalidResourceName
  component      a\\u001f          InvalidResourceName
  component      a\\u007f          InvalidResourceName
  component      a\\ud800          InvalidResourceName
  component      .                 InvalidResourceName
  component      ..                InvalidResourceName
  component      ...               ok
  component      con               InvalidResourceName
  component      CON               InvalidResourceName
  component      con.txt           ok
  component      lpt9              InvalidResourceName
  component      lpt0              ok
  component      COM1              InvalidResourceName
  component      CLOCK$            InvalidResourceName
  component      nul               InvalidResourceName
  component      prn               InvalidResourceName
  component      aux               InvalidResourceName
  path           empty             ok
  path           a/b/c             ok
  path           a//c              InvalidResourceName
  path           a/../c            InvalidResourceName
  path           a*2049            InvalidFileOrDirectoryPathName
`;

for (const { kind = '', name = '', verdict: wanted } of rows(names)) {
  test(`${kind} ${name} is ${wanted}`, () => {
    assert.equal(verdict(kind as keyof typeof nameRules, spelled(name)), wanted);
  });
}

test('a blob has 254 segments at most', () => {
  assert.equal(verdict('blob', Array(254).fill('a').join('/')), 'ok');
  assert.equal(verdict('blob', Array(255).fill('a').join('/')), 'InvalidUri');
});

test('a path has 2048 units at most', () => {
  assert.equal(verdict('path', `${'d'.repeat(254)}/`.repeat(8) + 'f'.repeat(8)), 'ok');
  assert.equal(
    verdict('path', `${'d'.repeat(254)}/`.repeat(8) + 'f'.repeat(9)),
    'InvalidFileOrDirectoryPathName',
  );
});

test('a path has 250 directories at most', () => {
  const path = (directories: number) => [...Array(directories).fill('d'), 'file'].join('/');
  assert.equal(verdict('path', path(250)), 'ok');
  assert.throws(() => checkName('path', path(251)), {
    code: 'InvalidFileOrDirectoryPathName',
    message: 'File or directory path has too many subdirectories.',
  });
});

test("$logs is the service's own, $root and $web are not", () => {
  assert.ok(isSystemContainer('$logs'));
  assert.ok(!isSystemContainer('$root'));
  assert.ok(!isSystemContainer('$web'));
});

const blockIds = `
  id             is
  AAAA           yes
  AA==           yes
  AAA=           yes
  A*84AAA=       no
  A*84AA==       yes
  +/+/           yes
  AAA            no
  AA-_           no
  empty          no
  =AAA           no
  AA==AAAA       no
`;

for (const { id = '', is } of rows(blockIds)) {
  test(`${id} as a block id: ${is}`, () => {
    assert.equal(isBlockId(spelled(id)), is === 'yes');
  });
}

test('a block id of 64 bytes is the longest', () => {
  assert.ok(isBlockId(Buffer.alloc(64).toString('base64')));
  assert.ok(!isBlockId(Buffer.alloc(65).toString('base64')));
  assert.throws(() => checkBlockId('?'), {
    code: 'InvalidQueryParameterValue',
    details: {
      QueryParameterName: 'blockid',
      QueryParameterValue: '?',
      Reason: 'Not a valid base64 string.',
    },
  });
});
