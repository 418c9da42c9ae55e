// Errors whose message says all there is to say to whoever runs the program: no stack helps them.

const names = new Set([
  'UsageError',
  'AccountError',
  'StorageError',
  'FolderInUseError',
  'UnavailableError',
  'FormatError',
  'DamageError',
  'BackupInProgressError',
  'MissingFullBackupError',
  'BrokenChainError',
  'ReadOnlyError',
  'NoSpaceError',
]);

export function isTold(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (names.has(at.name) || names.has(at.constructor.name) || isOfSystem(at)) return true;
  }
  return false;
}

/** What the system has refused to do with a file: the message names both. */
function isOfSystem(error: NodeJS.ErrnoException): boolean {
  return typeof error.code === 'string' && error.syscall !== undefined && error.path !== undefined;
}
