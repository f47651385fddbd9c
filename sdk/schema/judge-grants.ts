/** What a judge is asked with: the key, and where another server than OpenAI's is. */
const JUDGE_SECRETS = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_JUDGE_API_KEY", "LLM_JUDGE_API_URL"];

export const JUDGE_GRANT_HINT =
  "Keep it with `spotter secret set OPENAI_API_KEY` and grant it with `--secret OPENAI_API_KEY` (in a script: `secrets`); for another server grant OPENAI_BASE_URL, too.";

const OPENAI = "https://api.openai.com/v1";

/** Where rewards' questions go with these secrets, and why none would be answered. */
export function judgeServer(secrets: Readonly<Record<string, string>>): { base: string; fault?: string } {
  const base = (secrets["OPENAI_BASE_URL"] ?? OPENAI).replace(/\/+$/, "");
  if (base !== OPENAI || secrets["OPENAI_API_KEY"] !== undefined) return { base };
  return {
    base,
    fault: "it needs the secrets OPENAI_API_KEY and, for another server, OPENAI_BASE_URL; grant them",
  };
}

/**
 * Whether Python code asks a judge with nothing to ask with. Only what is written there is looked at, as nobody runs it
 * before its container does: who names a setting gives it a value in some way of its own.
 */
export function asksUngranted(sources: readonly string[], granted: readonly string[]): boolean {
  const own = /\bapi_(?:key|url)\b|(?:OPENAI|LLM_JUDGE)_\w+/;
  const asks = sources.some((source) => /^[^#\n]*\bllm_judge\s*\(/m.test(source));
  return (
    asks &&
    !sources.some((source) => own.test(source)) &&
    !granted.some((name) => JUDGE_SECRETS.includes(name))
  );
}
