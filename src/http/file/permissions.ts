// Create Permission and Get Permission: security descriptors of a share by their keys, in JSON.

import { orThrow, StorageError } from '../../services/common/errors.js';
import { readDescriptor } from '../../services/file/descriptor.js';
import { loadPermission, storePermission } from '../../services/file/permissions.js';
import { formatSddl } from '../../services/file/sddl.js';
import type { FileService } from '../../services/file/service.js';
import { findShare } from '../../services/file/share-access.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { requireHeader } from '../headers.js';
import { refuseSnapshot, shareKey } from './requests.js';
import { type PermissionFormat, permissionFormat, readPermission } from './smb-headers.js';

/** The text of 64 KiB in Base64, and what is around it. */
const longestBody = 96 * 1024;

export async function createPermission(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const key = shareKey(call);
  const { text, format } = parse(await call.body.readAll(longestBody));
  const descriptor = readPermission(text, format);
  const stored = await store.run(async (tx) =>
    storePermission(store, tx, (await findShare(store, tx, key)).id, descriptor),
  );
  return { status: 201, headers: ['x-ms-file-permission-key', stored] };
}

/** Names of properties in any case. */
function parse(body: Buffer): { text: string; format: PermissionFormat } {
  let document: unknown;
  try {
    document = JSON.parse(body.toString('utf8'));
  } catch {
    throw new StorageError('InvalidInput');
  }
  if (typeof document !== 'object' || document === null) throw new StorageError('InvalidInput');
  const fields = new Map(Object.entries(document).map(([name, value]) => [name.toLowerCase(), value]));
  const text: unknown = fields.get('permission');
  const format: unknown = fields.get('format') ?? 'sddl';
  if (typeof text !== 'string' || typeof format !== 'string') throw new StorageError('InvalidInput');
  const known = (['Sddl', 'Binary'] as const).find((word) => word.toLowerCase() === format.toLowerCase());
  if (known === undefined) throw new StorageError('InvalidInput');
  return { text, format: known };
}

export async function getPermission(call: Call, { store }: FileService): Promise<Answer> {
  refuseSnapshot(call);
  const share = shareKey(call);
  const key = requireHeader(call, 'x-ms-file-permission-key');
  const format = permissionFormat(call);
  const stored = await store.run(async (tx) =>
    loadPermission(store, tx, (await findShare(store, tx, share)).id, key),
  );
  const permission =
    format === 'Binary' ? stored.toString('base64') : orThrow(formatSddl(orThrow(readDescriptor(stored))));
  const told = call.headers['x-ms-file-permission-format'] === undefined ? {} : { format };
  const body = JSON.stringify({ permission, ...told });
  return { status: 200, headers: ['Content-Type', 'application/json'], body };
}
