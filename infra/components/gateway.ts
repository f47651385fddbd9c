import type { ContainerDefinition } from "@aws-sdk/client-ecs";
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { nodeCommand, programVariables, type Program } from "../bootstrap/container-program.ts";
import type { StackConfig } from "../config.ts";
import { GATEWAY_TASK } from "../config/costs.ts";
import { IMAGES } from "../config/images.ts";
import { DRAIN_S, GATEWAY_PORT, type LoadBalancer } from "./load-balancer.ts";
import { allow, policyOf, statementsFor, writeLogs, type StackNames } from "./roles.ts";

export interface GatewayArgs {
  clusterArn: pulumi.Input<string>;
  subnetIds: pulumi.Input<pulumi.Input<string>[]>;
  /** Of the container: it may reach replicas. */
  securityGroupId: pulumi.Input<string>;
  balancer: LoadBalancer;
  program: pulumi.Input<Program>;
  /** Names and ARNs that policies are made of. */
  names: pulumi.Input<StackNames>;
  /** Variables of every process of the control plane, the table's name and the URL of the stack among them. */
  variables: Record<string, pulumi.Input<string>>;
  /** ARN of the parameter that holds the origin secret. */
  originSecretArn: pulumi.Input<string>;
}

const CONTAINER = "gateway";

/**
 * The gateway: one small container that is always there, for as long as streams last and requests wait. Another one
 * takes over before it goes, and it has two minutes for what is under way.
 */
export class Gateway extends pulumi.ComponentResource {
  readonly logGroupName: pulumi.Output<string>;
  readonly serviceName: pulumi.Output<string>;
  readonly #config: StackConfig;
  readonly #name: string;

  constructor(
    name: string,
    args: GatewayArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:Gateway", name, {}, options);
    this.#config = config;
    this.#name = name;
    const logs = new aws.cloudwatch.LogGroup(
      name,
      {
        name: `/${pulumi.getProject()}/${pulumi.getStack()}/gateway`,
        retentionInDays: config.logRetentionDays,
        tags: config.tags,
      },
      { parent: this },
    );
    const { task, policies } = this.#task(args, logs);
    this.#letIn(args);
    const service = new aws.ecs.Service(
      name,
      {
        cluster: args.clusterArn,
        taskDefinition: task.arn,
        desiredCount: 1,
        launchType: "FARGATE",
        networkConfiguration: {
          subnets: args.subnetIds,
          securityGroups: [args.securityGroupId],
          // Without a NAT gateway this is the way to the image and to AWS. Nobody but the balancer gets in.
          assignPublicIp: true,
        },
        loadBalancers: [
          {
            targetGroupArn: args.balancer.targetGroupArn,
            containerName: CONTAINER,
            containerPort: GATEWAY_PORT,
          },
        ],
        healthCheckGracePeriodSeconds: 120,
        deploymentMinimumHealthyPercent: 100,
        deploymentMaximumPercent: 200,
        // One that does not come up leaves the one before where it is, and the deployment fails.
        deploymentCircuitBreaker: { enable: true, rollback: true },
        waitForSteadyState: true,
        propagateTags: "SERVICE",
        enableEcsManagedTags: true,
        tags: config.tags,
      },
      {
        parent: this,
        dependsOn: [args.balancer.listener, ...policies],
        customTimeouts: { create: "15m", update: "15m" },
      },
    );
    this.logGroupName = logs.name;
    this.serviceName = service.name;
    this.registerOutputs({ serviceName: this.serviceName });
  }

  #task(args: GatewayArgs, logs: aws.cloudwatch.LogGroup) {
    const { tags } = this.#config;
    const execution = this.#role("gateway-execution", "Starts the gateway: its log, and its secret");
    const runs = this.#role("gateway", "What the gateway may do");
    const policies = [
      new aws.iam.RolePolicy(
        "gateway-execution",
        {
          role: execution.id,
          policy: pulumi
            .all([logs.arn, args.originSecretArn])
            .apply(([group, secret]) => policyOf([writeLogs(group), allow(["ssm:GetParameters"], secret)])),
        },
        { parent: this },
      ),
      new aws.iam.RolePolicy(
        "gateway",
        {
          role: runs.id,
          policy: pulumi
            .output(args.names)
            .apply((names) => policyOf(statementsFor(["store", "wake-reconciler"], names))),
        },
        { parent: this },
      ),
    ];
    const region = aws.getRegionOutput({}, { parent: this }).region;
    const task = new aws.ecs.TaskDefinition(
      this.#name,
      {
        family: `${pulumi.getProject()}-${pulumi.getStack()}-gateway`,
        requiresCompatibilities: ["FARGATE"],
        networkMode: "awsvpc",
        runtimePlatform: { cpuArchitecture: "ARM64", operatingSystemFamily: "LINUX" },
        cpu: String(GATEWAY_TASK.vCpus * 1024),
        memory: String(GATEWAY_TASK.memoryMiB),
        executionRoleArn: execution.arn,
        taskRoleArn: runs.arn,
        containerDefinitions: pulumi
          .all([args.program, pulumi.all(args.variables), args.originSecretArn, logs.name, region])
          .apply(([program, variables, secretArn, group, where]) =>
            JSON.stringify([containerOf({ program, variables, secretArn, group, region: where })]),
          ),
        tags,
      },
      { parent: this },
    );
    return { task, policies };
  }

  #role(name: string, description: string): aws.iam.Role {
    return new aws.iam.Role(
      name,
      {
        assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "ecs-tasks.amazonaws.com" }),
        description,
        tags: this.#config.tags,
      },
      { parent: this },
    );
  }

  #letIn({ balancer, securityGroupId }: GatewayArgs): void {
    const port = { ipProtocol: "tcp", fromPort: GATEWAY_PORT, toPort: GATEWAY_PORT, tags: this.#config.tags };
    new aws.vpc.SecurityGroupIngressRule(
      "gateway-from-balancer",
      { securityGroupId, referencedSecurityGroupId: balancer.securityGroupId, ...port },
      { parent: this },
    );
    new aws.vpc.SecurityGroupEgressRule(
      "balancer-to-gateway",
      { securityGroupId: balancer.securityGroupId, referencedSecurityGroupId: securityGroupId, ...port },
      { parent: this },
    );
  }
}

interface ContainerParams {
  program: Program;
  variables: Record<string, string>;
  secretArn: string;
  group: string;
  region: string;
}

function containerOf({ program, variables, secretArn, group, region }: ContainerParams): ContainerDefinition {
  const own = Object.entries({ ...variables, PORT: String(GATEWAY_PORT), SPOTTER_FRONT_DOOR: "cloudfront" });
  return {
    name: CONTAINER,
    image: IMAGES.node,
    essential: true,
    // The image's own user without rights.
    user: "node",
    command: nodeCommand(),
    environment: [
      // Nobody has to be told where it is: the balancer finds it.
      ...programVariables(program, { network: "" }).filter(({ value }) => value !== ""),
      ...own.map(([name, value]) => ({ name, value })),
    ],
    // Not among the variables: whoever may read task definitions would read it, too.
    secrets: [{ name: "SPOTTER_ORIGIN_SECRET", valueFrom: secretArn }],
    portMappings: [{ containerPort: GATEWAY_PORT, protocol: "tcp" }],
    // Two minutes from the signal to the end, the most that Fargate gives.
    stopTimeout: DRAIN_S,
    logConfiguration: {
      logDriver: "awslogs",
      options: { "awslogs-group": group, "awslogs-region": region, "awslogs-stream-prefix": CONTAINER },
    },
  };
}
