import { describe, expect, it, onTestFinished } from "vitest";
import { boundedFailure, cut } from "../../../functions/records/bounded-failure.ts";
import { MAX_VALUE_BYTES } from "../../../functions/ports/store.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

describe("boundedFailure", () => {
  it("keeps the last lines and fits into a record", () => {
    const logTail = Array.from({ length: 5_000 }, (_, index) => `${index} ${"雨".repeat(2_000)}`);
    const bounded = boundedFailure({ code: "x", message: "m".repeat(1_000_000), hint: "h", logTail });
    expect(bounded.logTail?.at(-1)).toMatch(/^4999 雨+…$/);
    expect(Buffer.byteLength(JSON.stringify(bounded))).toBeLessThan(MAX_VALUE_BYTES);
    const small = { code: "x", message: "m", hint: "h", logTail: ["a"] };
    expect(boundedFailure(small)).toEqual(small);
  });

  it("does not cut a character in half", () => {
    expect(cut("ab🌧cd", 4).isWellFormed()).toBe(true);
  });

  it("lets a run end whose container has a lot to say", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job, state } = await runningRun(plane);
    const logTail = Array.from({ length: 150 }, () => "x".repeat(2_000));
    const failure = { code: "numeric_failure", message: "NaN", logTail };
    await job.report(
      { type: "log", level: "error", message: "y".repeat(40_000) },
      { type: "exit", outcome: "failed", failure },
    );
    await plane.reconciler.settle();
    expect(await state()).toMatchObject({ state: "failed", failure: { code: "numeric_failure" } });
    expect(plane.complaints.filter((line) => line.startsWith("action failed"))).toEqual([]);
  });
});
