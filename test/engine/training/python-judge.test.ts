import { describe, expect, it } from "vitest";
import { createPythonPlayer } from "../../../engine/training/python-judge.ts";
import type { PythonCall } from "../../../engine/training/python-process.ts";
import type { JobCallResult } from "../../../sdk/schema/job.ts";
import type { RewardRow } from "../../../sdk/schema/rollout.ts";
import { score } from "../fake-control-plane.ts";

const row = (more: Partial<RewardRow> = {}): RewardRow => ({
  row: {},
  metadata: { n: 1 },
  variables: { v: 2 },
  response: { content: "yes", reasoning: "", toolCalls: [] },
  completion: { tokens: 1, finishReason: "stop" },
  messages: [{ role: "assistant", content: "yes" }],
  ...more,
});
const limits = { file: "rewards.py", timeoutMs: 1_000, maxMissingShare: 0.2 };

function player(answer: (call: PythonCall) => JobCallResult, setup = {}) {
  const calls: PythonCall[] = [];
  const python = {
    rewards: [
      { name: "gate", precondition: true, timeoutMs: 50 },
      { name: "near", precondition: false },
    ],
    tools: [{ name: "add", description: "Adds.", parameters: { type: "object" } }],
    callAll: (asked: readonly PythonCall[]) => {
      calls.push(...asked);
      return Promise.resolve(asked.map(answer));
    },
  };
  const client = {
    judge: (rows: RewardRow[]) => Promise.resolve(rows.map(() => score(9))),
    callTools: (asked: unknown[]) => Promise.resolve(asked.map(() => ({ value: "isolate" }))),
  };
  return {
    calls,
    ...createPythonPlayer(
      { rewards: limits, tools: { ...limits, file: "tools.py" }, ...setup },
      python,
      client,
    ),
  };
}

describe("rewards in Python", () => {
  it("add up, unless a gate is closed", async () => {
    const open = player(({ name }) => ({ value: name === "gate" ? 1 : 0.5 }));
    expect((await open.judge([row()]))[0]).toMatchObject({ total: 1.5, errors: {} });
    expect(open.calls).toMatchObject([
      { op: "reward", name: "gate", timeoutMs: 50, metadata: { n: 1 }, variables: { v: 2 } },
      { op: "reward", name: "near", timeoutMs: 1_000, messages: [{ content: "yes" }] },
    ]);
    const closed = player(({ name }) => ({ value: name === "gate" ? 0 : 0.5 }));
    expect((await closed.judge([row()]))[0]?.total).toBe(0);
  });

  it("give no verdict, and never 0, where one fails", async () => {
    const error = { code: "reward_timeout", message: "late" };
    const { judge } = player(({ name }) => (name === "near" ? { error } : { value: 1 }));
    const [verdict] = await judge([row()]);
    expect(verdict).not.toHaveProperty("total");
    expect(verdict?.errors).toEqual({ near: { code: "reward_timeout", message: "near: late" } });
  });

  it("judge rows that name them, and leave tasks of environments to the control plane", async () => {
    const { judge } = player(() => ({ value: 0.25 }));
    const verdicts = await judge([
      row({ rewards: ["near"] }),
      row({ environment: "game" }),
      row({ rewards: ["gate", "near"] }),
    ]);
    expect(verdicts.map(({ total }) => total)).toEqual([0.25, 9, 0.5]);
  });

  it("are refused by names that the file does not define, with the nearest", () => {
    expect(() => player(() => ({ value: 1 }), { rewards: { ...limits, names: ["naer"] } })).toThrow(
      'rewards.py has no reward "naer" (did you mean "near"?); there is gate, near.',
    );
  });
});

describe("tools in Python", () => {
  it("are told to the model and called with the row's metadata; others go to the control plane", async () => {
    const { tools, callTools, calls } = player(() => ({ value: 3 }));
    expect(tools).toEqual([
      { type: "function", function: { name: "add", description: "Adds.", parameters: { type: "object" } } },
    ]);
    const asked = [
      { tool: "search", input: {} },
      { tool: "add", input: { a: 1 } },
      { environment: "game", tool: "add", input: {} },
    ];
    const rows = [{}, { metadata: { key: "k" } }, {}];
    expect(await callTools(asked, rows)).toEqual([{ value: "isolate" }, { value: 3 }, { value: "isolate" }]);
    expect(calls).toEqual([
      { op: "tool", name: "add", timeoutMs: 1_000, input: { a: 1 }, metadata: { key: "k" } },
    ]);
  });
});
