import { describe, expect, it, vi } from "vitest";
import type { Check } from "../../../sdk/cli/aws/checks.ts";
import { startAwsAccount, stubAws, type AwsAccountOptions } from "../../fakes/aws-account.ts";
import { fakePulumi, type Outcome } from "../../fakes/pulumi.ts";
import { runCli } from "./run-cli.ts";

const QUOTAS = { "L-DB2E81BA": 8, "L-3819A6DF": 64, "L-3032A538": 140, "L-B99A9384": 1000 };
const OFFERED = { "g6.xlarge": { vCpus: 4, zones: ["eu-central-1a", "eu-central-1b"] } };

async function prepared(
  account: AwsAccountOptions = {},
  outcomes: Record<string, Outcome[]> = {},
  plan?: object,
) {
  const aws = await startAwsAccount({ quotas: { ...QUOTAS }, instanceTypes: OFFERED, ...account });
  stubAws(aws.endpoint);
  return { aws, ...fakePulumi(outcomes, plan) };
}

async function doctor(folder: string, ...more: string[]) {
  const { code, out } = await runCli(["doctor", "--dir", folder, "--json", ...more]);
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Check[] };
  return { code, ok, checks, bad: checks.filter(({ status }) => status !== "ok") };
}

describe("spotter doctor", { timeout: 20_000 }, () => {
  it("passes an account that has what the settings need, and changes nothing", async () => {
    const { folder, aws, calls, path } = await prepared();
    const { code, out: told } = await runCli(["doctor", "--dir", folder]);
    expect(code).toBe(0);
    expect(told).toContain("Account 123456789012, as arn:aws:iam::123456789012:user/ada.");
    expect(told).toContain("L4:1 (g6.xlarge) is offered in eu-central-1a, eu-central-1b.");
    expect(told).toContain("13 checks: 0 failed, 0 with a warning.");
    expect(aws.calls.filter(({ operation }) => !/^(Get|Describe)/.test(operation))).toEqual([]);
    const quotas = aws.calls.filter(({ operation }) => operation === "GetServiceQuota");
    expect(
      quotas.map(({ input }) => `${String(input["ServiceCode"])} ${String(input["QuotaCode"])}`).sort(),
    ).toEqual([
      ...["ec2 L-3819A6DF", "ec2 L-DB2E81BA", "fargate L-3032A538", "lambda L-B99A9384", "vpc L-F678F1CE"],
    ]);
    expect(new Set(calls().map(([first, second]) => `${first} ${second}`))).toEqual(
      new Set(["config --json", "version undefined", "whoami --json", "stack ls"]),
    );
    // Pulumi would start the project's own Node.
    expect(path().split(":")[0]).toBe(`${folder}/node_modules/node/bin`);
  });

  it("tells all that is wrong at once", async () => {
    const wrong = {
      findings: [{ path: "gatewy", message: "is no setting", remedy: "pulumi config rm spotter:gatewy" }],
    };
    const { folder } = await prepared(
      { regions: { "af-south-1": "not-opted-in" } },
      { version: [{ stdout: "v3.90.0\n" }] },
      wrong,
    );
    const { code, bad } = await doctor(folder, "--region", "af-south-1");
    expect(code).toBe(1);
    expect(bad.map(({ check, remedy }) => [check, remedy])).toEqual([
      ["pulumi", "Install a newer one: https://www.pulumi.com/docs/install/"],
      ["settings", "pulumi config rm spotter:gatewy"],
      ["region", "aws account enable-region --region-name af-south-1"],
    ]);
  });

  it("says so where there are no credentials, and not with a stack trace", async () => {
    const { folder, aws } = await prepared();
    stubAws(aws.endpoint, { credentials: false });
    const nobody = await runCli(["doctor", "--dir", folder]);
    expect([nobody.code, nobody.out]).toEqual([1, expect.stringContaining("aws sso login") as string]);
    expect(nobody.out).toContain("There are no AWS credentials");
    expect(`${nobody.out}${nobody.err}`).not.toMatch(/\n {4}at /);
  });

  it("goes on where one question is refused, and says what it could not learn", async () => {
    const { folder, aws } = await prepared();
    for (const operation of ["GetServiceQuota", "DescribeInstanceTypeOfferings", "GetResources"])
      aws.failures.fail(operation, { error: "AccessDeniedException", message: "no" }, { count: 100 });
    const { code, bad } = await doctor(folder);
    expect(code).toBe(0);
    expect(bad.map(({ check, remedy }) => [check, remedy])).toEqual([
      ...Array.from({ length: 5 }, () => ["quota", "The credentials need servicequotas:GetServiceQuota."]),
      ["offers", "The credentials need ec2:DescribeInstanceTypeOfferings."],
      ["stack", "The credentials need tag:GetResources."],
    ]);
  });

  it("says how to get Pulumi where there is none", async () => {
    const { folder } = await prepared();
    vi.stubEnv("PATH", "/nonexistent");
    const { code, bad } = await doctor(folder, "--region", "eu-central-1");
    expect(code).toBe(1);
    expect(bad.map(({ check, remedy = "" }) => [check, /install|npm ci/i.test(remedy)])).toEqual([
      ["node", true],
      ["pulumi", true],
    ]);
  });

  it("refuses a folder without the program", async () => {
    const result = await runCli(["doctor", "--dir", "/tmp"]);
    expect([result.code, result.err]).toEqual([2, expect.stringContaining("npm ci") as string]);
  });
});
