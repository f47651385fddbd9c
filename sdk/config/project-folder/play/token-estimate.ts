/**
 * Letters of a token, on average: a model that answers over HTTP tells the tokens of a conversation only once it has
 * read it, and its tokenizer not at all.
 */
const LETTERS_PER_TOKEN = 4;
/** What a chat template puts around a message. */
const TOKENS_AROUND = 4;

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

/** About how many tokens messages have: their texts and calls. What an image costs is the model's own affair. */
export function estimatedPrompt(messages: readonly Readonly<Record<string, unknown>>[]): number {
  return messages.reduce((sum, { content, tool_calls: calls }) => {
    const texts = Array.isArray(content) ? content.map(textOfPart) : [content];
    const letters = [...texts, calls === undefined ? "" : JSON.stringify(calls)].join("");
    return sum + TOKENS_AROUND + estimatedTokens(letters);
  }, 0);
}

function textOfPart(part: unknown): string {
  const text = typeof part === "object" && part !== null ? (part as { text?: unknown }).text : undefined;
  return typeof text === "string" ? text : "";
}
