import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Program } from "../bootstrap/container-program.ts";
import type { GpuClass, StackConfig } from "../config.ts";
import type { GpuEngine } from "../config/images.ts";
import {
  CPU_SHAPE,
  cpuReplica,
  cpuWork,
  gpuReplica,
  gpuWork,
  nodesWork,
  type Shared,
} from "./container-definition.ts";
import { engineStart, nodeStart, type ContainerStart } from "./container-start.ts";
import { slugOf } from "./gpu-pools.ts";

export interface TaskDefinitionsArgs {
  /** The embedded engine, which containers fetch. */
  program: pulumi.Input<Program>;
  /** The agent beside engines of other makers. There with `engineImages`. */
  agent?: pulumi.Input<Program>;
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
  /** vLLM's replicas and slime's runs by hardware class. There with their images. */
  readonly vllm: Record<string, Definition> = {};
  readonly slime: Record<string, Definition> = {};
  /** Of a training over several hosts. There with `multiNode` and the image of slime. */
  readonly nodes: Definition | undefined;
  readonly logGroup: pulumi.Output<string>;
  readonly executionRoleArn: pulumi.Output<string>;
  readonly #config: StackConfig;

  constructor(
    name: string,
    { program, agent }: TaskDefinitionsArgs,
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
    const common = { logGroup: logs.name, region, executionRoleArn: role.arn };
    const embedded = pulumi.output({ start: pulumi.output(program).apply(nodeStart), ...common });
    this.serve["cpu"] = this.#task("serve-cpu", embedded, role.arn);
    this.work["cpu"] = this.#job(`${name}-work-cpu`, "FARGATE", {
      containerProperties: embedded.apply(textOf(cpuWork)),
    });
    for (const each of config.gpuClasses) {
      const slug = slugOf(each.name);
      this.serve[each.name] = this.#task(`serve-${slug}`, embedded, role.arn, each);
      this.work[each.name] = this.#job(`${name}-work-${slug}`, "EC2", {
        containerProperties: embedded.apply(textOf((it) => gpuWork(it, each))),
      });
    }
    const sharedBy = (start: pulumi.Output<ContainerStart>) => pulumi.output({ start, ...common });
    if (agent !== undefined) {
      this.#vllm(sharedBy, agent, role.arn);
      this.nodes = this.#slime(sharedBy, agent);
    }
    this.registerOutputs({ logGroup: this.logGroup });
  }

  #vllm(sharedBy: SharedBy, agent: pulumi.Input<Program>, executionRoleArn: pulumi.Output<string>): void {
    const { gpuClasses, engineImages } = this.#config;
    if (engineImages.vllm === undefined) return;
    const shared = sharedBy(started("vllm", engineImages.vllm, agent));
    for (const each of gpuClasses)
      this.vllm[each.name] = this.#task(`vllm-${slugOf(each.name)}`, shared, executionRoleArn, each);
  }

  #slime(sharedBy: SharedBy, agent: pulumi.Input<Program>): Definition | undefined {
    const { gpuClasses, engineImages, multiNode } = this.#config;
    if (engineImages.slime === undefined) return undefined;
    const shared = sharedBy(started("slime", engineImages.slime, agent));
    for (const each of gpuClasses)
      this.slime[each.name] = this.#job(
        `slime-${slugOf(each.name)}`,
        "EC2",
        { containerProperties: shared.apply(textOf((it) => gpuWork(it, each))) },
        ownName(`slime-${slugOf(each.name)}`),
      );
    if (multiNode === null) return undefined;
    const nodeProperties = shared.apply(textOf((it) => nodesWork(it, multiNode)));
    return this.#job("slime-nodes", "EC2", { nodeProperties }, ownName("slime-nodes"));
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
        family: ownName(name),
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
    ownName?: string,
  ): Definition {
    const definition = new aws.batch.JobDefinition(
      name,
      {
        ...(ownName !== undefined && { name: ownName }),
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

type SharedBy = (start: pulumi.Output<ContainerStart>) => pulumi.Output<Shared>;

function started(
  engine: GpuEngine,
  image: string,
  agent: pulumi.Input<Program>,
): pulumi.Output<ContainerStart> {
  return pulumi.output(agent).apply((program) => engineStart(engine, image, program));
}

/** `spotter-dev-slime-l4-1`: what functions are told of definitions by is a pattern, see compute.ts. */
export function ownName(name: string): string {
  return `spotter-${pulumi.getStack().replaceAll(/[^A-Za-z0-9_-]/g, "-")}-${name}`;
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
