/** Works on several items at once and yields what becomes of them in their order. */
export async function* inOrder<In, Out>(
  items: AsyncIterable<In>,
  concurrency: number,
  work: (item: In) => Promise<Out>,
): AsyncGenerator<Out> {
  const underWay: Promise<Out>[] = [];
  for await (const item of items) {
    const promise = work(item);
    // It is awaited below; until then a failure must not count as unheard.
    promise.catch(() => undefined);
    underWay.push(promise);
    const oldest = underWay.length >= concurrency ? underWay.shift() : undefined;
    if (oldest) yield await oldest;
  }
  for (const promise of underWay) yield await promise;
}
