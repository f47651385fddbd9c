import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Program } from "../bootstrap/container-program.ts";
import type { GpuClass, StackConfig } from "../config.ts";
import {
  CPU_SHAPE,
  cpuReplica,
  cpuWork,
  gpuReplica,
  gpuWork,
  nodesWork,
  type Shared,
} from "./container-definition.ts";
import { slugOf } from "./gpu-pools.ts";

export interface TaskDefinitionsArgs {
  /** The engine, which every container fetches. */
  program: pulumi.Input<Program>;
}

/** What runs and replicas of one hardware class are started from. */
export interface Definition {
  /** Family of tasks, or name of job definitions: the newest revision is meant. */
  name: pulumi.Output<string>;
  /** With its revision. */
  arn: pulumi.Output<string>;
}

/**
 * Task definitions of replicas, job definitions of runs and evals, for each hardware class. A container has no role: it
 * knows a URL and a token of its job, which come with the job. The execution role writes its log, and no more:
 * images come from where everybody may pull them.
 */
export class TaskDefinitions extends pulumi.ComponentResource {
  /** By hardware class: `cpu`, `L4:1`. */
  readonly serve: Record<string, Definition> = {};
  readonly work: Record<string, Definition> = {};
  /** Of a training over several hosts. There with `multiNode`. */
  readonly nodes: Definition | undefined;
  readonly logGroup: pulumi.Output<string>;
  readonly executionRoleArn: pulumi.Output<string>;
  readonly #config: StackConfig;

  constructor(
    name: string,
    { program }: TaskDefinitionsArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:TaskDefinitions", name, {}, options);
    this.#config = config;
    const logs = new aws.cloudwatch.LogGroup(
      name,
      { retentionInDays: config.logRetentionDays, tags: config.tags },
      { parent: this },
    );
    const role = this.#executionRole(name, logs);
    this.logGroup = logs.name;
    this.executionRoleArn = role.arn;
    const { region } = aws.getRegionOutput({}, { parent: this });
    const shared = pulumi.output({ program, logGroup: logs.name, region, executionRoleArn: role.arn });
    this.serve["cpu"] = this.#task("serve-cpu", shared, role.arn);
    this.work["cpu"] = this.#job(`${name}-work-cpu`, "FARGATE", {
      containerProperties: shared.apply(textOf(cpuWork)),
    });
    for (const each of config.gpuClasses) {
      const slug = slugOf(each.name);
      this.serve[each.name] = this.#task(`serve-${slug}`, shared, role.arn, each);
      this.work[each.name] = this.#job(`${name}-work-${slug}`, "EC2", {
        containerProperties: shared.apply(textOf((it) => gpuWork(it, each))),
      });
    }
    const { multiNode } = config;
    if (multiNode !== null)
      this.nodes = this.#job(`${name}-nodes`, "EC2", {
        nodeProperties: shared.apply(textOf((it) => nodesWork(it, multiNode))),
      });
    this.registerOutputs({ logGroup: this.logGroup });
  }

  #executionRole(name: string, logs: aws.cloudwatch.LogGroup): aws.iam.Role {
    const role = new aws.iam.Role(
      name,
      {
        assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "ecs-tasks.amazonaws.com" }),
        tags: this.#config.tags,
      },
      { parent: this },
    );
    new aws.iam.RolePolicy(name, { role: role.name, policy: logs.arn.apply(writeLogs) }, { parent: this });
    return role;
  }

  #task(
    name: string,
    shared: pulumi.Output<Shared>,
    executionRoleArn: pulumi.Output<string>,
    gpuClass?: GpuClass,
  ): Definition {
    const definition = new aws.ecs.TaskDefinition(
      name,
      {
        family: `spotter-${pulumi.getStack().replaceAll(/[^A-Za-z0-9_-]/g, "-")}-${name}`,
        executionRoleArn,
        containerDefinitions: shared.apply((it) =>
          JSON.stringify([gpuClass === undefined ? cpuReplica(it) : gpuReplica(it, gpuClass)]),
        ),
        ...(gpuClass === undefined ? FARGATE : { requiresCompatibilities: ["EC2"], networkMode: "host" }),
        tags: this.#config.tags,
      },
      { parent: this },
    );
    return { name: definition.family, arn: definition.arn };
  }

  #job(
    name: string,
    platform: "EC2" | "FARGATE",
    properties: Pick<aws.batch.JobDefinitionArgs, "containerProperties" | "nodeProperties">,
  ): Definition {
    const definition = new aws.batch.JobDefinition(
      name,
      {
        type: properties.nodeProperties === undefined ? "container" : "multinode",
        platformCapabilities: [platform],
        ...properties,
        propagateTags: true,
        // Without a retry strategy: the control plane owns attempts, see docs/decisions/0006. With an end, though: what
        // nobody knows of any more does not run for ever.
        timeout: { attemptDurationSeconds: this.#config.host.maxHours * 3600 },
        tags: this.#config.tags,
      },
      { parent: this },
    );
    return { name: definition.name, arn: definition.arn };
  }
}

const FARGATE = {
  requiresCompatibilities: ["FARGATE"],
  networkMode: "awsvpc",
  cpu: String(CPU_SHAPE.vCpus * 1024),
  memory: String(CPU_SHAPE.memoryMiB),
  // Native builds are fetched for it; functions/cost/prices.ts counts with its price.
  runtimePlatform: { operatingSystemFamily: "LINUX", cpuArchitecture: "X86_64" },
};

function textOf(make: (shared: Shared) => object): (shared: Shared) => string {
  return (shared) => JSON.stringify(make(shared));
}

function writeLogs(groupArn: string): string {
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Action: ["logs:CreateLogStream", "logs:PutLogEvents"], Resource: `${groupArn}:*` },
    ],
  } satisfies aws.iam.PolicyDocument);
}
