// What an engine can refuse, each with a sentence that says what to do.

export { DamageError } from '../base/errors.js';

export class EngineError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** A read no longer holds: somebody else was first. Nothing was changed; run it again. */
export class ConflictError extends EngineError {
  /** What has changed, where that is known. */
  readonly key: Uint8Array | undefined;
  constructor(message: string, key?: Uint8Array) {
    super(message);
    this.key = key;
  }
}

/** An add would pass its limit. Nothing was changed. */
export class LimitError extends EngineError {
  readonly key: Uint8Array;
  constructor(key: Uint8Array, message = 'a counter would pass its limit') {
    super(message);
    this.key = key;
  }
}

/** A write to disk failed: this commit, or one that was seen, may or may not be there after the next start. */
export class LostError extends EngineError {}

/** Writes are refused for now, because the disk is full or failing; reads go on. Nothing was changed. */
export class ReadOnlyError extends EngineError {}

/** The store cannot be read for now: it is being opened again after a write to disk failed. */
export class UnavailableError extends EngineError {}

/** The folder belongs to another process, which the message names. */
export class FolderInUseError extends EngineError {}

/** The folder is not ours, or was written by a newer version. */
export class FormatError extends EngineError {}

/** A key, a value or a change beyond the limit. Nothing was changed. */
export class TooLargeError extends EngineError {}

/** The engine was closed. */
export class ClosedError extends EngineError {}

/** Only one backup at a time. */
export class BackupInProgressError extends EngineError {}

/** An incremental backup, or a restore, without the full one it stands on. */
export class MissingFullBackupError extends EngineError {}

/** The backup is not newer than the store it would replace. */
export class OlderBackupError extends EngineError {}

/** The folder of backups is not a chain: a link is missing, or is of another store. */
export class BrokenChainError extends EngineError {}
