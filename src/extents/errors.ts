// What this layer can refuse, each with a sentence that says what to do.

export { DamageError } from '../base/errors.js';

export class ExtentError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** New data is refused, because the disk or the memory it may use is nearly full; reads and drops go on. */
export class NoSpaceError extends ExtentError {}

/** A write or a sync failed: nothing of this extent may be named. The next one goes to a new segment. */
export class AppendError extends ExtentError {}

/** The segment was dropped: its extents were moved or freed. Look the extent up again. */
export class SegmentGoneError extends ExtentError {}

/** The extents were closed. */
export class ExtentsClosedError extends ExtentError {}
