import type { Admission } from "../keys/limits.ts";
import type { Observation } from "../observability/observer.ts";

/** Tokens of one answer. */
export interface CountedTokens {
  input: number;
  output: number;
  cached?: number;
}

/** Where nothing was told, a token is taken for this many bytes of the request. */
const BYTES_PER_TOKEN = 4;

/** OpenAI's `usage` object as numbers; undefined where it is none. */
export function countedTokens(usage: unknown): CountedTokens | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = usage as Fields;
  if (typeof input !== "number") return undefined;
  const cached =
    typeof details === "object" && details !== null ? (details as Fields).cached_tokens : undefined;
  return {
    input,
    output: typeof output === "number" ? output : 0,
    ...(typeof cached === "number" && { cached }),
  };
}

/** `usage` of a whole JSON answer, without parsing the rest of it. */
export function usageOfAnswer(body: Buffer): CountedTokens | undefined {
  // Quotes in what a model wrote are escaped, so this is a key; engines put it behind the choices.
  const at = body.lastIndexOf('"usage":');
  if (at === -1) return undefined;
  return countedTokens(parsed(balanced(body.toString("utf8", at + '"usage":'.length))));
}

/** What a request took when its engine did not say, as after an abort. */
export function estimatedTokens(promptBytes: number, events: number): CountedTokens {
  return { input: Math.ceil(promptBytes / BYTES_PER_TOKEN), output: events };
}

/** Tells what an answer took to those who count it: the engine's own figures, or else the guess. */
export function tellTokens({ seen, admission, told, guess }: TellParams): void {
  const tokens = told ?? guess;
  if (tokens === undefined) return admission.meter(undefined);
  seen.tokens(tokens);
  admission.meter({
    promptTokens: tokens.input,
    completionTokens: tokens.output,
    ...(told === undefined && { isEstimate: true }),
  });
}

interface TellParams {
  seen: Observation;
  admission: Admission;
  told: CountedTokens | undefined;
  guess: CountedTokens | undefined;
}

interface Fields {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: unknown;
  cached_tokens?: unknown;
}

/** The text up to where its first brace closes. Values of usage are numbers and objects, never text. */
function balanced(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return text.slice(0, at + 1);
  }
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
