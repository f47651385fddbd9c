import type { Secrets } from "../ports/secrets.ts";

/** What these hold is ours and never text of anybody: a secret that equals a word of ours must not break it. */
const OUR_WORDS: ReadonlySet<string> = new Set([
  ...["v", "id", "type", "kind", "state", "phase", "code", "level", "outcome", "role", "finishReason"],
  ...["sha256", "blob", "runId", "endpoint", "engine"],
]);

/** The same value with secrets replaced in every text and name of a field; itself, if there are none. */
export function redacted<T>(secrets: Pick<Secrets, "redact">, value: T): T {
  const redact = (text: string) => secrets.redact(text);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined || secrets.redact(text) === text) return value;
  // The shape stays; only texts change.
  return deep(redact, value) as T;
}

function deep(redact: (text: string) => string, value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => deep(redact, each));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      redact(name),
      OUR_WORDS.has(name) && typeof each === "string" ? each : deep(redact, each),
    ]),
  );
}
