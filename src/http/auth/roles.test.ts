import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '../../base/cells.suite.js';
import { isRole, type Role, roleAllows } from './roles.js';

const matrix = `
                                      reader   contributor   owner
  containers/read                     yes      yes           yes
  containers/write                    no       yes           yes
  containers/delete                   no       yes           yes
  generateUserDelegationKey/action    yes      yes           yes
  blobs/read                          yes      yes           yes
  blobs/write                         no       yes           yes
  blobs/delete                        no       yes           yes
  blobs/add/action                    no       yes           yes
  blobs/move/action                   no       yes           yes
  blobs/tags/read                     no       no            yes
  blobs/tags/write                    no       no            yes
  tags/read                           no       no            yes
  blobs/filter/action                 no       no            yes
  blobs/manageOwnership/action        no       no            yes
  blobs/modifyPermissions/action      no       no            yes
  messages/read                       yes      yes           yes
  messages/add                        no       yes           yes
  messages/process/action             no       yes           yes
  entities/update/action              no       yes           yes
  fileshares/files/read               yes      yes           yes
`;

for (const { row, column, cell } of cells(matrix)) {
  test(`${column} and ${row}: ${cell}`, () => {
    assert.ok(isRole(column));
    assert.equal(roleAllows(column as Role, [row]), cell === 'yes');
  });
}

test('one of several actions will do; of none, none', () => {
  assert.ok(roleAllows('reader', ['blobs/write', 'blobs/read']));
  assert.ok(!roleAllows('owner', []));
});
