import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, it, vi } from "vitest";
import { answer, type FakeControlPlane } from "../../fake-control-plane.ts";
import { slimeJob, startAgent, type AgentOptions, type AgentRun, type OnEnd } from "./agent.ts";
import { hasPython } from "./has-python.ts";

const SLOW = { timeout: 20_000 };
const train = (onEnd: OnEnd, options: AgentOptions = {}): Promise<AgentRun> =>
  startAgent(onEnd, (plane) => slimeJob(plane), options);

/** The steps whose numbers came, in the order in which they came. */
const stepsOf = (run: AgentRun): (number | undefined)[] =>
  run
    .told("run")
    .map(({ event }) => event as { type: string; step?: number; metrics?: object })
    .filter(({ type, metrics }) => type === "metrics" && "loss" in (metrics ?? {}))
    .map(({ step }) => step);

const enginePid = (run: AgentRun): number => Number(/stand-in pid (\d+)/.exec(run.stderr())?.[1]);
const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

/** Refuses everything but the job itself while `isAway`. */
function disturb(plane: FakeControlPlane, refuse: Parameters<typeof withRefusal>[1], isAway: () => boolean) {
  plane.intercept = (request, response) =>
    isAway() && request.url !== "/jobs/job-1" && withRefusal(response, refuse);
}
function withRefusal(response: Parameters<FakeControlPlane["intercept"]>[1], refuse: number | "cut"): true {
  if (refuse === "cut") response.destroy();
  else answer(response, refuse, { error: { code: "internal", kind: "system", message: "storm" } });
  return true;
}

describe.runIf(hasPython).concurrent("the agent of a training in bad weather", SLOW, () => {
  it.for([500, "cut"] as const)(
    "goes on while the control plane answers %s, and then tells all of it once, in order",
    async (refuse, { expect, onTestFinished }) => {
      let away = false;
      const run = await train(onTestFinished, { behaviour: { secondsAStep: 0.15 } });
      disturb(run.plane, refuse, () => away);
      await vi.waitFor(() => expect(run.told("run").length).toBeGreaterThan(2), 10_000);
      away = true;
      // The training does not wait: it makes all its steps meanwhile.
      await vi.waitFor(() => expect(run.stderr()).toContain("step 3: {"), 10_000);
      expect(run.plane.checkpoints.size).toBeLessThan(2);
      away = false;
      expect(await run.ended, run.stderr()).toBe(0);
      expect(stepsOf(run)).toEqual([1, 2, 3, 4]);
      expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
    },
  );

  it("is patient with a slow network", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, {
      before: (plane) => {
        const weights = Buffer.from("weights of the base");
        const file = plane.addFile("model.safetensors", weights);
        Object.assign(plane.job ?? {}, { modelFiles: [plane.addFile("config.json", "{}"), file] });
        let asked = 0;
        plane.intercept = (request, response) => {
          if (!file.url.endsWith(request.url ?? "-")) return false;
          asked += 1;
          response.writeHead(200, { "content-length": String(weights.length) });
          for (const [index, byte] of weights.entries())
            setTimeout(() => response.write(Buffer.of(byte)), index * 20);
          setTimeout(() => response.end(), weights.length * 20);
          expect(asked).toBe(1);
          return true;
        };
      },
    });
    expect(await run.ended, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
  });

  it("goes on with files that an earlier agent left half-fetched, and believes none unseen", async ({
    expect,
    onTestFinished,
  }) => {
    const asked: (string | undefined)[] = [];
    const left = { whole: "config text", half: "0123456789".repeat(10), wrong: "abcdefghij".repeat(10) };
    const run = await train(onTestFinished, {
      before: (plane) => {
        const files = Object.entries(left).map(([name, text]) => plane.addFile(`${name}.txt`, text));
        const weights = plane.addFile("model.safetensors", "weights of the base");
        Object.assign(plane.job ?? {}, { modelFiles: [...files, weights] });
        const model = join(plane.env.SPOTTER_WORK_DIR, "model");
        mkdirSync(model, { recursive: true });
        writeFileSync(join(model, "whole.txt"), left.whole);
        writeFileSync(join(model, "half.txt.partial"), left.half.slice(0, 40));
        writeFileSync(join(model, "wrong.txt.partial"), "x".repeat(40));
        plane.intercept = (request, response) => {
          const index = files.findIndex(({ url }) => url.endsWith(request.url ?? "-"));
          if (index < 0) return false;
          const { range } = request.headers;
          asked.push(`${Object.keys(left)[index]} ${range ?? "all"}`);
          const start = Number(/bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0);
          response.writeHead(range === undefined ? 200 : 206).end(Object.values(left)[index]?.slice(start));
          return true;
        };
      },
    });
    expect(await run.ended, run.stderr()).toBe(0);
    expect(asked).toEqual(["half bytes=40-", "wrong bytes=40-", "wrong all"]);
  });

  it.runIf(existsSync("/dev/full"))("says that the disk is full", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, {
      before: (plane) => {
        const datasets = join(plane.env.SPOTTER_WORK_DIR, "datasets");
        mkdirSync(datasets);
        symlinkSync("/dev/full", join(datasets, "dataset.slime.jsonl"));
      },
    });
    expect(await run.ended, run.stderr()).toBe(1);
    expect(run.exit()).toMatchObject({ failure: { code: "disk_full" } });
  });

  it("tells the engine to stop at once, also while an upload takes its time", async ({
    expect,
    onTestFinished,
  }) => {
    const held: (() => void)[] = [];
    const run = await train(onTestFinished, {
      behaviour: { secondsAStep: 0.25 },
      before: (plane) => {
        plane.intercept = (request, response) => {
          if (request.method !== "PUT" || held.length > 0) return false;
          held.push(() => answer(response, 503, {}));
          return true;
        };
      },
    });
    await vi.waitFor(() => expect(held).toHaveLength(1), 10_000);
    run.agent.kill("SIGTERM");
    await vi.waitFor(
      () => expect(run.stderr()).toContain("asked to end: after the next step's checkpoint"),
      10_000,
    );
    held[0]?.();
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.exit()).toEqual({ type: "exit", outcome: "cancelled" });
    // The step after the request was saved, and not only the one before.
    expect(Math.max(...run.plane.checkpoints.keys())).toBeGreaterThan(2);
    expect(stepsOf(run).at(-1)).toBe(Math.max(...run.plane.checkpoints.keys()));
  });

  it("leaves no engine behind when it is killed, and nothing half-stored", async ({
    expect,
    onTestFinished,
  }) => {
    const held: string[] = [];
    const run = await train(onTestFinished, {
      // It says nothing more, so that no broken pipe ends it.
      behaviour: { failAt: 3, how: "hang" },
      before: (plane) => {
        plane.intercept = (request) => {
          if (request.method !== "PUT") return false;
          held.push(request.url ?? "");
          return true;
        };
      },
    });
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), 10_000);
    await delay(300);
    const pid = enginePid(run);
    expect(isGone(pid)).toBe(false);
    run.agent.kill("SIGKILL");
    await run.ended;
    await vi.waitFor(() => expect(isGone(pid)).toBe(true), 5_000);
    expect(run.plane.checkpoints.get(2)?.complete).toBe(false);
  });
});
