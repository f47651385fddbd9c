import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import type { StackConfig } from "../config.ts";

/** Letters and digits; functions refuse fewer than 32. */
const LENGTH = 48;

/**
 * What the front door proves itself with to the functions and the gateway, which everybody else could reach, too.
 * Made by the stack, secret in its state, and kept for the gateway where its container may fetch it: a task
 * definition is readable by many. `pulumi up --replace` of it makes another one.
 */
export class OriginSecret extends pulumi.ComponentResource {
  readonly value: pulumi.Output<string>;
  /** ARN of the parameter of SSM that holds it. */
  readonly parameterArn: pulumi.Output<string>;
  readonly parameterName: string;

  constructor(name: string, config: StackConfig, options?: pulumi.ComponentResourceOptions) {
    super("spotter:index:OriginSecret", name, {}, options);
    const password = new random.RandomPassword(
      name,
      { length: LENGTH, special: false },
      { parent: this, additionalSecretOutputs: ["result"] },
    );
    // Beside the folder of the users' secrets, not in it.
    this.parameterName = `/${pulumi.getProject()}/${pulumi.getStack()}/origin-secret`;
    const parameter = new aws.ssm.Parameter(
      name,
      { name: this.parameterName, type: "SecureString", value: password.result, tags: config.tags },
      { parent: this },
    );
    this.value = password.result;
    this.parameterArn = parameter.arn;
    this.registerOutputs({});
  }
}
