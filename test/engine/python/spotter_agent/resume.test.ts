import { join } from "node:path";
import { describe, it } from "vitest";
import type { FakeControlPlane } from "../../fake-control-plane.ts";
import { slimeJob, startAgent, type AgentOptions, type AgentRun, type OnEnd } from "./agent.ts";
import { hasPython } from "./has-python.ts";

type Files = Map<string, Buffer>;

// Several agents at a time on a busy machine.
const SLOW = { timeout: 20_000 };
const STATE = "trainer/iter_0000001/__0_0.distcp";

/** A checkpoint of two steps of another run, as slime writes it. */
function twoSteps({ optimizer = true } = {}): Files {
  const state = "weights of the base + a + b";
  return new Map(
    Object.entries({
      [STATE]: state,
      "trainer/iter_0000001/.metadata": `model.weight${optimizer ? " optimizer.state" : ""} __0_0.distcp`,
      "trainer/iter_0000001/common.pt": "2",
      "trainer/rollout/global_dataset_state_dict_1.pt": "1",
      "model/config.json": "{}",
      "model/model-00001-of-00001.safetensors": state,
    }).map(([path, text]) => [path, Buffer.from(text)]),
  );
}

/** What a job says of such files. */
const checkpoint = (plane: FakeControlPlane, files: Files, step: number) => ({
  id: `run-0@${step}`,
  kind: "full",
  step,
  model: { name: "made/model" },
  files: [...files].map(([path, bytes]) => plane.addFile(path, bytes)),
});

/** Four steps of this run, saved every two, that start from a checkpoint of another one. */
async function trainFrom(onEnd: OnEnd, files: Files, mode: string, options: AgentOptions = {}) {
  const started = mode === "continue" ? 2 : 0;
  const run = await startAgent(
    onEnd,
    (plane) => {
      const job = slimeJob(plane, 4) as { spec: object; native: { argv: string[] } };
      const at = job.native.argv.indexOf("--num-rollout") + 1;
      job.native.argv[at] = String(started + 4);
      if (started > 0) job.native.argv.push("--override-opt-param-scheduler");
      Object.assign(job.native, { startedSteps: started });
      return {
        ...job,
        spec: { ...job.spec, startFrom: { checkpoint: "run-0@2", mode } },
        start: checkpoint(plane, files, 2),
      };
    },
    options,
  );
  return { run, code: await run.ended };
}

const weightsOf = (run: AgentRun, step: number): string | undefined =>
  run.plane.checkpoints.get(step)?.files.get("model/model-00001-of-00001.safetensors")?.toString();

describe.runIf(hasPython).concurrent("a training on slime that starts from a checkpoint", SLOW, () => {
  it("continues it with the optimizer, and makes its own steps on top", async ({
    expect,
    onTestFinished,
  }) => {
    const { run, code } = await trainFrom(onTestFinished, twoSteps(), "continue");
    expect(code, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
    expect(weightsOf(run, 4)).toBe("weights of the base + a + b + c + a + b + c");
    const last = [...(run.plane.checkpoints.get(4)?.files.keys() ?? [])].find((path) =>
      path.endsWith(".distcp"),
    );
    expect(last).toBe("trainer/iter_0000005/__0_0.distcp");
    // The weights of the other run's checkpoint are in its state already.
    expect(run.plane.requests.filter(({ path }) => path.startsWith("/blobs/"))).toHaveLength(7);
  });

  it("continues one that was saved without its optimizer, and says that it begins anew", async ({
    expect,
    onTestFinished,
  }) => {
    const { run, code } = await trainFrom(onTestFinished, twoSteps({ optimizer: false }), "continue");
    expect(code, run.stderr()).toBe(0);
    expect(weightsOf(run, 4)).toBe("weights of the base + a + b + c + a + b + c");
    expect(run.stderr()).toContain("saved without its optimizer, which begins anew");
    expect(run.stderr()).toContain("--no-load-optim");
  });

  it("takes the weights alone, also in the attempt after a lost one", async ({ expect, onTestFinished }) => {
    const { run, code } = await trainFrom(onTestFinished, twoSteps(), "weights", {
      behaviour: { failAt: 4, how: "crash" },
    });
    expect(code).toBe(1);
    expect(weightsOf(run, 2)).toBe("weights of the base + a + b + a + b");
    const kept = run.plane.checkpoints.get(2)?.files ?? new Map<string, Buffer>();
    const again = await trainFrom(onTestFinished, twoSteps(), "weights", {
      before: (plane) => void Object.assign(plane.job ?? {}, { resume: checkpoint(plane, kept, 2) }),
    });
    expect(again.code, again.run.stderr()).toBe(0);
    expect(weightsOf(again.run, 4)).toBe("weights of the base + a + b + a + b + c + a");
    expect([...again.run.plane.checkpoints.keys()]).toEqual([4]);
    // What it learns is compared with what it began as, not with the model.
    expect(again.run.stderr()).toContain(`--ref-load ${join(again.run.workDir, "start")}`);
  });

  it("refuses one whose state is not whole, before the engine starts", async ({ expect, onTestFinished }) => {
    const files = twoSteps();
    files.set(STATE, Buffer.from(""));
    const { run, code } = await trainFrom(onTestFinished, files, "continue");
    expect(code).toBe(1);
    expect(run.exit()).toMatchObject({ failure: { code: "checkpoint_mismatch" } });
    expect(run.stderr()).not.toContain("stand-in pid");
  });

  it("goes on at the step it is told, whatever later ones lie beside it", async ({
    expect,
    onTestFinished,
  }) => {
    const files = twoSteps();
    files.set("trainer/iter_0000007/__0_0.distcp", Buffer.from("later"));
    files.set("trainer/iter_0000007/.metadata", Buffer.from("optimizer __0_0.distcp"));
    files.set("trainer/latest_checkpointed_iteration.txt", Buffer.from("7"));
    const { run, code } = await trainFrom(onTestFinished, files, "continue");
    expect(code, run.stderr()).toBe(0);
    expect(weightsOf(run, 4)).toBe("weights of the base + a + b + c + a + b + c");
  });

  it("keeps the critic of PPO beside the actor, and goes on with both", async ({
    expect,
    onTestFinished,
  }) => {
    const overrides = { load: "{{spotter.criticLoadDir}}", save: "{{spotter.saveDir}}/critic" };
    const ppo = async (resume?: Files) => {
      const run = await startAgent(onTestFinished, (plane) => {
        const job = slimeJob(plane, 4) as { native: { argv: string[]; files: object[] } };
        const path = "config/megatron.yaml";
        job.native.files.push({
          path,
          content: JSON.stringify({ megatron: [{ role: "critic", overrides }] }),
        });
        job.native.argv.push(
          "--advantage-estimator",
          "ppo",
          "--megatron-config-path",
          `{{spotter.workDir}}/${path}`,
        );
        return { ...job, ...(resume && { resume: checkpoint(plane, resume, 2) }) };
      });
      expect(await run.ended, run.stderr()).toBe(0);
      return run.plane.checkpoints;
    };
    const kept = (await ppo()).get(2)?.files;
    expect(kept?.has("trainer/critic/iter_0000001/__0_0.distcp")).toBe(true);
    expect([...(await ppo(kept)).keys()]).toEqual([4]);
  });
});
