import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RegisterJobDefinitionRequest } from "@aws-sdk/client-batch";
import type { RegisterTaskDefinitionRequest } from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { containerPlaces } from "../../functions/aws/aws-deps/containers.ts";
import { nodeCommand } from "../../infra/bootstrap/container-program.ts";
import type { FakeAwsOptions } from "../fakes/aws/index.ts";
import type { StartContainer } from "../fakes/aws/containers.ts";
import { gym, spec, STACK } from "../functions/aws/gym.ts";
import { recordComponents, type Components } from "./record-components.ts";

const folder = mkdtempSync(join(tmpdir(), "spotter-launch-"));
let server: Server;
let stack: Components;

beforeAll(async () => {
  mkdirSync(join(folder, "dist/engine"), { recursive: true });
  const program =
    "console.log(process.env.SPOTTER_JOB_ID); process.exit(process.env.SPOTTER_JOB_TOKEN ? 5 : 6);";
  writeFileSync(join(folder, "dist/engine/train.js"), program);
  const { stdout: archive } = spawnSync("tar", ["-czf", "-", "-C", folder, "dist"]);
  server = createServer((_, response) => response.end(archive)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/programs/engine.tar.gz`;
  const sha256 = createHash("sha256").update(archive).digest("hex");
  stack = await recordComponents({ gpuClasses: '["L4:1","L4:4"]' }, async (config) => {
    const { Network } = await import("../../infra/components/network.ts");
    const { Compute } = await import("../../infra/components/compute.ts");
    const network = new Network("network", config);
    const engine = { url, sha256, entry: "dist/engine/{kind}.js" };
    const { places } = new Compute("compute", { network, program: engine }, config);
    return { places };
  });
}, 30_000);
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const inAws = (name: string) => `${name}-1a2b3c4`;
const json = (value: unknown): unknown => JSON.parse(String(value));

/** AWS with what the stack made in it, as the stack said it. */
function world(): Partial<FakeAwsOptions> {
  const groups = stack.all("aws:autoscaling/group:Group").map(({ name, inputs }) => {
    const { launchTemplate } = inputs["mixedInstancesPolicy"] as {
      launchTemplate: { overrides: { instanceType: string }[] };
    };
    const instanceType = launchTemplate.overrides[0]?.instanceType ?? "";
    return {
      name: inAws(name),
      instanceType,
      maxSize: Number(inputs["maxSize"]),
      spot: name.endsWith("-spot"),
    };
  });
  const environments = stack
    .all("aws:batch/computeEnvironment:ComputeEnvironment")
    .flatMap(({ name, inputs }) => {
      const { instanceTypes = [], type } = inputs["computeResources"] as {
        instanceTypes?: string[];
        type: string;
      };
      const pool = {
        name: inAws(name),
        instanceType: instanceTypes[0] ?? "",
        maxSize: 2,
        spot: type === "SPOT",
      };
      return instanceTypes.length === 0 ? [] : [pool];
    });
  const attached = stack.only("aws:ecs/clusterCapacityProviders:ClusterCapacityProviders").inputs;
  return {
    pools: [...groups, ...environments],
    clusters: [{ name: inAws("replicas"), capacityProviders: attached["capacityProviders"] as string[] }],
    queues: stack.all("aws:batch/jobQueue:JobQueue").map(({ name }) => ({
      name: inAws(name),
      pools: environments.map((each) => each.name).filter((each) => each === inAws(name)),
    })),
    taskDefinitions: stack.all("aws:ecs/taskDefinition:TaskDefinition").map(({ inputs }) => {
      const { tags: _tags, containerDefinitions, ...rest } = inputs;
      return { ...rest, containerDefinitions: json(containerDefinitions) } as RegisterTaskDefinitionRequest;
    }),
    jobDefinitions: stack.all("aws:batch/jobDefinition:JobDefinition").map(({ name, inputs }) => {
      const { tags: _tags, containerProperties, ...rest } = inputs;
      const jobDefinitionName = inAws(name);
      return {
        ...rest,
        jobDefinitionName,
        containerProperties: json(containerProperties),
      } as RegisterJobDefinitionRequest;
    }),
  };
}

function launching(more: Partial<FakeAwsOptions> = {}) {
  const params = { ...containerPlaces.parse(json(stack.outputs["places"])), stack: STACK };
  return gym(onTestFinished, { ...world(), ...more }, { params });
}

const gpus = (count: number, spot = false) => ({ hardware: { gpu: "L4", count, spot } as const });

describe("what the stack made is what the functions launch on", () => {
  it.each([
    ["serve-base-r1-1", {}, undefined, 0],
    ["serve-base-r1-2", gpus(1), "gpu-l4-1", 1],
    ["serve-base-r1-3", gpus(2), "gpu-l4-4", 2],
    ["serve-base-r1-4", gpus(1, true), "gpu-l4-1-spot", 1],
    ["train-run-1-a1", {}, undefined, 0],
    ["train-run-2-a1", gpus(4), "work-l4-4", 4],
    ["train-run-3-a1", gpus(1, true), "work-l4-1-spot", 1],
    ["eval-run-4-a1", {}, undefined, 0],
  ])("%s with %o runs on %s", async (jobId, hardware, pool, count) => {
    const { aws, containers } = await launching();
    await containers.launch(spec(jobId, hardware));
    await aws.clock.advance(600_000);
    expect(await containers.describe(jobId)).toMatchObject({ state: "running" });
    const [container, ...others] = aws.containers.all;
    expect(others).toEqual([]);
    expect(container?.run).toMatchObject({
      command: nodeCommand(),
      gpus: count,
      environment: { SPOTTER_JOB_ID: jobId, SPOTTER_PROGRAM_ENTRY: "dist/engine/{kind}.js" },
    });
    const used = [...aws.pools.values()].filter(({ instances }) => instances.length > 0);
    expect(used.map(({ settings }) => settings.name)).toEqual(pool === undefined ? [] : [inAws(pool)]);
  });

  it("gives each container a host of its own", async () => {
    const { aws, containers } = await launching();
    await containers.launch(spec("serve-base-r1-1", gpus(1)));
    await containers.launch(spec("serve-base-r1-2", gpus(1)));
    await containers.launch(spec("serve-base-r1-3", gpus(1)));
    await aws.clock.advance(600_000);
    expect(aws.pools.get(inAws("gpu-l4-1"))?.instances).toHaveLength(2);
    expect(await containers.describe("serve-base-r1-3")).toMatchObject({
      state: "waiting",
      reason: "capacity",
    });
  });

  it("ends as the program ends, whose log is found", async () => {
    const { containers, passUntil } = await launching({ startContainer: asProcess });
    const jobId = "train-run-1-a1";
    await passUntil(containers.launch(spec(jobId)));
    const ended = async () => {
      for (;;) {
        const state = await containers.describe(jobId);
        if (state.state === "exited") return state;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    expect(await passUntil(ended())).toMatchObject({ exitCode: 5, reason: "error", logTail: [jobId] });
  });
});

/** What a host does with a definition: here it runs its command. */
const asProcess: StartContainer = (_definition, run) => {
  const [, ...given] = run.command;
  const child = spawn(process.execPath, given, {
    env: { ...run.environment, PATH: process.env["PATH"], TMPDIR: folder },
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      for (const line of chunk.toString().trimEnd().split("\n")) run.log(line);
    });
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  return {
    pid: child.pid ?? 0,
    exited: closed.then(([exitCode, signal]) => ({ exitCode, signal })),
    stop: (signal) => void child.kill(signal),
  };
};
