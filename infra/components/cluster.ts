import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";

/** What ECS brings by itself: containers without a host of ours. */
const FARGATE = ["FARGATE", "FARGATE_SPOT"];

/** The cluster of replicas. It costs nothing by itself. */
export class Cluster extends pulumi.ComponentResource {
  readonly name: pulumi.Output<string>;
  readonly arn: pulumi.Output<string>;
  readonly #name: string;

  constructor(name: string, config: StackConfig, options?: pulumi.ComponentResourceOptions) {
    super("spotter:index:Cluster", name, {}, options);
    this.#name = name;
    const cluster = new aws.ecs.Cluster(
      name,
      // Its metrics cost by the container; ours come from the gateway.
      { settings: [{ name: "containerInsights", value: "disabled" }], tags: config.tags },
      { parent: this },
    );
    this.name = cluster.name;
    this.arn = cluster.arn;
    this.registerOutputs({ name: this.name });
  }

  /**
   * Lets tasks ask for Fargate and for these capacity providers. A resource of its own: it goes before the providers
   * and the cluster do, which otherwise wait for each other when a stack is destroyed.
   */
  attach(capacityProviders: pulumi.Input<string>[]): void {
    new aws.ecs.ClusterCapacityProviders(
      this.#name,
      { clusterName: this.name, capacityProviders: [...FARGATE, ...capacityProviders] },
      { parent: this },
    );
  }
}
