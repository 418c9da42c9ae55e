// A value that is there already or comes by a promise. The common case, already there, costs no promise.

export type Awaitable<T> = T | Promise<T>;

/** Goes on with `next` at once where the value is there, else when it comes. */
export function then<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
