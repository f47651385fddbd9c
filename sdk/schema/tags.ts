/** The first of some tags in a text. */
export function firstTag(text: string, tags: readonly string[]): { tag: string; at: number } | undefined {
  let first: { tag: string; at: number } | undefined;
  for (const tag of tags) {
    const at = text.indexOf(tag);
    if (at >= 0 && (first === undefined || at < first.at)) first = { tag, at };
  }
  return first;
}

/** Where the tail begins that may yet become a tag, with the white space before it. */
export function heldBackFrom(text: string, tags: readonly string[]): number {
  if (tags.length === 0) return text.length;
  const longest = Math.max(...tags.map((tag) => tag.length));
  let at = text.length;
  for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
    const tail = text.slice(text.length - length);
    if (tags.some((tag) => tag.startsWith(tail))) {
      at = text.length - length;
      break;
    }
  }
  return text.slice(0, at).trimEnd().length;
}
