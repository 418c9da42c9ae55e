import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import { fold } from './folding.js';

const folded = `
  name      folded
  a.txt     A.TXT
  Ä-ö       Ä-Ö
  straße    STRAßE
  ı         ı
  ſ         ſ
  ﬁ         ﬁ
  µ         Μ
  𐐨         𐐀
  日本      日本
`;

for (const { name = '', folded: expected } of rows(folded)) {
  test(`${name} is folded to ${expected}`, () => assert.equal(fold(name), expected));
}

test('folding twice changes nothing', () => {
  for (let code = 0; code < 0x3000; code++) {
    const once = fold(String.fromCharCode(code));
    assert.equal(fold(once), once);
  }
});
