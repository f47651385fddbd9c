import { BatchClient } from "@aws-sdk/client-batch";
import { ECSClient } from "@aws-sdk/client-ecs";
import { onTestFinished } from "vitest";
import { startFakeAws, type FakeAws, type FakeAwsOptions } from "../../../fakes/aws/index.ts";

export const plainContainer = { name: "engine", image: "engine:1", memory: 512, cpu: 256 };

export const usual = {
  pools: [{ name: "gpu", instanceType: "g6.xlarge", maxSize: 2, spot: true }],
  clusters: [{ name: "main", capacityProviders: ["FARGATE", "FARGATE_SPOT", "gpu"] }],
  queues: [{ name: "train", pools: ["gpu"] }, { name: "cpu" }],
  taskDefinitions: [
    {
      family: "serve",
      containerDefinitions: [
        {
          name: "engine",
          image: "engine:1",
          memory: 4096,
          cpu: 1024,
          stopTimeout: 20,
          environment: [{ name: "A", value: "1" }],
          resourceRequirements: [{ type: "GPU" as const, value: "1" }],
        },
      ],
    },
    { family: "plain", containerDefinitions: [plainContainer] },
  ],
  jobDefinitions: [
    {
      jobDefinitionName: "train",
      type: "container" as const,
      containerProperties: {
        image: "engine:1",
        resourceRequirements: [
          { type: "VCPU" as const, value: "2" },
          { type: "MEMORY" as const, value: "4096" },
          { type: "GPU" as const, value: "1" },
        ],
      },
    },
    {
      jobDefinitionName: "fargate",
      type: "container" as const,
      platformCapabilities: ["FARGATE" as const],
      containerProperties: {
        image: "engine:1",
        resourceRequirements: [
          { type: "VCPU" as const, value: "1" },
          { type: "MEMORY" as const, value: "2048" },
        ],
      },
    },
    {
      jobDefinitionName: "plain",
      type: "container" as const,
      containerProperties: {
        image: "engine:1",
        resourceRequirements: [
          { type: "VCPU" as const, value: "1" },
          { type: "MEMORY" as const, value: "512" },
        ],
      },
    },
  ],
} satisfies FakeAwsOptions;

/** A fake with a GPU pool and real clients, gone with the test. */
export async function world(
  options: FakeAwsOptions = {},
): Promise<{ aws: FakeAws; ecs: ECSClient; batch: BatchClient }> {
  const aws = await startFakeAws({ ...usual, ...options });
  const once = { ...aws.clientConfig, maxAttempts: 1 };
  const ecs = new ECSClient(once);
  const batch = new BatchClient(once);
  onTestFinished(async () => {
    ecs.destroy();
    batch.destroy();
    await aws.close();
  });
  return { aws, ecs, batch };
}
