import { describe, expect, it, onTestFinished } from "vitest";
import type { AwsContainersParams } from "../../../functions/aws/aws-containers/params.ts";
import { GPU, gym, PARAMS, spec, SPOT, WORLD, type Gym } from "./gym.ts";

const [, taskDefinition] = WORLD.taskDefinitions ?? [];
const [, jobDefinition] = WORLD.jobDefinitions ?? [];
const { containerProperties, ...nodeJob } = jobDefinition ?? {};

/** A stack with images of slime and vLLM, and three nodes for one training. */
const params: AwsContainersParams = {
  ...PARAMS,
  serve: { L4: { taskDefinition: "embedded", capacityProvider: "gpu", network: "host" } },
  work: { L4: { jobDefinition: "embedded", jobQueue: "work-gpu", spotJobQueue: "work-gpu-spot" } },
  engines: {
    vllm: { serve: "vllm-{class}" },
    slime: {
      work: "slime-{class}",
      nodes: { hardwareClass: "L4:1", most: 3, jobDefinition: "slime-nodes", jobQueue: "work-gpu" },
    },
  },
};
const world = {
  taskDefinitions: [{ ...taskDefinition, family: "vllm-l4" }],
  jobDefinitions: [
    { ...jobDefinition, jobDefinitionName: "slime-l4" },
    {
      ...nodeJob,
      jobDefinitionName: "slime-nodes",
      type: "multinode",
      nodeProperties: {
        numNodes: 3,
        mainNode: 0,
        nodeRangeProperties: [{ targetNodes: "0:", container: containerProperties }],
      },
    },
  ],
} as typeof WORLD;

const open = () => gym(onTestFinished, world, { params });
const RUN = "train-run-1-a1";
const NODES = spec(RUN, { engine: "slime", hardware: { ...GPU, nodes: 2 } });

async function started({ aws, containers }: Gym): Promise<void> {
  await containers.launch(NODES);
  await aws.clock.advance(300_000);
}

describe("engines of other makers", () => {
  it("are started from definitions of their own", async () => {
    const { aws, containers } = await open();
    await containers.launch(spec("serve-base-r1-1", { engine: "vllm", hardware: GPU }));
    await containers.launch(spec(RUN, { engine: "slime", hardware: SPOT }));
    const of = (call: string) => aws.calls.find(({ operation }) => operation === call)?.input;
    expect(of("RunTask")).toMatchObject({ taskDefinition: "vllm-l4" });
    expect(of("SubmitJob")).toMatchObject({ jobDefinition: "slime-l4", jobQueue: "work-gpu-spot" });
    expect((await containers.list()).map(({ kind }) => kind).sort()).toEqual(["serve", "train"]);
    const wrong = spec("train-run-2-a1", { engine: "vllm", hardware: GPU });
    await expect(containers.launch(wrong)).rejects.toMatchObject({ code: "engine_missing" });
  });
});

describe("a conversion of weights", () => {
  it("is a job of Batch, found and ended by its id alone", async () => {
    const { aws, containers, another } = await open();
    const id = "convert-run-1-c-model-a1";
    await containers.launch({ ...spec(id, { engine: "slime", hardware: GPU }), kind: "convert" });
    expect(aws.calls.find(({ operation }) => operation === "SubmitJob")?.input).toMatchObject({
      jobDefinition: "slime-l4",
    });
    expect(await another().list()).toEqual([{ jobId: id, kind: "convert" }]);
    await aws.clock.advance(300_000);
    const before = aws.calls.length;
    expect(await another().describe(id)).toMatchObject({ state: "running" });
    expect(aws.calls.slice(before).map(({ operation }) => operation)).not.toContain("ListTasks");
  });
});

describe("a run over several nodes", () => {
  it("is one job, whose nodes know their place and the main one", async () => {
    const all = await open();
    await started(all);
    const { aws, containers } = all;
    expect(aws.calls.find(({ operation }) => operation === "SubmitJob")?.input).toMatchObject({
      jobDefinition: "slime-nodes",
      nodeOverrides: { numNodes: 2, nodePropertyOverrides: [{ targetNodes: "0:" }] },
    });
    const places = aws.containers.all.map(({ run: { environment, gpus } }) => ({
      rank: environment["AWS_BATCH_JOB_NODE_INDEX"],
      of: environment["AWS_BATCH_JOB_NUM_NODES"],
      main: environment["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"],
      token: environment["SPOTTER_JOB_TOKEN"],
      gpus,
    }));
    const common = { of: "2", token: `spotter-job.${RUN}.secret`, gpus: 1 };
    expect(places).toEqual([
      { rank: "0", main: undefined, ...common },
      { rank: "1", main: "127.0.0.1", ...common },
    ]);
    expect(await containers.describe(RUN)).toMatchObject({ state: "running" });
    expect(await containers.list()).toEqual([{ jobId: RUN, kind: "train" }]);
    expect(await all.another().list()).toEqual([{ jobId: RUN, kind: "train" }]);
  });

  it("waits for room, says why, and is started once", async () => {
    const { aws, containers, another } = await open();
    await containers.launch(NODES);
    await another().launch(NODES);
    expect(await containers.describe(RUN)).toMatchObject({ state: "waiting", reason: "capacity" });
    expect(aws.calls.filter(({ operation }) => operation === "SubmitJob")).toHaveLength(1);
  });

  it("ends as its main node does, with that one's exit code and last words", async () => {
    const all = await open();
    await started(all);
    const { aws, containers, another } = all;
    const [main, child] = aws.containers.all;
    child?.run.log("of the child");
    child?.end(1);
    await aws.clock.advance(60_000);
    expect(await containers.describe(RUN)).toMatchObject({ state: "running" });
    main?.run.log("of the main node");
    main?.end(137, "OutOfMemoryError: Container killed due to memory usage");
    await aws.clock.advance(60_000);
    for (const each of [containers, another()])
      expect(await each.describe(RUN)).toMatchObject({
        state: "exited",
        exitCode: 137,
        reason: "oom",
        logTail: ["of the main node"],
      });
    expect(await containers.list()).toEqual([]);
  });

  it("is stopped on every node", async () => {
    const all = await open();
    await started(all);
    const { aws, containers, passUntil } = all;
    await passUntil(containers.stop(RUN, 1_000));
    await aws.clock.advance(60_000);
    expect(await containers.describe(RUN)).toMatchObject({ state: "exited", reason: "user" });
    expect(aws.containers.all.map(({ exit }) => exit !== undefined)).toEqual([true, true]);
  });
});
