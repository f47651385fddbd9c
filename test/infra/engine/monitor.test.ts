import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { record } from "../record-stack.ts";
import { cloud } from "./cloud.ts";
import { StandInMonitor } from "./monitor.ts";
import { grpc, monitorProto } from "./pulumi-proto.ts";
import { UNKNOWN } from "./properties.ts";

class Thing extends pulumi.CustomResource {
  declare readonly arn: pulumi.Output<string>;
  declare readonly result: pulumi.Output<string>;
  constructor(type: string, name: string, inputs: pulumi.Inputs, options?: pulumi.CustomResourceOptions) {
    super(type, name, { arn: undefined, result: undefined, ...inputs }, options);
  }
}
const ROLE = "aws:iam/role:Role";
const PASSWORD = "random:index/randomPassword:RandomPassword";

async function program(): Promise<Record<string, unknown>> {
  const role = new Thing(ROLE, "role", { tags: { a: "b" } }, { protect: true });
  const secret = new Thing(PASSWORD, "secret", { length: 40 }, { additionalSecretOutputs: ["result"] });
  new Thing("aws:lambda/function:Function", "one", {
    role: role.arn,
    environment: {
      variables: { TOKEN: secret.result, LENGTH: secret.result.apply(({ length }) => `${length}`) },
    },
  });
  return { role: role.arn, secret: secret.result };
}

describe("the stand-in for the engine", () => {
  it("tells what depends on what, what is protected, and what is secret", async () => {
    const { resources, outputs, secretOutputs } = await record(program);
    const [role, secret, one] = ["role", "secret", "one"].map((each) =>
      resources.find(({ name }) => name === each),
    );
    expect(role).toMatchObject({ protect: true, dependencies: [] });
    expect(one?.inputs["role"]).toBe("arn:aws:iam::123456789012:role/role-1a2b3c4");
    expect(one?.dependencies.toSorted()).toEqual([role?.urn, secret?.urn]);
    // What is made of a secret is one.
    expect(one?.secrets).toEqual(["environment.variables.LENGTH", "environment.variables.TOKEN"]);
    expect(one?.inputs["environment"]).toMatchObject({ variables: { LENGTH: "40" } });
    expect(outputs["role"]).toBe("arn:aws:iam::123456789012:role/role-1a2b3c4");
    expect(secretOutputs).toEqual(["secret"]);
  });

  it("knows no output in a preview", async () => {
    const { resources, outputs } = await record(program, {}, { preview: true });
    expect(resources).toHaveLength(3);
    const one = resources.find(({ name }) => name === "one");
    expect(one?.inputs["role"]).toBe(UNKNOWN);
    expect(one?.unknowns).toContain("role");
    expect(outputs["role"]).toBe(UNKNOWN);
  });

  it("refuses what is there already", () => {
    const monitor = new StandInMonitor({ stack: "test", project: "spotter", preview: false, cloud });
    const request = new monitorProto.RegisterResourceRequest();
    request.setType(ROLE);
    request.setName("role");
    const answers: unknown[] = [];
    for (let times = 0; times < 2; times++)
      monitor.registerResource(request, (error) => answers.push(error && [error.code, error.details]));
    expect(answers).toEqual([
      null,
      [grpc.status.ALREADY_EXISTS, `Duplicate resource URN 'urn:pulumi:test::spotter::${ROLE}::role'`],
    ]);
    expect(monitor.recording().resources).toHaveLength(1);
  });

  it("refuses functions that it does not know, rather than answer nothing", () => {
    expect(() => cloud.asked("aws:index/getWeather:getWeather", {})).toThrow(/getWeather/);
  });
});
