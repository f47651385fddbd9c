import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentFiles } from "../../../infra/bundle/agent-archive.ts";
import { archive } from "../../../infra/bundle/tar.ts";
import { gpuReplica, gpuWork, nodesWork } from "../../../infra/components/container-definition.ts";
import { engineStart } from "../../../infra/components/container-start.ts";
import type { GpuEngine } from "../../../infra/config/images.ts";
import { Client, models } from "../../../sdk/index.ts";
import type { FakeAwsOptions, StartContainer } from "../../fakes/aws/index.ts";
import { imageFolder, startInImage } from "./gpu-containers.ts";
import { STACK } from "./resources.ts";
import { startStack, type AwsStack } from "./stack.ts";

/** A stack of H100 with images of slime and vLLM, which have stand-ins for the engines, and ours for the rest. */
export interface GpuStack extends AwsStack {
  /** Of the test; containers may leave something there. */
  folder: string;
  /** A file with one reward, the length of an answer. */
  rewards: string;
}

const REWARDS =
  'import { reward } from "spotter";\nexport const length = reward(async (args) => args.response.content.length);\n';
const NANO = new URL("../../../engine/models/nano", import.meta.url);

/** With a model `Qwen/Qwen3.5-4B`, and as the home that scripts speak to. */
export async function startGpuStack(): Promise<GpuStack> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-gpu-stack-"));
  const agent = await serveAgent();
  const stack = await startStack({
    resources: resourcesOf(agent.program, startInImage(await imageFolder(folder))),
    containerPlaces: PLACES,
  });
  const client = new Client({ url: stack.url, key: stack.key });
  Client.setDefault(client);
  // Any weights will do under the name: the stand-ins read none.
  await models.push(NANO, { name: "Qwen/Qwen3.5-4B", client });
  const rewards = join(folder, "rewards.ts");
  writeFileSync(rewards, REWARDS);
  return {
    ...stack,
    folder,
    rewards,
    async close() {
      Client.setDefault(undefined);
      await stack.close();
      agent.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The agent's archive where containers fetch it: S3, without credentials, on AWS. */
async function serveAgent() {
  const bytes = archive(agentFiles());
  const server = createServer((_request, response) => void response.end(bytes));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent.tar.gz`;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { program: { url, sha256, entry: "spotter_agent" }, close: () => void server.close() };
}

const shared = { logGroup: `/${STACK}/containers`, region: "eu-central-1", executionRoleArn: "unused" };
const CLUSTER = `${STACK}-replicas`;
const ONE = h100(1, "p5.4xlarge", 16, 256);
const EIGHT = h100(8, "p5.48xlarge", 192, 2048);

/** What `pulumi up` makes of the settings `engineImages`, `gpuClasses` and `multiNode`, by the same functions. */
function resourcesOf(
  program: Parameters<typeof engineStart>[2],
  startContainer: StartContainer,
): FakeAwsOptions {
  const image = (engine: GpuEngine) => `upstream/${engine}@sha256:${"0".repeat(64)}`;
  const of = (engine: GpuEngine) => ({ start: engineStart(engine, image(engine), program), ...shared });
  return {
    auto: true,
    pools: [
      { name: "h100-1", instanceType: "p5.4xlarge", maxSize: 2 },
      { name: "h100-8", instanceType: "p5.48xlarge", maxSize: 2 },
    ],
    clusters: [{ name: CLUSTER, capacityProviders: ["h100-1"] }],
    queues: [{ name: "h100-8", pools: ["h100-8"] }],
    taskDefinitions: [
      {
        family: "vllm-h100-1",
        requiresCompatibilities: ["EC2"],
        networkMode: "host",
        containerDefinitions: [gpuReplica(of("vllm"), ONE)],
      },
    ],
    jobDefinitions: [
      {
        jobDefinitionName: "slime-h100-8",
        type: "container",
        platformCapabilities: ["EC2"],
        containerProperties: gpuWork(of("slime"), EIGHT),
      },
      {
        jobDefinitionName: "slime-nodes",
        type: "multinode",
        platformCapabilities: ["EC2"],
        nodeProperties: nodesWork(of("slime"), { gpuClass: EIGHT, maxNodes: 2, fabricCards: 32 }),
      },
    ],
    startContainer,
  };
}

/** The variable SPOTTER_CONTAINERS of the functions of this stack. */
const PLACES = JSON.stringify({
  cluster: CLUSTER,
  subnets: ["subnet-0123456789abcdef0"],
  securityGroups: [],
  logGroup: shared.logGroup,
  serve: {
    "H100:1": { taskDefinition: "embedded", capacityProvider: "h100-1", network: "host" },
  },
  work: { "H100:8": { jobDefinition: "embedded", jobQueue: "h100-8" } },
  engines: {
    vllm: { serve: "vllm-{class}" },
    slime: {
      work: "slime-{class}",
      nodes: { hardwareClass: "H100:8", most: 2, jobDefinition: "slime-nodes", jobQueue: "h100-8" },
    },
  },
});

function h100(gpus: number, instanceType: string, vCpus: number, memoryGiB: number) {
  return {
    name: `H100:${gpus}`,
    gpu: "H100",
    gpus,
    instanceTypes: [instanceType],
    vCpus,
    memoryGiB,
    maxInstances: 2,
    spot: false,
  };
}
