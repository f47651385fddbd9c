import { combineVerdict } from "../../sdk/schema/combine-verdict.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCallResult, JobToolCall, ToolDefinition } from "../../sdk/schema/job.ts";
import { nearestName } from "../../sdk/schema/parse.ts";
import type { RewardRow, Verdict } from "../../sdk/schema/rollout.ts";
import type { PythonSetup } from "../../sdk/schema/run-spec.ts";
import type { JobClient } from "../agent.ts";
import type { PythonCall, PythonProcess, PythonReward, PythonTool } from "./python-process.ts";

/** A tool's call, with the columns of the row whose conversation it is in. */
export type RowToolCalls = (
  calls: JobToolCall[],
  rows: readonly Record<string, unknown>[],
) => Promise<JobCallResult[]>;

/** Judges and calls in Python what is Python's, and asks the control plane for the rest. */
export interface PythonPlayer {
  /** What the model is told of. */
  tools: ToolDefinition[];
  judge: JobClient["judge"];
  callTools: RowToolCalls;
}

type Calls = Pick<PythonProcess, "rewards" | "tools" | "callAll">;

/**
 * Rewards and tools of a run that are Python, with the names that its spec allows.
 *
 * @throws SpotterError `reward_missing` or `tool_missing` for names that the files do not define.
 */
export function createPythonPlayer(
  setup: Pick<PythonSetup, "rewards" | "tools">,
  python: Calls,
  client: Pick<JobClient, "judge" | "callTools">,
): PythonPlayer {
  const rewards = setup.rewards && named(python.rewards, setup.rewards, "reward");
  const tools = setup.tools ? named(python.tools, setup.tools, "tool") : [];

  return {
    tools: tools.map(toolDefinition),
    judge: (rows) =>
      rewards === undefined
        ? client.judge(rows)
        : split(
            rows,
            ({ environment }) => environment === undefined,
            (own) => judgeRows(python, rewards, own, setup.rewards?.timeoutMs ?? 0),
            (others) => client.judge(others),
          ),
    callTools: (calls, rows) => {
      const placed = calls.map((call, index) => ({ call, row: rows[index] ?? {} }));
      return split(
        placed,
        ({ call }) => call.environment === undefined && tools.some(({ name }) => name === call.tool),
        (own) => python.callAll(own.map(({ call, row }) => toolCall(tools, call, row, setup))),
        (others) => client.callTools(others.map(({ call }) => call)),
      );
    },
  };
}

/** One verdict a row: of the rewards that it names, or of all. A name that is no reward is an error of its own. */
async function judgeRows(
  python: Calls,
  rewards: readonly PythonReward[],
  rows: readonly RewardRow[],
  timeoutMs: number,
): Promise<Verdict[]> {
  const asked = rows.map((row) =>
    (row.rewards ?? rewards.map(({ name }) => name)).map(
      (name) => rewards.find((each) => each.name === name) ?? { name, precondition: false },
    ),
  );
  const calls = rows.map((row, index) =>
    (asked[index] ?? []).map((reward): PythonCall => {
      const { metadata, variables, messages } = row;
      const { name, timeoutMs: own = timeoutMs } = reward;
      return { op: "reward", name, timeoutMs: own, metadata, variables, messages };
    }),
  );
  const results = await python.callAll(calls.flat());
  let next = 0;
  return asked.map((judges) => combineVerdict(judges, results.slice(next, (next += judges.length))));
}

function toolCall(
  tools: readonly PythonTool[],
  { tool: name, input }: JobToolCall,
  { metadata }: Record<string, unknown>,
  setup: Pick<PythonSetup, "tools">,
): PythonCall {
  const timeoutMs = tools.find((each) => each.name === name)?.timeoutMs ?? setup.tools?.timeoutMs ?? 0;
  return { op: "tool", name, timeoutMs, input, metadata };
}

function toolDefinition({ name, description, parameters }: PythonTool): ToolDefinition {
  return { type: "function", function: { name, description, parameters } };
}

function named<T extends { name: string }>(
  all: readonly T[],
  { file, names }: { file: string; names?: string[] | undefined },
  word: "reward" | "tool",
): readonly T[] {
  const known = all.map(({ name }) => name);
  const unknown = names?.filter((name) => !known.includes(name)) ?? [];
  if (known.length > 0 && unknown.length === 0)
    return all.filter(({ name }) => names?.includes(name) ?? true);
  const list = unknown.map((name) => {
    const near = nearestName(name, known);
    return near === undefined ? `"${name}"` : `"${name}" (did you mean "${near}"?)`;
  });
  const what =
    known.length === 0
      ? `defines no ${word}`
      : `has no ${word} ${list.join(", ")}; there is ${known.join(", ")}`;
  throw new SpotterError(`${word}_missing`, `${file} ${what}.`, {
    where: file,
    hint: `Put @${word} above the function: from rnow.core import ${word}`,
  });
}

/** Some items go one way and the rest the other, side by side; results in the order of all. */
async function split<T, R>(
  items: readonly T[],
  isOwn: (item: T) => boolean,
  own: (items: T[]) => Promise<R[]>,
  others: (items: T[]) => Promise<R[]>,
): Promise<R[]> {
  const [mine, rest] = [items.filter(isOwn), items.filter((item) => !isOwn(item))];
  const [done, other] = await Promise.all([own(mine), others(rest)]);
  let [atOwn, atOther] = [0, 0];
  return items.map((item) => (isOwn(item) ? done[atOwn++] : other[atOther++]) as R);
}
