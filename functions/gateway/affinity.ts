/**
 * What tells conversations apart: every turn repeats the ones before it, so their beginning stays the same and
 * a replica that saw it has it in its prefix cache.
 *
 * @module
 */

/** More would cost time and tell no more conversations apart. */
const MAX_CHARACTERS = 2_048;

/** A 32-bit hash of where a conversation begins: all messages up to the first one of the user, or the prompt. */
export function affinityOf(body: Record<string, unknown>): number {
  const { messages, prompt } = body;
  if (!Array.isArray(messages)) return hashOf(textOf(prompt));
  const end = messages.findIndex((message) => roleOf(message) === "user");
  const opening: unknown[] = messages.slice(0, end + 1 || 1);
  return hashOf(opening.map(textOf).join("\n"));
}

/** FNV-1a over UTF-16 units, with a final mix so that similar texts differ in every bit. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  const length = Math.min(text.length, MAX_CHARACTERS);
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mix(hash);
}

/** The finaliser of MurmurHash3. */
export function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function roleOf(message: unknown): unknown {
  return typeof message === "object" && message !== null ? (message as { role?: unknown }).role : undefined;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const { content } = value as { content?: unknown };
  if (typeof content === "string") return content;
  return JSON.stringify(content ?? value).slice(0, MAX_CHARACTERS);
}
