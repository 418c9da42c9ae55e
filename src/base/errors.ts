// Errors that more than one layer speaks of.

/** What was read is not what was written. The message names the file or the key. */
export class DamageError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}
