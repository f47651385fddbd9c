import { describe, it, vi } from "vitest";
import { startAgent, vllmJob, type AgentOptions, type OnEnd } from "./agent.ts";
import { hasPython } from "./has-python.ts";

// Several agents at a time on a busy machine.
const SLOW = { timeout: 20_000 };
const serve = (onEnd: OnEnd, options: AgentOptions = {}) => startAgent(onEnd, vllmJob, options);

describe.runIf(hasPython).concurrent("the agent of a serving engine", SLOW, () => {
  it("is ready when the engine has answered, and ends with it when it is asked to", async ({
    expect,
    onTestFinished,
  }) => {
    const run = await serve(onTestFinished, { behaviour: { secondsToLoad: 0.3 } });
    await vi.waitFor(() => expect(run.told("ready")).toHaveLength(1), 15_000);
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

  it.for([
    [{ how: "gpu-oom" }, "container_out_of_memory", "CUDA"],
    [{ how: "dumb" }, "engine_failed", "EngineDeadError"],
    [{ how: "no-model" }, "engine_failed", "lists no model"],
    [{ dieAfter: 1 }, "engine_failed", "exit code 9"],
    [{ secondsToLoad: 60 }, "engine_failed", "did not end"],
  ] as const)(
    "says why it is not ready any more: %j",
    async ([behaviour, code, words], { expect, onTestFinished }) => {
      const run = await serve(onTestFinished, { behaviour, options: { ready_within_s: 3 } });
      expect(await run.ended, run.stderr()).toBe(1);
      expect(run.exit()).toMatchObject({ outcome: "failed", failure: { code } });
      expect((run.exit()?.["failure"] as { message: string }).message).toContain(words);
    },
  );

  it("puts a checkpoint where the engine looks: an adapter beside its model, all weights without one", async ({
    expect,
    onTestFinished,
  }) => {
    const started = async (kind: "lora" | "full", argv: string[]) => {
      const run = await startAgent(
        onTestFinished,
        (plane) => {
          const files = ["adapter_config.json", "deep/er.safetensors"].map((name) =>
            plane.addFile(`model/${name}`, name),
          );
          const checkpoint = { id: "run-1@4", kind, step: 4, model: { name: "made/model" }, files };
          const job = vllmJob(plane) as { native: { argv: string[] }; modelFiles?: object };
          if (kind === "full") delete job.modelFiles;
          return { ...job, checkpoint, native: { ...job.native, argv: [...job.native.argv, ...argv] } };
        },
        {},
      );
      await vi.waitFor(() => expect(run.told("ready")).toHaveLength(1), 10_000);
      return run.stderr();
    };
    const adapter = await started("lora", [
      "{{spotter.modelDir}}",
      "--lora-modules",
      "base={{spotter.checkpointDir}}",
    ]);
    expect(adapter).toContain("files config.json");
    expect(adapter).toContain("files adapter_config.json deep deep/er.safetensors");
    const full = await started("full", ["{{spotter.checkpointDir}}"]);
    expect(full).toContain("files adapter_config.json deep deep/er.safetensors");
  });

  it("ends at once when it is asked to while a model loads", async ({ expect, onTestFinished }) => {
    const run = await serve(onTestFinished, { behaviour: { secondsToLoad: 60 }, options: { poll_s: 5 } });
    await vi.waitFor(() => expect(run.stderr()).toContain("Application startup complete"), 15_000);
    run.agent.kill("SIGTERM");
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.exit()).toEqual({ type: "exit", outcome: "cancelled" });
  });
});
