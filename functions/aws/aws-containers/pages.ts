/** Everything that a call answers page by page. */
export async function allPages<T>(
  page: (nextToken: string | undefined) => Promise<{ items: T[] | undefined; nextToken: string | undefined }>,
): Promise<T[]> {
  const all: T[] = [];
  const tokens = new Set<string>();
  let nextToken: string | undefined;
  for (;;) {
    const answer = await page(nextToken);
    all.push(...(answer.items ?? []));
    nextToken = answer.nextToken;
    if (nextToken === undefined || nextToken === "") return all;
    // It would go round for ever, and cost with each turn.
    if (tokens.has(nextToken)) throw new Error("AWS repeats a page of a list.");
    tokens.add(nextToken);
  }
}

/** Describe calls take a hundred at a time. */
export async function inHundreds<T, R>(all: readonly T[], call: (some: T[]) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += 100) results.push(...(await call(all.slice(at, at + 100))));
  return results;
}
