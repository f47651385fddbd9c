import { nearestName } from "../../schema/nearest-name.ts";
import { answerChecks } from "./answer-checks.ts";
import { messageChecks } from "./message-checks.ts";
import { isObject, kindOf, type Report, type RowContext } from "./row-context.ts";
import { variableChecks } from "./variable-checks.ts";

const KNOWN = ["messages", "rewards", "tools", "metadata", "variables", "docker", "docker_env", "text"];
const LEGACY = "docker_cmd";
const LOCAL_IMAGE = /^local\/(.+)$/;

/** Other keys are allowed; only what looks like a slip of the pen is worth a word. */
const slips = new Map<string, string | undefined>();

/** Checks one row of train.jsonl. */
export function rowChecks(row: unknown, context: RowContext, report: Report): void {
  if (!isObject(row)) {
    const message = `the row is ${kindOf(row)}, expected an object`;
    return report({ code: "row_invalid", path: [], message, hint: 'Write {"messages": [...]}.' });
  }
  unknownKeys(row, report);
  if (context.kind === "midtrain") textCheck(row, report);
  else messageChecks(row, context, report);
  rewardNames(row, context, report);
  toolNames(row, context, report);
  for (const key of ["metadata", "variables"])
    if (row[key] !== undefined && row[key] !== null && !isObject(row[key]))
      report({
        code: "row_invalid",
        path: [key],
        message: `is ${kindOf(row[key])}, expected an object`,
        hint: `Write "${key}": {"name": value}, or leave it out.`,
      });
  docker(row, context, report);
  sandbox(row, context, report);
  variableChecks(row, report);
  answerChecks(row, context, report);
}

/** Whether a key has a meaning, or may be meant for one: all others go by without a look. */
export function isMindedKey(key: string): boolean {
  return KNOWN.includes(key) || key === LEGACY || slipOf(key) !== undefined;
}

/** The key that it looks like. */
function slipOf(key: string): string | undefined {
  if (!slips.has(key)) {
    // Rows may have any keys: what is remembered of them must not grow with the file.
    if (slips.size > 1_000) slips.clear();
    slips.set(key, nearestName(key, KNOWN));
  }
  return slips.get(key);
}

function unknownKeys(row: Record<string, unknown>, report: Report): void {
  for (const key in row) {
    if (KNOWN.includes(key)) continue;
    if (key === LEGACY) {
      const message = "is no longer read: a container starts with /start.sh";
      report({
        code: "legacy_key",
        severity: "warning",
        path: [key],
        atKey: true,
        message,
        hint: "Remove it.",
      });
      continue;
    }
    const near = slipOf(key);
    if (near === undefined || row[near] !== undefined) continue;
    const message = `is not read; it looks like ${near}`;
    const hint = `Write "${near}" if that is meant.`;
    report({ code: "row_key_unknown", severity: "warning", path: [key], atKey: true, message, hint });
  }
}

function textCheck(row: Record<string, unknown>, report: Report): void {
  if (typeof row.text === "string" && row.text !== "") return;
  const isMissing = row.text === undefined;
  const what = isMissing
    ? "is missing"
    : row.text === ""
      ? "is empty"
      : `is ${kindOf(row.text)}, expected a text`;
  report({
    code: "row_invalid",
    path: ["text"],
    message: `${what}; rows of dataset_type midtrain are texts`,
    hint:
      isMissing && row.messages !== undefined
        ? "Write dataset_type: sft for rows with messages."
        : 'Write {"text": "..."}.',
  });
}

function rewardNames(row: Record<string, unknown>, context: RowContext, report: Report): void {
  const { rewards } = row;
  const isNeeded = context.kind === "rl";
  if (rewards === undefined || (rewards === null && !isNeeded)) {
    if (isNeeded)
      report({
        code: "row_reward_missing",
        path: ["rewards"],
        message: "is missing: a row of dataset_type rl says which rewards judge it",
        hint: 'Write "rewards": ["name"].',
      });
    return;
  }
  if (
    !Array.isArray(rewards) ||
    !rewards.every((name) => typeof name === "string") ||
    (isNeeded && rewards.length === 0)
  ) {
    const what = Array.isArray(rewards) && rewards.length === 0 ? "is empty" : "is no list of names";
    return report({
      code: "row_invalid",
      path: ["rewards"],
      message: what,
      hint: 'Write "rewards": ["name"].',
    });
  }
  for (let index = 0; index < rewards.length; index++) {
    const name = rewards[index] as string;
    if (rewards.indexOf(name) < index)
      report({
        code: "row_reward_twice",
        path: ["rewards", index],
        message: `"${name}" is named twice and would count once`,
        hint: "Name it once; a weight belongs to the reward.",
      });
    if (!isNeeded || context.rewards === undefined || context.rewards.has(name)) continue;
    report({
      code: "reward_unknown",
      path: ["rewards", index],
      message: `there is no reward "${name}" in ${context.rewardFiles}`,
      hint: nearHint(name, [...context.rewards.keys()], "rewards"),
    });
  }
}

function toolNames(row: Record<string, unknown>, context: RowContext, report: Report): void {
  const { tools } = row;
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools) || !tools.every((name) => typeof name === "string")) {
    const hint = 'Write "tools": ["name"], or leave it out for all tools.';
    return report({ code: "row_invalid", path: ["tools"], message: "is no list of names", hint });
  }
  const known = context.tools;
  if (known === undefined) return;
  for (let index = 0; index < tools.length; index++) {
    const name = tools[index] as string;
    if (known.has(name)) continue;
    report({
      code: "tool_unknown",
      severity: context.hasMcp ? "warning" : "error",
      path: ["tools", index],
      message: `there is no tool "${name}" in ${context.toolFiles}${context.hasMcp ? "; mcp_url may bring it" : ""}`,
      hint: nearHint(name, [...known.keys()], "tools"),
    });
  }
}

function nearHint(name: string, known: string[], what: string): string {
  const near = nearestName(name, known);
  if (near) return `Did you mean "${near}"?`;
  return known.length > 0
    ? `There are: ${known.slice(0, 12).join(", ")}.`
    : `Define it in ${what}.ts or ${what}.py.`;
}

function docker(row: Record<string, unknown>, context: RowContext, report: Report): void {
  const { docker: image, docker_env: environment } = row;
  if (image !== undefined && image !== null) {
    if (typeof image !== "string" || image === "") {
      const message = image === "" ? "is empty" : `is ${kindOf(image)}, expected the name of an image`;
      report({
        code: "row_invalid",
        path: ["docker"],
        message,
        hint: 'Write "docker": "python:3.11", or "local/name".',
      });
    } else {
      const name = LOCAL_IMAGE.exec(image)?.[1];
      if (name !== undefined && !context.dockerfiles.has(`Dockerfile.${name}`))
        report({
          code: "dockerfile_missing",
          path: ["docker"],
          message: `"${image}" is built from Dockerfile.${name}, which is not there`,
          hint: nearHint(`Dockerfile.${name}`, [...context.dockerfiles], "a Dockerfile"),
        });
    }
  }
  if (environment === undefined || environment === null) return;
  if (!isObject(environment) || !Object.values(environment).every((value) => typeof value === "string")) {
    const bad = isObject(environment)
      ? Object.keys(environment).find((key) => typeof environment[key] !== "string")
      : undefined;
    const path = bad === undefined ? ["docker_env"] : ["docker_env", bad];
    const message = bad === undefined ? `is ${kindOf(environment)}, expected an object` : "is no text";
    report({
      code: "row_invalid",
      path,
      message,
      hint: "Environment variables are texts: put it in quotes.",
    });
  } else if (!image && Object.keys(environment).length > 0) {
    const message = "has no container to be set in: the row has no docker";
    report({
      code: "docker_missing",
      path: ["docker_env"],
      message,
      hint: "Name an image in docker, or remove it.",
    });
  }
}

/** What runs inside a container needs one. */
function sandbox(row: Record<string, unknown>, context: RowContext, report: Report): void {
  if (row.docker) return;
  const needs = (what: string, path: (string | number)[]) =>
    report({
      code: "docker_missing",
      path,
      message: `${what} inside a container, and the row has no docker`,
      hint: 'Name an image: "docker": "python:3.11", or "local/name" for Dockerfile.name.',
    });
  if (context.kind === "rl" && Array.isArray(row.rewards) && context.rewards)
    for (let index = 0; index < row.rewards.length; index++) {
      const name = row.rewards[index] as string;
      if (context.rewards.get(name)?.sandbox) needs(`the reward ${name} runs`, ["rewards", index]);
    }
  if ((context.kind === "rl" || context.kind === "distill") && context.tools) {
    if (Array.isArray(row.tools)) {
      for (let index = 0; index < row.tools.length; index++) {
        const name = row.tools[index] as string;
        if (context.tools.get(name)?.sandbox) needs(`the tool ${name} runs`, ["tools", index]);
      }
    } else {
      for (const [name, { sandbox: isInside }] of context.tools)
        if (isInside) return needs(`without "tools" the row has all of them, and ${name} runs`, ["tools"]);
    }
  }
  if (context.isMcpInSandbox) needs("the server of mcp_url runs", ["docker"]);
}
