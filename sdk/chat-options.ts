import { typeName } from "./schema/type-name.ts";
import { SpotterError } from "./schema/errors.ts";
import { nearestName } from "./schema/nearest-name.ts";

const isFinite = (value: unknown) => (Number.isFinite(value) ? undefined : "a finite number");
const isCount = (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "a whole number above 0";
const isTime = (value: unknown) =>
  Number.isFinite(value) && Number(value) > 0 ? undefined : "a number above 0";
const isSignal = (value: unknown) => (value instanceof AbortSignal ? undefined : "an AbortSignal");
const isAnything = () => undefined;

/** What an option of ours must be, if it is not that. Ranges are the engine's to know. */
const OWN: Record<string, (value: unknown) => string | undefined> = {
  max_tokens: isCount,
  temperature: isFinite,
  top_p: isFinite,
  top_k: isFinite,
  seed: isFinite,
  stop: isAnything,
  tools: isAnything,
  logprobs: isAnything,
  top_logprobs: isFinite,
  chat_template_kwargs: isAnything,
  signal: isSignal,
  timeoutMs: isTime,
  maxAttempts: isCount,
};

/**
 * Checks what would otherwise go wrong silently: JSON makes null of NaN, and an engine may ignore what it does
 * not know. Names with an underscore that we do not know are the engine's own.
 *
 * @throws SpotterError `invalid_input`, `unknown_key`
 */
export function checkChat(messages: unknown, options: unknown): void {
  if (!Array.isArray(messages))
    throw invalid("messages", [`messages: is ${kindOf(messages)}, expected a list`]);
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalid("options", [`options: is ${kindOf(options)}, expected an object`]);
  const wrong: string[] = [];
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(options as Record<string, unknown>)) {
    const check = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
    const expected = value === undefined || value === null ? undefined : check?.(value);
    const near = check || name.includes("_") ? undefined : nearestName(name, Object.keys(OWN));
    if (expected) wrong.push(`${name}: must be ${expected}, is ${kindOf(value)}`);
    if (near) unknown.push(`${name}: unknown key; did you mean "${near}"?`);
  }
  if (wrong.length > 0 || unknown.length > 0)
    throw invalid("options", [...wrong, ...unknown], wrong.length > 0 ? "invalid_input" : "unknown_key");
}

function invalid(
  where: string,
  findings: readonly string[],
  code: "invalid_input" | "unknown_key" = "invalid_input",
): SpotterError {
  const list = findings.map((finding) => `  ${finding}`).join("\n");
  return new SpotterError(code, `The chat call is not valid:\n${list}`, {
    where,
    hint: "Correct what is named above.",
  });
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === "number") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : typeName(value);
}
