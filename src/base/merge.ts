// Two ordered sequences as one.

export async function* mergeOrdered<T>(
  left: AsyncIterable<T>,
  right: AsyncIterable<T>,
  comesFirst: (a: T, b: T) => boolean,
): AsyncGenerator<T> {
  const [a, b] = [left[Symbol.asyncIterator](), right[Symbol.asyncIterator]()];
  let [x, y] = [await a.next(), await b.next()];
  while (!x.done || !y.done) {
    if (y.done || (!x.done && comesFirst(x.value, y.value))) {
      yield x.value as T;
      x = await a.next();
    } else {
      yield y.value;
      y = await b.next();
    }
  }
}
