// A failed assertion is a bug of ours, never of a client: it is not caught on the way and answers 500.

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** For the default of a switch over a union: a new member does not compile until it is handled. */
export function unreachable(value: never): never {
  throw new AssertionError(`unexpected value: ${JSON.stringify(value)}`);
}
