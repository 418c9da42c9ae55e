// Why an operation on an open file is refused. Each protocol has its own word for each of these.

export const fileRefusals = {
  NameNotFound: 'There is no file or directory of this name.',
  PathNotFound: 'A directory on the way to this name does not exist.',
  NameCollision: 'There is a file or directory of this name already.',
  NameInvalid: 'The name is not allowed.',
  IsADirectory: 'A file was asked for and this is a directory.',
  NotADirectory: 'A directory was asked for and this is a file.',
  DirectoryNotEmpty: 'The directory is not empty.',
  AccessDenied: 'The handle, the attributes or the permissions of the file do not allow this.',
  CannotDelete: 'The file is read-only and cannot be deleted.',
  SharingViolation: 'Another open of the file does not share this access.',
  DeletePending: 'The file is marked for deletion and waits for its last handle to close.',
  FileLockConflict: 'Another handle has locked a part of these bytes.',
  LockNotGranted: 'Another handle holds a lock on a part of this range.',
  RangeNotLocked: 'This handle holds no lock on exactly this range.',
  HandleClosed: 'The handle is closed.',
  DiskFull: 'The share has no space left, or the file would grow beyond its limit.',
  WriteProtected: 'A snapshot cannot be changed.',
  InvalidParameter: 'The request contradicts itself or the kind of the file.',
  TooManyOpens: 'Too many handles are open.',
  TooManyLocks: 'Too many ranges are locked.',
  LeaseNotFound: 'This client holds no such lease.',
  LeaseNotBreaking: 'No break of this lease or oplock is under way.',
  LeaseStateTooStrong: 'The state acknowledged is more than what was offered.',
  ShareNotFound: 'The share does not exist or was deleted.',
  Cancelled: 'The wait was cancelled.',
} as const;

export type FileRefusal = keyof typeof fileRefusals;

export class FileRefused extends Error {
  readonly code: FileRefusal;

  constructor(code: FileRefusal) {
    super(fileRefusals[code]);
    this.code = code;
  }
}
