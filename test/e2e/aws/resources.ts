import type { FakeAwsOptions } from "../../fakes/aws/index.ts";
import { startEngine } from "./containers.ts";

export const STACK = "spotter-test";
const CLUSTER = `${STACK}-replicas`;
const SERVE = `${STACK}-serve`;
const WORK = `${STACK}-work`;
/** Instances with a GPU that may be taken away. */
const SPOT_POOL = `${STACK}-l4`;
const EXECUTION_ROLE = `arn:aws:iam::000000000000:role/${STACK}-execution`;
const CONTAINER = "spotter";
const LOG_GROUP = `/${STACK}/containers`;

const program = {
  image: "node:24",
  logConfiguration: {
    logDriver: "awslogs" as const,
    options: {
      "awslogs-group": LOG_GROUP,
      "awslogs-region": "eu-central-1",
      "awslogs-stream-prefix": CONTAINER,
    },
  },
};
const VCPU = { type: "VCPU" as const, value: "2" };
const MEMORY = { type: "MEMORY" as const, value: "8192" };

/** What `pulumi up` makes, as far as containers need it. */
export const resources: FakeAwsOptions = {
  auto: true,
  clusters: [{ name: CLUSTER, capacityProviders: ["FARGATE", "FARGATE_SPOT"] }],
  pools: [{ name: SPOT_POOL, instanceType: "g6.xlarge", maxSize: 2, spot: true }],
  queues: [{ name: WORK }, { name: SPOT_POOL, pools: [SPOT_POOL] }],
  taskDefinitions: [
    {
      family: SERVE,
      requiresCompatibilities: ["FARGATE"],
      networkMode: "awsvpc",
      executionRoleArn: EXECUTION_ROLE,
      cpu: "2048",
      memory: "8192",
      containerDefinitions: [{ name: CONTAINER, essential: true, ...program }],
    },
  ],
  jobDefinitions: [
    {
      jobDefinitionName: WORK,
      type: "container",
      platformCapabilities: ["FARGATE"],
      containerProperties: {
        ...program,
        executionRoleArn: EXECUTION_ROLE,
        resourceRequirements: [VCPU, MEMORY],
      },
    },
    {
      jobDefinitionName: SPOT_POOL,
      type: "container",
      platformCapabilities: ["EC2"],
      containerProperties: { ...program, resourceRequirements: [VCPU, MEMORY, { type: "GPU", value: "1" }] },
    },
  ],
  startContainer: startEngine,
  // Two minutes on AWS.
  delays: { spotWarningMs: 1_500 },
};

/** The variable SPOTTER_CONTAINERS of the functions of this stack. */
export const containerPlaces = JSON.stringify({
  cluster: CLUSTER,
  subnets: ["subnet-0123456789abcdef0"],
  securityGroups: [],
  containerName: CONTAINER,
  logGroup: LOG_GROUP,
  serve: {
    cpu: { taskDefinition: SERVE, capacityProvider: "FARGATE", spotCapacityProvider: "FARGATE_SPOT" },
  },
  work: {
    cpu: { jobDefinition: WORK, jobQueue: WORK },
    L4: { jobDefinition: SPOT_POOL, jobQueue: SPOT_POOL, spotJobQueue: SPOT_POOL },
  },
});
