/** What stands between `<tag>` and `</tag>`, the last of them; undefined without both. */
export function taggedText(text: string, tag: string): string | undefined {
  const end = text.lastIndexOf(`</${tag}>`);
  const start = end === -1 ? -1 : text.lastIndexOf(`<${tag}>`, end);
  return start === -1 ? undefined : text.slice(start + tag.length + 2, end).trim();
}

/**
 * How alike two texts are, from 0 to 1: twice the length of their longest common subsequence, divided by the sum of
 * their lengths.
 *
 * @example
 * similarity("abcd", "abdc"); // 0.75
 */
export function similarity<T>(left: ArrayLike<T>, right: ArrayLike<T>): number {
  if (left.length + right.length === 0) return 1;
  let row = new Uint32Array(right.length + 1);
  for (let at = 0; at < left.length; at++) {
    const next = new Uint32Array(right.length + 1);
    for (let other = 0; other < right.length; other++) {
      next[other + 1] =
        left[at] === right[other] ? (row[other] ?? 0) + 1 : Math.max(row[other + 1] ?? 0, next[other] ?? 0);
    }
    row = next;
  }
  return (2 * (row[right.length] ?? 0)) / (left.length + right.length);
}
