/** Yields what `source` yields, and reads the next item meanwhile. An error is thrown when its item is due. */
export async function* readAhead<T>(source: AsyncIterable<T>): AsyncGenerator<T, void> {
  const items = source[Symbol.asyncIterator]();
  const read = () => {
    const next = items.next();
    next.catch(() => {});
    return next;
  };
  let next = read();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = read();
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await items.return?.();
  }
}
