import type { IsolateOutcome } from "../schema/user-code.ts";

const MAX_REASON = 2_000;
const MAX_METRICS = 64;
const MAX_METRIC_NAME = 100;
/** As `MAX_SCORE` of the schema, which is too large to be in every bundle. */
const MAX_SCORE = 1e6;
/** Of a name or value inside a message. */
const MAX_SHOWN = 200;

/**
 * Checks what a reward returned where the real value is still at hand: JSON would turn NaN into null and lose
 * undefined. The control plane checks the shape again, because an isolate is not to be trusted.
 */
export function rewardOutcome(value: unknown): IsolateOutcome {
  if (typeof value === "number") {
    const bad = badScore(value);
    return bad ? invalid(`it returned ${value}`, bad) : { value };
  }
  if (typeof value === "boolean") return invalid(`it returned ${value}`, "return 1 or 0");
  if (Array.isArray(value)) {
    return invalid(
      `it returned an array of ${value.length}`,
      "a reward is called once a row and returns one score",
    );
  }
  if (typeof value !== "object" || value === null) {
    return invalid(`it returned ${nameOf(value)}`, "return a number or { score, metrics?, reason? }");
  }
  return objectOutcome(value as Record<string, unknown>);
}

function objectOutcome(value: Record<string, unknown>): IsolateOutcome {
  const { score, metrics, reason, ...rest } = value;
  const unknown = Object.keys(rest);
  if (unknown.length > 0) {
    return invalid(
      `it returned an object with ${unknown.join(", ").slice(0, MAX_SHOWN)}`,
      "known keys: score, metrics, reason",
    );
  }
  if (typeof score !== "number" || !Number.isFinite(score)) {
    return invalid(`it returned { score: ${nameOf(score)} }`, "score must be a finite number");
  }
  const bad = badScore(score);
  if (bad) return invalid(`it returned { score: ${score} }`, bad);
  if (reason !== undefined && typeof reason !== "string")
    return invalid(`its reason is ${nameOf(reason)}`, "use text");
  if (metrics !== undefined && (typeof metrics !== "object" || metrics === null || Array.isArray(metrics))) {
    return invalid(`its metrics are ${nameOf(metrics)}`, "use an object of numbers");
  }
  const entries = Object.entries(metrics ?? {});
  if (entries.length > MAX_METRICS) {
    return invalid(`it returned ${entries.length} metrics`, `${MAX_METRICS} are the most`);
  }
  const long = entries.find(([name]) => name.length > MAX_METRIC_NAME);
  if (long) {
    const what = `the name of metric "${long[0].slice(0, 40)}..." has ${long[0].length} characters`;
    return invalid(what, `${MAX_METRIC_NAME} are the most`);
  }
  const badMetric = entries.find(([, number]) => !Number.isFinite(number));
  if (badMetric)
    return invalid(
      `its metric "${badMetric[0]}" is ${nameOf(badMetric[1])}`,
      "metrics must be finite numbers",
    );
  return {
    value: {
      score,
      ...(metrics === undefined ? {} : { metrics }),
      ...(reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON) }),
    },
  };
}

function badScore(score: number): string | undefined {
  if (!Number.isFinite(score)) return "a score must be finite";
  return Math.abs(score) <= MAX_SCORE
    ? undefined
    : `a score is at most ${MAX_SCORE} and at least -${MAX_SCORE}`;
}

function invalid(what: string, remedy: string): IsolateOutcome {
  return { error: { code: "reward_invalid", message: `${what}; ${remedy}` } };
}

function nameOf(value: unknown): string {
  if (value === undefined) return "nothing (undefined)";
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
