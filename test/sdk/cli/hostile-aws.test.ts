import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { startAwsAccount, stubAws } from "../../fakes/aws-account.ts";
import { fakePulumi, type Outcome } from "../../fakes/pulumi.ts";
import { runCli } from "./run-cli.ts";

const SECRET = "hunter2";
const GARBAGE: Outcome[] = [{ stdout: `<html>${SECRET}</html>` }];
const STACK_TRACE = /\n {4}at /;

async function prepared(outcomes: Record<string, Outcome[]> = {}) {
  const aws = await startAwsAccount({ quotas: {}, instanceTypes: {} });
  stubAws(aws.endpoint);
  return { aws, ...fakePulumi(outcomes) };
}

/** Runs it, and looks that nothing is told that should not be. */
async function told(line: string[]): Promise<{ code: number; text: string }> {
  const { code, out, err } = await runCli(line);
  const text = out + err;
  expect(text).not.toMatch(STACK_TRACE);
  expect(text).not.toContain(SECRET);
  return { code, text };
}

it.each([
  ["deploy", "version"],
  ["deploy", "whoami"],
  ["deploy", "config"],
  ["destroy", "config"],
  ["destroy", "stack export"],
])("%s changes nothing where `pulumi %s` prints garbage", { timeout: 20_000 }, async (command, asked) => {
  const { folder, calls } = await prepared({ [asked]: GARBAGE });
  const { code, text } = await told([command, "--dir", folder, "--yes"]);
  expect([code, text]).toEqual([1, expect.stringContaining("did not print what it should") as string]);
  expect(calls().filter(([verb]) => ["up", "destroy", "refresh", "cancel"].includes(verb ?? ""))).toEqual([]);
});

it("says so where what is called pulumi is no program", async () => {
  const { folder } = await prepared();
  writeFileSync(join(dirname(folder), "pulumi"), "\0\0");
  chmodSync(join(dirname(folder), "pulumi"), 0o644);
  const { code, text } = await told(["deploy", "--dir", folder, "--yes"]);
  expect([code, text]).toEqual([2, expect.stringContaining("pulumi.com/docs/install") as string]);
});

const LINES = {
  cleanup: ["cleanup", "--verify", "--stack", "dev"],
  key: ["key", "bootstrap", "--stack", "dev"],
};
const EXPIRED = { error: "ExpiredTokenException", message: "The security token is expired" };
const DENIED = { error: "AccessDeniedException", message: "no" };
const THROTTLED = { error: "ThrottlingException", message: "Rate exceeded", status: 400 };

it.each([
  [LINES.cleanup, EXPIRED, "aws sso login"],
  [LINES.key, EXPIRED, "aws sso login"],
  [LINES.cleanup, DENIED, "tag:GetResources"],
  [LINES.key, DENIED, "tag:GetResources"],
  [LINES.cleanup, THROTTLED, "again in a moment"],
])("%j meets %j, and says what to do", { timeout: 20_000 }, async (line, failure, remedy) => {
  const { aws } = await prepared();
  aws.failures.fail("GetResources", failure, { count: 100 });
  const { code, text } = await told([...line, "--region", "eu-central-1"]);
  expect([code, text]).toEqual([1, expect.stringContaining(remedy) as string]);
});

it.each(["", `{"key":"${SECRET}`, `{"key":"${SECRET}"}`, "null"])(
  "says that a stack's function answered %j, and repeats no key",
  async (answer) => {
    const arn = "arn:aws:lambda:eu-central-1:1:function:spotter-dev-key-bootstrap";
    const aws = await startAwsAccount({
      resources: [{ arn, tags: { "spotter:stack": "dev" } }],
      services: { lambda: { Invoke: () => ({ StatusCode: 200, Payload: Buffer.from(answer) }) } },
    });
    stubAws(aws.endpoint);
    const { code, text } = await told([...LINES.key, "--region", "eu-central-1"]);
    expect([code, text]).toEqual([1, expect.stringContaining("spotter deploy") as string]);
  },
);

it.each(["eu central", "eu-central-1/../..", "-", "e".repeat(70)])("takes no region %j", async (region) => {
  await prepared();
  for (const line of Object.values(LINES)) {
    const { code, text } = await told([...line, `--region=${region}`]);
    expect([code, text]).toEqual([2, expect.stringContaining("--region eu-central-1") as string]);
  }
});
