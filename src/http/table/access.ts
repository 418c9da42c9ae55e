// Which letters and roles each write of an entity needs: for the rows of the table, and for the operations
// inside a transaction.

import type { EntityWrite } from '../../services/table/entities.js';
import type { Access } from '../auth/permissions.js';
import { takeApart } from '../dispatch.js';

// biome-ignore format: a table
export const access = {
  insert: ['o:a',   'a',   'entities/add/action|entities/write'],
  update: ['o:u',   'u',   'entities/update/action|entities/write'],
  upsert: ['o:a+u', 'a+u', 'entities/write'],
  delete: ['o:d',   'd',   'entities/delete'],
  read:   ['o:r',   'r',   'entities/read'],
} as const;

function apart(row: (typeof access)[keyof typeof access]): Access {
  return takeApart([
    'a write inside a transaction',
    'POST /$batch',
    '',
    '',
    row,
    ['', 'none'],
    'primary',
    () => {
      throw new Error('never called');
    },
  ]);
}

const byKind = {
  insert: apart(access.insert),
  update: apart(access.update),
  upsert: apart(access.upsert),
  delete: apart(access.delete),
};

export const readAccess = apart(access.read);

export function accessOf(write: EntityWrite): Access {
  if (write.kind === 'insert' || write.kind === 'delete') return byKind[write.kind];
  return write.match === undefined ? byKind.upsert : byKind.update;
}
