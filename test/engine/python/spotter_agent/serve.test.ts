import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startAgent, vllmJob, type AgentOptions } from "./agent.ts";
import { hasPython } from "./has-python.ts";

const serve = (options: AgentOptions = {}) => startAgent(onTestFinished, vllmJob, options);

describe.runIf(hasPython)("the agent of a serving engine", () => {
  it("is ready when the engine has answered, and ends with it when it is asked to", async () => {
    const run = await serve({ behaviour: { secondsToLoad: 0.3 } });
    await vi.waitFor(() => expect(run.told("ready")).toHaveLength(1), 5_000);
    const address = run.told("ready")[0]?.["address"] as string;
    const asked = (key: string) =>
      fetch(`http://${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect((await asked("key-of-the-replica")).status).toBe(200);
    expect((await asked("another")).status).toBe(401);
    expect(run.plane.beats.map(({ phase }) => phase)).toContain("warm-up");
    run.agent.kill("SIGTERM");
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.exit()).toEqual({ type: "exit", outcome: "cancelled" });
    await expect(asked("key-of-the-replica")).rejects.toThrow("fetch failed");
    expect(run.stderr()).not.toContain("key-of-the-replica");
  });

  it.each([
    [{ how: "gpu-oom" }, "container_out_of_memory", "CUDA"],
    [{ how: "dumb" }, "engine_failed", "EngineDeadError"],
    [{ dieAfter: 0.3 }, "engine_failed", "exit code 9"],
    [{ secondsToLoad: 60 }, "engine_failed", "did not end"],
  ])("says why it is not ready any more: %j", async (behaviour, code, words) => {
    const run = await serve({ behaviour, options: { ready_within_s: 0.8 } });
    expect(await run.ended, run.stderr()).toBe(1);
    expect(run.exit()).toMatchObject({ outcome: "failed", failure: { code } });
    expect((run.exit()?.["failure"] as { message: string }).message).toContain(words);
  });
});
