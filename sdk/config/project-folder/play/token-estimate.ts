/**
 * Letters of a token, on average: a model that answers over HTTP tells the tokens of a conversation only once it has
 * read it, and its tokenizer not at all.
 */
const LETTERS_PER_TOKEN = 4;

/** About how many tokens a text has. */
export function estimatedTokens(text: string): number {
  return Math.ceil(text.length / LETTERS_PER_TOKEN);
}

/** The beginning of a text that has about so many tokens; never half a character. */
export function textOfTokens(text: string, tokens: number): string {
  const end = Math.max(0, Math.floor(tokens * LETTERS_PER_TOKEN));
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return text.slice(0, isSplit ? end - 1 : end);
}
