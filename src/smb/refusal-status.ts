// The status of whatever a handler throws: the refusals of the file service in the words of the protocol.

import { type FileRefusal, FileRefused } from '../services/file/refusals.js';
import { Refused, type Status } from './status.js';

// biome-ignore format: a table
const refusalStatus = {
  NameNotFound: 'OBJECT_NAME_NOT_FOUND', PathNotFound: 'OBJECT_PATH_NOT_FOUND',
  NameCollision: 'OBJECT_NAME_COLLISION', NameInvalid: 'OBJECT_NAME_INVALID',
  IsADirectory: 'FILE_IS_A_DIRECTORY', NotADirectory: 'NOT_A_DIRECTORY',
  DirectoryNotEmpty: 'DIRECTORY_NOT_EMPTY', AccessDenied: 'ACCESS_DENIED', CannotDelete: 'CANNOT_DELETE',
  SharingViolation: 'SHARING_VIOLATION', DeletePending: 'DELETE_PENDING',
  FileLockConflict: 'FILE_LOCK_CONFLICT', LockNotGranted: 'LOCK_NOT_GRANTED',
  RangeNotLocked: 'RANGE_NOT_LOCKED', HandleClosed: 'FILE_CLOSED', DiskFull: 'DISK_FULL',
  WriteProtected: 'MEDIA_WRITE_PROTECTED', InvalidParameter: 'INVALID_PARAMETER',
  TooManyOpens: 'TOO_MANY_OPENED_FILES', TooManyLocks: 'INSUFFICIENT_RESOURCES',
  LeaseNotFound: 'OBJECT_NAME_NOT_FOUND', LeaseNotBreaking: 'UNSUCCESSFUL',
  LeaseStateTooStrong: 'REQUEST_NOT_ACCEPTED', ShareNotFound: 'NETWORK_NAME_DELETED', Cancelled: 'CANCELLED',
} as const satisfies Record<FileRefusal, Status>;

/** The status of whatever a handler threw. */
export function statusOf(error: unknown): Status {
  if (error instanceof Refused) return error.status;
  if (error instanceof FileRefused) return refusalStatus[error.code];
  return 'INTERNAL_ERROR';
}
