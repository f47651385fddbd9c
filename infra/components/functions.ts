import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import type { FUNCTIONS } from "./functions-table.ts";
import { functionsFor, type FunctionDefinition, type FunctionName } from "./functions-table.ts";
import { LambdaFunction, type FunctionNetwork } from "./lambda-function.ts";
import { statementsFor, type ContainerNames, type StackNames } from "./roles.ts";

export interface FunctionsArgs {
  tableName: pulumi.Input<string>;
  bucketName: pulumi.Input<string>;
  /** `SPOTTER_CONTAINERS`: where runs and replicas are started, see functions/aws/aws-deps/containers.ts. */
  containerPlaces: pulumi.Input<string>;
  /** The same, as policies name it. */
  containerNames: pulumi.Input<ContainerNames>;
  /** What the front door proves itself with. */
  originSecret: pulumi.Input<string>;
  /** Of functions that reach replicas. */
  network: FunctionNetwork;
}

/**
 * The functions of the control plane. Those that answer over HTTP are there before the front door is, as it must
 * know their addresses; those that are called by events come after it, as they must know its own.
 */
export class Functions extends pulumi.ComponentResource {
  readonly #args: FunctionsArgs;
  readonly #config: StackConfig;
  readonly #isolateRoleArn: pulumi.Output<string>;
  /** Names and ARNs that policies are made of. */
  readonly names: pulumi.Output<StackNames>;
  readonly #made = new Map<FunctionName, LambdaFunction>();

  constructor(
    name: string,
    args: FunctionsArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:Functions", name, {}, options);
    this.#args = args;
    this.#config = config;
    // Without any policy: user code may do nothing in the account.
    const isolateRole = new aws.iam.Role(
      "isolates",
      {
        assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" }),
        description: "Of the functions that run user code: it may do nothing.",
        tags: config.tags,
      },
      { parent: this },
    );
    this.#isolateRoleArn = isolateRole.arn;
    this.names = this.#stackNames();
    for (const [each, definition] of functionsFor(config.gateway))
      if (definition.asked !== "event") this.#make(each, definition, {});
  }

  /**
   * Makes the functions that are called by events.
   *
   * @param publicUrl How users and containers reach the stack, without a slash at the end.
   */
  makeEventFunctions(publicUrl: pulumi.Input<string>): void {
    for (const [each, definition] of functionsFor(this.#config.gateway))
      if (definition.asked === "event") this.#make(each, definition, { SPOTTER_URL: publicUrl });
    this.registerOutputs({});
  }

  /** All that were made so far. */
  all(): [FunctionName, LambdaFunction][] {
    return [...this.#made];
  }

  /** @throws Error where the stack has no such function, or not yet. */
  get(name: FunctionName): LambdaFunction {
    const made = this.#made.get(name);
    if (made === undefined) throw new Error(`This stack has no function ${name}, or not yet.`);
    return made;
  }

  #make(
    name: FunctionName,
    definition: FunctionDefinition,
    more: Record<string, pulumi.Input<string>>,
  ): void {
    const args = {
      entry: new URL(`../../functions/lambda/${name}.ts`, import.meta.url),
      functionName: functionName(name),
      logGroupName: `/${pulumi.getProject()}/${pulumi.getStack()}/functions/${name}`,
      definition,
      variables: { ...this.#variables(definition), ...more },
      ...(definition.inNetwork === true && { network: this.#args.network }),
      statements: this.names.apply((names) => statementsFor(definition.grants, names)),
    };
    this.#made.set(name, new LambdaFunction(name, args, this.#config, { parent: this }));
  }

  #variables({ asked, wakes = [], needs = [] }: FunctionDefinition): Record<string, pulumi.Input<string>> {
    const { tableName, bucketName, containerPlaces, originSecret } = this.#args;
    const { domain } = this.#config;
    return {
      ...commonVariables(this.#config),
      SPOTTER_TABLE: tableName,
      ...(needs.includes("bucket") && { SPOTTER_BUCKET: bucketName }),
      ...(needs.includes("containers") && { SPOTTER_CONTAINERS: containerPlaces }),
      ...(needs.includes("isolates") && { SPOTTER_ISOLATE_ROLE_ARN: this.#isolateRoleArn }),
      ...(wakes.includes("reconciler") && { SPOTTER_RECONCILER_FUNCTION: functionName("reconciler") }),
      ...(wakes.includes("scaler") && { SPOTTER_SCALER_FUNCTION: functionName("scaler") }),
      ...(asked !== "event" && { SPOTTER_ORIGIN_SECRET: originSecret }),
      // Without a domain the front door tells its name with each request: it has one only when they are there.
      ...(asked !== "event" && domain !== null && { SPOTTER_URL: `https://${domain.name}` }),
    };
  }

  #stackNames(): pulumi.Output<StackNames> {
    const { tableName, bucketName, containerNames } = this.#args;
    const invoke = { parent: this };
    return pulumi
      .all([
        aws.getPartitionOutput({}, invoke).partition,
        aws.getRegionOutput({}, invoke).region,
        aws.getCallerIdentityOutput({}, invoke).accountId,
        tableName,
        bucketName,
        this.#isolateRoleArn,
        containerNames,
      ])
      .apply(([partition, region, account, table, bucket, isolateRoleArn, containers]) => ({
        ...{ partition, region, account, table, bucket, isolateRoleArn },
        stack: stackTag(this.#config),
        reconciler: functionName("reconciler"),
        scaler: functionName("scaler"),
        containers: containers,
      }));
  }
}

/** Variables that every process of the control plane has. */
export function commonVariables(config: StackConfig): Record<string, string> {
  return { SPOTTER_VERSION: config.version, SPOTTER_STACK: stackTag(config) };
}

/** The value of the tag on everything of the stack, which is also what its processes call it. */
function stackTag({ tags }: StackConfig): string {
  return tags["spotter:stack"] ?? pulumi.getStack();
}

/** The name of a function in AWS, such as `spotter-dev-reconciler`. */
export function functionName(name: keyof typeof FUNCTIONS): string {
  return `${pulumi.getProject()}-${pulumi.getStack()}-${name}`;
}
