import * as z from "zod/mini";
import { RequestError } from "./request-error.ts";

const INTEGERS = new Set([
  "max_tokens",
  "max_completion_tokens",
  "n",
  "top_k",
  "min_tokens",
  "top_logprobs",
  "logprobs",
  "seed",
  "best_of",
]);

type Issue = z.core.$ZodIssue;

/**
 * Checks a request body; the first thing wrong with it becomes an error with OpenAI's code for it and the
 * path of the field.
 */
export function checkBody<S extends z.ZodMiniType>(schema: S, body: unknown): z.infer<S> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new RequestError("The request body must be a JSON object.");
  }
  const parsed = z.safeParse(schema, body);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const issue = first && meant(first);
  if (issue === undefined) throw new RequestError("The request body is not valid.");
  const param = pathOf(issue.path);
  throw new RequestError(messageOf(issue, param, body), { code: codeOf(issue, body), param });
}

/** `messages[1].role` */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`))
    .join("");
}

function codeOf(issue: Issue, body: object): string {
  if (isMissing(issue, body)) return "missing_required_parameter";
  switch (issue.code) {
    case "too_small":
      return issue.origin === "array" ? "empty_array" : `${kindOf(issue)}_below_min_value`;
    case "too_big":
      return issue.origin === "array" ? "array_above_max_length" : `${kindOf(issue)}_above_max_value`;
    case "invalid_value":
    case "invalid_key":
      return "invalid_value";
    default:
      return "invalid_type";
  }
}

function messageOf(issue: Issue, param: string, body: object): string {
  if (isMissing(issue, body)) return `Missing required parameter: '${param}'.`;
  return `Invalid '${param}': ${expectation(issue)}.`;
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${issue.expected}`;
    case "invalid_value":
      return `expected one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "invalid_key":
      return "not a key allowed here";
    case "too_small":
      return `must be ${issue.inclusive === false ? "above" : "at least"} ${issue.minimum}`;
    case "too_big":
      return `must be ${issue.inclusive === false ? "below" : "at most"} ${issue.maximum}`;
    default:
      return "not one of the types allowed here";
  }
}

/** Of a union, the alternative the caller meant: the one that is wrong in a detail, not in its type. */
function meant(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const [detail] = issue.errors.flat().filter(({ code, path }) => code !== "invalid_type" || path.length > 0);
  return detail === undefined ? issue : meant({ ...detail, path: [...issue.path, ...detail.path] });
}

function isMissing(issue: Issue, body: object): boolean {
  return issue.code === "invalid_type" && valueAt(body, issue.path) === undefined;
}

/** What the field takes, not what was sent: a temperature of 3 is a decimal that is too large. */
function kindOf(issue: Issue): "integer" | "decimal" {
  return INTEGERS.has(String(issue.path.at(-1))) ? "integer" : "decimal";
}

function valueAt(body: object, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    body,
  );
}
