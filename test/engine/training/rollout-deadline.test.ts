import { describe, expect, it } from "vitest";
import { judgeAll, rolloutOf } from "../../../engine/training/samples.ts";
import { countVerdicts } from "../../../engine/training/verdicts.ts";
import { call, play, row } from "./scene.ts";

const never = () => new Promise<never>(() => undefined);

/** Time is over once the first of the rows is answered and the second is not. */
describe("the deadline of rollouts", () => {
  it("ends an answer that comes too late, without a verdict, and keeps those that came (A22)", async () => {
    const late = new AbortController();
    const write = (text: string) => {
      if (text.includes("quick")) return "done$";
      queueMicrotask(() => setImmediate(() => late.abort()));
      return never();
    };
    const { samples } = await play({ write, deadline: late.signal, rollout: { rolloutTimeoutMs: 60_000 } }, [
      row("quick"),
      row("slow"),
    ]);
    const judged: unknown[] = [];
    const judge = async (rows: unknown[]) => {
      judged.push(...rows);
      return rows.map(() => ({ total: 1, scores: {}, errors: {} }));
    };
    const verdicts = await judgeAll({ judge }, samples);
    expect(judged).toHaveLength(1);
    const message = "it was not over within 60 s, after 0 answers";
    expect(verdicts).toEqual([
      { total: 1, scores: {}, errors: {} },
      { scores: {}, errors: { rollout: { code: "rollout_timeout", message } } },
    ]);
    expect(samples.map(({ truncated }) => truncated)).toEqual([false, true]);
    expect(() => countVerdicts({ judged: 0, missing: 0 }, verdicts, 0.2)).toThrow(
      expect.objectContaining({
        code: "rollout_timeout",
        message: expect.stringContaining(`A conversation, sample 1 of the step: ${message}`) as string,
      }),
    );
  });

  it("ends one that waits for a tool, and keeps one that is over", async () => {
    const late = new AbortController();
    const write = (text: string) => (text.includes("call") ? `${call("add", {})}$` : "done$");
    const tools = () => {
      setImmediate(() => late.abort());
      return never();
    };
    const { samples } = await play({ write, tools, deadline: late.signal }, [row("call"), row("talk")]);
    expect(samples.map(({ fault }) => fault?.code)).toEqual(["rollout_timeout", undefined]);
    const rollout = rolloutOf(1, samples[0] ?? raise(), { scores: {}, errors: {} });
    expect(rollout).toMatchObject({
      truncated: true,
      text: expect.stringContaining("<tool_call>") as string,
    });
  });

  it("is no excuse for an engine that fails", async () => {
    const write = () => Promise.reject(new Error("the engine broke"));
    await expect(play({ write }, [row("hm")])).rejects.toThrow("the engine broke");
  });
});

function raise(): never {
  throw new Error("no sample");
}
