import { describe, expect, it } from "vitest";
import { awsFailure } from "../../../../sdk/cli/aws/aws-failure.ts";
import {
  credentialsCheck,
  enginesCheck,
  loginCheck,
  nodeCheck,
  offersCheck,
  pulumiCheck,
  regionCheck,
  stackCheck,
} from "../../../../sdk/cli/aws/checks.ts";
import type { StackPlan } from "../../../../sdk/cli/aws/plan.ts";
import { networkCheck, quotaCheck, quotaNeeds } from "../../../../sdk/cli/aws/quotas.ts";
import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { PLAN } from "../../../fakes/pulumi.ts";

const REGION = "eu-central-1";
const plan = (changes: Partial<StackPlan> = {}) => ({ ...(PLAN as StackPlan), ...changes });
const pool = (changes: Partial<StackPlan["gpuClasses"][number]> = {}) => ({
  ...{ name: "L4:1", instanceTypes: ["g6.xlarge"], vCpus: 4, maxInstances: 2, atOnce: 1, spot: false },
  ...changes,
});
const denied = { error: new SpotterError("aws_denied", "no", { hint: "ask your admin" }) };
const named = (name: string) => Object.assign(new Error("said"), { name });

describe("the engines of a stack", () => {
  it("are told with their images, and how to see whether a registry has them", () => {
    expect(enginesCheck(plan())).toMatchObject([
      { check: "engines", message: expect.stringContaining("embedded one alone") as string },
    ]);
    const image = `vllm/vllm-openai@sha256:${"0f".repeat(32)}`;
    expect(enginesCheck(plan({ engineImages: { vllm: image } }))).toEqual([
      {
        check: "engines",
        status: "ok",
        message: `vllm runs in ${image}, which is not looked for here.`,
        remedy: `docker buildx imagetools inspect ${image} tells whether its registry has it, for x64.`,
      },
    ]);
  });
});

describe("the quotas that a stack meets", () => {
  it("are those of its GPU families, on demand and spot apart, and of Fargate and Lambda (84)", () => {
    const classes = [
      pool({ spot: true }),
      pool({ name: "A100-40GB:8", instanceTypes: ["p4d.24xlarge"], vCpus: 96, spot: true }),
      pool({ name: "H100:1", instanceTypes: ["p5.4xlarge"], vCpus: 16, maxInstances: 1, spot: true }),
      pool({ name: "2 nodes of H100:8", instanceTypes: ["p5.48xlarge"], vCpus: 192, atOnce: 2 }),
    ];
    const needs = quotaNeeds(plan({ gpuClasses: classes }));
    const shown = needs.map(({ service, code, users }) => [
      service,
      code,
      users.map(({ least, most }) => [least, most]),
    ]);
    expect(shown).toEqual([
      ["ec2", "L-DB2E81BA", [[4, 8]]],
      ["ec2", "L-3819A6DF", [[4, 8]]],
      [
        "ec2",
        "L-417A185B",
        [
          [96, 192],
          [16, 16],
          [384, 384],
        ],
      ],
      ["ec2", "L-7212CCBC", [[96, 192]]],
      ["ec2", "L-C4BD4855", [[16, 16]]],
      [
        "fargate",
        "L-3032A538",
        [
          [4, 32],
          [1, 1],
        ],
      ],
      ["lambda", "L-B99A9384", [[10, 100]]],
    ]);
  });

  it("fail where something cannot start once, warn where not all fits, and say what to ask for (84)", () => {
    const [need] = quotaNeeds(plan({ gpuClasses: [pool()] }));
    if (need === undefined) throw new Error("no need");
    expect(quotaCheck(need, REGION, { value: 0 })).toEqual({
      check: "quota",
      status: "failed",
      message:
        "Running On-Demand G and VT instances (L-DB2E81BA) is 0 vCPUs: L4:1 needs 4 to start once; " +
        "all that the settings allow is 8 (L4:1: 8).",
      remedy:
        "aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-DB2E81BA " +
        "--desired-value 8 --region eu-central-1",
    });
    expect(quotaCheck(need, REGION, { value: 4 })).toMatchObject({ status: "warning" });
    expect(quotaCheck(need, REGION, { value: 8 })).toMatchObject({ status: "ok" });
    expect(quotaCheck(need, REGION, { value: undefined })).toMatchObject({ status: "warning" });
    expect(quotaCheck(need, REGION, denied)).toMatchObject({ status: "warning", remedy: "ask your admin" });
  });

  it("stop an update that sets more calls aside than the account has", () => {
    const need = quotaNeeds(plan({ reservedCalls: 65 })).find(({ service }) => service === "lambda");
    const of = (value: number) => need && quotaCheck(need, REGION, { value });
    expect(of(165)).toMatchObject({ status: "warning" });
    expect(of(164)).toMatchObject({
      status: "failed",
      message: expect.stringContaining("maxFunctionConcurrency") as string,
      stopsUpdate: true,
    });
  });

  it("stop an update that has no room for its network, and not one whose network is there", () => {
    const of = (count: number, hasOwn: boolean, value?: number) =>
      networkCheck(REGION, { value }, { value: { count, hasOwn } });
    expect([of(4, false), of(5, true), of(5, false, 6)].map(({ status }) => status)).toEqual(
      Array(3).fill("ok"),
    );
    expect(of(5, false)).toMatchObject({
      status: "failed",
      message: "eu-central-1 has 5 VPCs, and may have 5 (L-F678F1CE): a stack makes one more.",
      remedy: expect.stringContaining(
        "--service-code vpc --quota-code L-F678F1CE --desired-value 6",
      ) as string,
      stopsUpdate: true,
    });
    expect(networkCheck(REGION, denied, { value: { count: 1, hasOwn: false } }).status).toBe("warning");
    expect(networkCheck(REGION, { value: 5 }, denied).status).toBe("warning");
  });

  it("do not stop an update: pools begin empty", () => {
    const checks = quotaNeeds(plan()).map((need) => quotaCheck(need, REGION, { value: 0 }));
    expect(checks.map(({ status, stopsUpdate }) => [status, stopsUpdate])).toEqual(
      checks.map(() => ["failed", undefined]),
    );
  });

  it("are told where no code is known", () => {
    const b200 = pool({ name: "B200:8", instanceTypes: ["p6-b200.48xlarge"], vCpus: 192, spot: true });
    const spot = quotaNeeds(plan({ gpuClasses: [b200] })).find(({ code }) => code === undefined);
    if (spot === undefined) throw new Error("no need");
    expect(quotaCheck(spot, REGION, { value: undefined })).toMatchObject({
      status: "warning",
      remedy: expect.stringContaining("servicequotas/home") as string,
    });
  });
});

describe("checks before a stack is made", () => {
  it("know which Node and which Pulumi will do", () => {
    const ofNode = (value: string) => nodeCheck({ value }).status;
    expect(["v22.18.9", "v20.20.0", "v22.19.0", "v24.1.0"].map(ofNode)).toEqual([
      "failed",
      "failed",
      "ok",
      "ok",
    ]);
    const ofPulumi = (value: string) => pulumiCheck({ value }).status;
    expect(["v3.199.0", "v2.9.0", "v3.200.0", "3.265.0", "v4.0.0"].map(ofPulumi)).toEqual([
      ...["failed", "failed", "ok", "ok", "ok"],
    ]);
  });

  it("know whether there is somewhere to keep the state", () => {
    const missing = new SpotterError("package_missing", "Pulumi is not installed.");
    const of = (value: string | undefined) => loginCheck({ value }).map(({ status }) => status);
    expect([of("s3://a"), of(""), of(undefined), loginCheck({ error: missing })]).toEqual([
      ["ok"],
      ["ok"],
      ["warning"],
      [],
    ]);
    expect(loginCheck(denied)).toMatchObject([
      { status: "failed", stopsUpdate: true, remedy: "ask your admin" },
    ]);
    const [check] = loginCheck({ value: "postgres://ada:pass@word@db.example.com/state" });
    expect(check?.message).toBe("The state of stacks is kept in postgres://db.example.com/state.");
  });

  it("know a region that is missing, wrong, or not enabled", () => {
    const ok = regionCheck(REGION, { value: "opt-in-not-required" });
    const bad = [
      regionCheck(undefined, { value: undefined }),
      regionCheck("mars-1", { value: undefined }),
      regionCheck("af-south-1", { value: "not-opted-in" }),
      regionCheck(REGION, denied),
    ];
    expect([ok, regionCheck("af-south-1", { value: "opted-in" })].map(({ status }) => status)).toEqual([
      "ok",
      "ok",
    ]);
    expect(bad.map(({ status, stopsUpdate }) => [status, stopsUpdate])).toEqual(
      bad.map(() => ["failed", true]),
    );
    expect(bad.every(({ remedy }) => remedy !== undefined)).toBe(true);
  });

  it("count the zones that offer a class", () => {
    const at = (...zones: string[]) =>
      offersCheck(pool(), REGION, { value: zones.map((zone) => ({ type: "g6.xlarge", zone })) }).status;
    expect([at(), at("a"), at("a", "b"), at("a", "a")]).toEqual(["failed", "warning", "ok", "warning"]);
    expect(offersCheck(pool(), REGION, { value: [{ type: "g5.xlarge", zone: "a" }] }).status).toBe("failed");
    expect(offersCheck(pool(), REGION, denied).status).toBe("warning");
  });

  it("know a name that is taken from one's own, and from data that was kept", () => {
    const tags = { "spotter:stack": "dev" };
    const bucket = { arn: "arn:aws:s3:::data-1", tags };
    const lambda = { arn: `arn:aws:lambda:${REGION}:123456789012:function:a`, tags };
    const status = (value: (typeof bucket)[], isKnown?: boolean) => {
      const check = stackCheck("dev", REGION, { value }, isKnown);
      return [check.status, check.stopsUpdate ?? false];
    };
    expect(status([], false)).toEqual(["ok", false]);
    expect(status([bucket, lambda], true)).toEqual(["ok", false]);
    expect(status([bucket], false)).toEqual(["warning", false]);
    expect(status([bucket, lambda], false)).toEqual(["failed", true]);
    expect(status([bucket, lambda])).toEqual(["warning", false]);
  });

  it("say what to do about each failure of AWS", () => {
    const call = { what: "Asking", needs: "x:Y" };
    const told = (error: unknown) => {
      const { code, hint = "" } = awsFailure(error, call);
      return [code, hint];
    };
    const login = expect.stringContaining("aws sso login") as string;
    expect(told(named("CredentialsProviderError"))).toEqual(["aws_denied", login]);
    expect(told(named("ExpiredToken"))).toEqual(["aws_denied", login]);
    expect(told(named("AccessDeniedException"))).toEqual(["aws_denied", "The credentials need x:Y."]);
    expect(told(new Error("Region is missing"))).toEqual([
      "invalid_input",
      expect.stringContaining("--region"),
    ]);
    expect(told(named("ThrottlingException"))[0]).toBe("aws_throttled");
    expect(told(Object.assign(new Error("gone"), { code: "ECONNREFUSED" }))[0]).toBe("aws_unreachable");
    expect(told(named("SomethingElse"))[0]).toBe("internal");
    expect(credentialsCheck({ error: awsFailure(named("ExpiredToken"), call) })).toMatchObject({
      status: "failed",
      remedy: login,
    });
  });
});
