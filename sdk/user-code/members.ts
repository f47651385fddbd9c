/**
 * What a module's exports can be called by, and what becomes of what they return. An environment is called by its
 * parts: `name/load`, `name/setup`, `name/step`, `name/rewards/reward` and `name/tools/tool`.
 *
 * @module
 */
import type { Environment, EnvironmentTurn } from "../environment.ts";
import type { JudgeAnswers } from "../schema/judge-ask.ts";
import type { RewardRow } from "../schema/rollout.ts";
import type { EnvironmentMember, IsolateOutcome, UserCodeExport } from "../schema/user-code.ts";
import { definitionOf } from "./definition.ts";
import { JudgeAsks, openAsks } from "./judge-asks.ts";
import { jsonOutcome } from "./json-outcome.ts";
import { rewardOutcome } from "./reward-value.ts";

type Secrets = Record<string, string>;

/** One thing to call, row by row. */
export interface Member {
  kind: "reward" | "tool" | "environment";
  run(row: unknown, secrets: Secrets): unknown;
  finish(value: unknown): IsolateOutcome;
}

/** A row whose reward is run again has what models answered to it. */
type JudgedRow = RewardRow & { judged?: JudgeAnswers };

type Callable = (first: unknown, second: unknown) => unknown;
type Module = Readonly<Record<string, unknown>>;

/** Longest answer of a tool: more than fits the context of any model. */
const MAX_TOOL_CHARACTERS = 128 * 1024;
/** Messages and state of an episode: both travel between the engine and here at every turn. */
const MAX_TURN_CHARACTERS = 1024 * 1024;
/** All tasks of an environment. */
const MAX_TASKS_CHARACTERS = 64 * 1024 * 1024;

/** What `name` calls; undefined if it is nothing that can be called. */
export function memberOf(module: Module, name: string): Member | undefined {
  const value = own(module, name);
  const kind = definitionOf(value)?.kind;
  if (kind === "reward") return rewardMember(value as Callable);
  if (kind === "tool") return toolMember(value as Callable);
  const [root = "", part = "", member] = name.split("/");
  const environment = own(module, root);
  if (definitionOf(environment)?.kind !== "environment") return undefined;
  return partOf(environment as Environment, part, member);
}

/** How an export is listed: its definition and, of an environment, its members. */
export function describeExport(name: string, value: unknown): UserCodeExport | undefined {
  const definition = definitionOf(value);
  if (definition?.kind !== "environment") return definition && { name, ...definition };
  const { rewards, tools = {}, step } = value as Environment;
  const members = [...Object.entries(rewards), ...Object.entries(tools)].flatMap(([member, each]) => {
    const of = definitionOf(each);
    return of === undefined || of.kind === "environment"
      ? []
      : [{ name: member, ...of } as EnvironmentMember];
  });
  return { name, ...definition, members, steps: step !== undefined };
}

function partOf(environment: Environment, part: string, member: string | undefined): Member | undefined {
  if (member !== undefined) {
    const of = part === "rewards" ? environment.rewards : part === "tools" ? environment.tools : undefined;
    const value = of && own(of, member);
    const kind = definitionOf(value)?.kind;
    if (kind === "reward" && part === "rewards") return rewardMember(value as Callable);
    return kind === "tool" && part === "tools" ? toolMember(value as Callable) : undefined;
  }
  const { load, setup, step } = environment;
  if (part === "load")
    return environmentMember(async (args) => [...(await load(args as Record<string, unknown>))], tasks);
  if (part === "setup") return environmentMember((row) => setup(row as Record<string, unknown>), beginning);
  if (part !== "step" || step === undefined) return undefined;
  return environmentMember((turn) => step(turn as EnvironmentTurn<Record<string, unknown>, unknown>), turned);
}

function rewardMember(judge: Callable): Member {
  return {
    kind: "reward",
    run: (given, secrets) => {
      const { messages, row, metadata, variables, response, completion, judged } = given as JudgedRow;
      const asks = openAsks(judged);
      const args = {
        row,
        metadata,
        variables,
        response,
        completion,
        secrets: { ...secrets },
        judge: asks.judge,
      };
      const value = judge(args, messages);
      // What is there at once asked nobody; most rewards are of this kind, and quick.
      return value instanceof Promise ? Promise.race([value, asks.waiting()]) : value;
    },
    finish: (value) => (value instanceof JudgeAsks ? { value: { asks: value.asks } } : rewardOutcome(value)),
  };
}

function toolMember(call: Callable): Member {
  return {
    kind: "tool",
    run: (input, secrets) => call(input, { secrets: { ...secrets } }),
    finish: (value) => jsonOutcome("tool_invalid", value, MAX_TOOL_CHARACTERS),
  };
}

function environmentMember(
  run: (row: unknown) => unknown,
  finish: (value: unknown) => IsolateOutcome,
): Member {
  return { kind: "environment", run, finish };
}

function tasks(value: unknown): IsolateOutcome {
  const rows = value as unknown[];
  const wrong = rows.findIndex((row) => !isObject(row));
  if (wrong !== -1) return invalid(`load: task ${wrong + 1} is ${typeOf(rows[wrong])}, expected an object`);
  return jsonOutcome("environment_invalid", rows, MAX_TASKS_CHARACTERS);
}

function beginning(value: unknown): IsolateOutcome {
  if (!isObject(value)) return invalid(`setup returned ${typeOf(value)}, expected { messages, state }`);
  const fault = messagesFault(value["messages"]);
  if (fault !== undefined) return invalid(`setup: messages ${fault}`);
  if ((value["messages"] as unknown[]).length === 0) return invalid("setup: messages is empty");
  return jsonOutcome("environment_invalid", value, MAX_TURN_CHARACTERS);
}

function turned(value: unknown): IsolateOutcome {
  if (!isObject(value))
    return invalid(`step returned ${typeOf(value)}, expected { messages?, state?, done }`);
  if (typeof value["done"] !== "boolean") return invalid("step: done must be true or false");
  const fault = value["messages"] === undefined ? undefined : messagesFault(value["messages"]);
  if (fault !== undefined) return invalid(`step: messages ${fault}`);
  return jsonOutcome("environment_invalid", value, MAX_TURN_CHARACTERS);
}

const ROLES = ["system", "developer", "user", "assistant", "tool"];

function messagesFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `is ${typeOf(value)}, expected a list of { role, content }`;
  const wrong = value.findIndex((each) => !isObject(each) || !ROLES.includes(String(each["role"])));
  return wrong === -1 ? undefined : `has at ${wrong + 1} no message: expected { role, content }`;
}

function invalid(message: string): IsolateOutcome {
  return { error: { code: "environment_invalid", message } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
}

/** Never what every object inherits. */
function own(of: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}
