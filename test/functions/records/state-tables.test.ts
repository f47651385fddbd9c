import { describe, expect, it } from "vitest";
import { ENDPOINT_STATES, REPLICA_STATES } from "../../../sdk/schema/endpoint.ts";
import { RUN_STATES, TERMINAL_RUN_STATES } from "../../../sdk/schema/run.ts";
import { CONVERSION_TABLE, hasEnded } from "../../../functions/conversions/transitions.ts";
import { EVAL_TABLE, isTerminalEval, nextEvalState } from "../../../functions/evals/transitions.ts";
import { ENDPOINT_TABLE, nextEndpointState } from "../../../functions/endpoints/transitions.ts";
import { REPLICA_TABLE } from "../../../functions/endpoints/replica-transitions.ts";
import { isTerminalRun, nextRunState, RUN_TABLE } from "../../../functions/runs/transitions.ts";

/** Every state can be reached from the first one, and from every living one an end can be reached. */
function reachable(table: Record<string, Partial<Record<string, string>>>, from: string): Set<string> {
  const seen = new Set([from]);
  for (const state of seen) for (const next of Object.values(table[state] ?? {})) if (next) seen.add(next);
  return seen;
}

describe("the state tables", () => {
  it("reach every state from the first", () => {
    expect([...reachable(RUN_TABLE, "queued")].sort()).toEqual([...RUN_STATES].sort());
    expect([...reachable(ENDPOINT_TABLE, "creating")].sort()).toEqual([...ENDPOINT_STATES].sort());
    expect([...reachable(REPLICA_TABLE, "waiting")].sort()).toEqual([...REPLICA_STATES].sort());
    expect([...reachable(CONVERSION_TABLE, "queued")].sort()).toEqual(Object.keys(CONVERSION_TABLE).sort());
    expect([...reachable(EVAL_TABLE, "queued")].sort()).toEqual(Object.keys(EVAL_TABLE).sort());
  });

  it("leave no living run or eval without a way to end", () => {
    for (const state of RUN_STATES) {
      expect(isTerminalRun(state)).toBe(TERMINAL_RUN_STATES.includes(state));
      if (!isTerminalRun(state))
        expect(RUN_TABLE[state]).toMatchObject({ fail: "failed", cancel: "cancelled" });
    }
    for (const state of Object.keys(CONVERSION_TABLE) as (keyof typeof CONVERSION_TABLE)[]) {
      if (hasEnded(state)) expect(CONVERSION_TABLE[state]).toEqual({ again: "queued" });
      else expect(CONVERSION_TABLE[state]).toMatchObject({ fail: "failed", cancel: "cancelled" });
    }
    for (const state of Object.keys(EVAL_TABLE) as (keyof typeof EVAL_TABLE)[])
      if (!isTerminalEval(state)) expect(EVAL_TABLE[state]).toMatchObject({ fail: "failed" });
  });

  it("throw for pairs that they do not list", () => {
    expect(() => nextRunState("succeeded", "work")).toThrow(
      'cannot take the change "work" in state "succeeded"',
    );
    expect(() => nextEvalState("cancelled", "begin")).toThrow("eval");
    expect(() => nextEndpointState("stopped", "ready")).toThrow("endpoint");
  });
});
