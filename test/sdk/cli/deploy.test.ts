import { describe, expect, it, vi } from "vitest";
import type { InvocationRequest } from "@aws-sdk/client-lambda";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { startAwsAccount, stubAws, type AwsAccountOptions } from "../../fakes/aws-account.ts";
import { startBuckets } from "../../fakes/buckets.ts";
import { fakeServer } from "../fake-server.ts";
import { fakePulumi, PLAN, type Outcome } from "../../fakes/pulumi.ts";
import { runCli } from "./run-cli.ts";

/** What infra/start.mjs exports. */
const outputsOf = (url: string) =>
  JSON.stringify({ url, gatewayUrl: `${url}/v1`, keyBootstrapFunction: "spotter-dev-key-bootstrap" });
const KEY = "sk-spotter-first";
const RECORD = { v: 1, id: "k1", name: "first", scope: "admin", createdAtMs: 1 };
const LOCKED =
  "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end.\n";

/** An account, and a Pulumi that succeeds in everything but the given outcomes. */
async function prepared(
  outcomes: Record<string, Outcome[]> = {},
  options: AwsAccountOptions = {},
  hasKey = false,
) {
  const taken = new SpotterError("conflict", "The stack has an admin key already.").toBody();
  const { url, requests } = await fakeServer({ "GET /health": () => ({ ok: true }) });
  const answer = hasKey ? taken : { url, key: KEY, record: RECORD };
  const invoked: string[] = [];
  const aws = await startAwsAccount({
    quotas: { "L-DB2E81BA": 8, "L-3819A6DF": 8, "L-3032A538": 40, "L-B99A9384": 1000 },
    instanceTypes: { "g6.xlarge": { vCpus: 4, zones: ["a", "b"] } },
    services: {
      lambda: {
        Invoke: ({ FunctionName }: InvocationRequest) => {
          invoked.push(FunctionName ?? "");
          return { StatusCode: 200, Payload: Buffer.from(JSON.stringify(answer)) };
        },
      },
    },
    ...options,
  });
  stubAws(aws.endpoint);
  const usual = {
    "stack output": [{ stdout: outputsOf(url) }],
    "stack ls": [{ stdout: '[{"name":"dev"}]' }],
  };
  return { aws, url, requests, invoked, ...fakePulumi({ ...usual, ...outcomes }) };
}

/** What was done to the stack; what was only asked is left out. */
function changes(calls: string[][]): string[] {
  const asks = /^(version|whoami|config --json|config get|stack ls|stack output)/;
  return calls.map((each) => each.join(" ")).filter((line) => !asks.test(line));
}

describe("spotter deploy", { timeout: 20_000 }, () => {
  it("checks the account, makes the stack, and tells its address, its idle cost, and its key once", async () => {
    const { folder, calls, invoked, url, requests } = await prepared({
      up: [{ stdout: "Updating (dev)\n", stderr: "a warning\n" }],
      "config get aws:region": [{ code: 255, stderr: "error: configuration key not found" }],
    });
    const { code, out, err } = await runCli([
      "deploy",
      "--dir",
      folder,
      "--region",
      "eu-central-1",
      "--yes",
      "--json",
    ]);
    expect(code).toBe(0);
    const told = JSON.parse(out) as Record<string, unknown>;
    expect(told).toMatchObject({
      ...{ stack: "dev", region: "eu-central-1", url, ok: true, answers: true, idleMonthlyUsd: 34.5 },
      key: { key: KEY },
      idleCosts: PLAN.idleCosts,
    });
    // One document on standard output; what Pulumi shows is beside it.
    expect(err).toContain("Updating (dev)");
    expect(err).toContain("a warning");
    expect(changes(calls())).toEqual([
      "stack select --create dev",
      "config set aws:region eu-central-1 --stack dev --plaintext",
      "up --stack dev --yes --skip-preview",
    ]);
    expect(requests.map(({ path }) => path)).toEqual(["/health"]);
    // Tags of what is new are not found yet.
    expect(invoked).toEqual(["spotter-dev-key-bootstrap"]);
  });

  it("updates a stack that has a key, and says in words what it costs", async () => {
    const { folder, url } = await prepared({}, {}, true);
    const { code, out, err } = await runCli(["deploy", "--dir", folder, "--yes"]);
    expect(code).toBe(0);
    expect(out).toContain(`The stack dev in eu-central-1 is at ${url}`);
    expect(out).toContain("While nothing runs it costs about $34.5 a month");
    expect(out).toMatch(/load balancer +\$16\.43/);
    expect(out).not.toContain("SPOTTER_API_KEY");
    expect(err).toContain("It has an admin key already.");
  });

  it("does not move a stack to another region", async () => {
    const { folder, calls } = await prepared({}, { regions: { "us-east-1": "opt-in-not-required" } });
    const { code, err } = await runCli(["deploy", "--dir", folder, "--yes", "--region", "us-east-1"]);
    expect([code, err]).toEqual([2, expect.stringContaining("The stack dev is in eu-central-1") as string]);
    expect(changes(calls())).toEqual(["stack select --create dev"]);
  });

  it("says what a lock means, and with --recover takes it away, looks what is there, and goes on (85)", async () => {
    const { folder, calls } = await prepared({ up: [{ code: 255, stderr: LOCKED }, {}] });
    const locked = await runCli(["deploy", "--dir", folder, "--yes"]);
    expect([locked.code, locked.err]).toEqual([
      1,
      expect.stringContaining("spotter deploy --recover") as string,
    ]);
    expect((await runCli(["deploy", "--dir", folder, "--yes", "--recover"])).code).toBe(0);
    expect(changes(calls()).slice(-3)).toEqual([
      "cancel --yes --stack dev",
      "refresh --stack dev --yes --skip-preview --clear-pending-creates",
      "up --stack dev --yes --skip-preview",
    ]);
  });

  it("goes no further where looking up what is there fails", async () => {
    const { folder, calls } = await prepared({
      cancel: [{ code: 255, stderr: "no update in progress" }],
      refresh: [{ code: 255, stderr: "error: could not read\n" }],
    });
    const lost = await runCli(["deploy", "--dir", folder, "--yes", "--recover"]);
    expect([lost.code, lost.err]).toEqual([1, expect.stringContaining("could not read") as string]);
    expect(changes(calls()).at(-1)).toContain("refresh");
  });

  it("passes Ctrl-C on to Pulumi, waits for it, and names the way out (85)", async () => {
    const { folder, calls, called } = await prepared({ up: [{ untilInterrupted: true, code: 1 }] });
    const interrupt = new AbortController();
    const running = runCli(["deploy", "--dir", folder, "--yes"], { signal: interrupt.signal });
    await called("(waiting)");
    interrupt.abort(new Error("Interrupted."));
    const { code, err } = await running;
    expect(code).toBe(130);
    expect(calls().at(-1)).toEqual(["(interrupted)"]);
    expect(err).toContain("spotter deploy --recover");
    expect(err).toContain("pulumi cancel, pulumi refresh, pulumi up");
  });

  it("makes no key while somebody may still lose patience: nobody would be told of it", async () => {
    const interrupt = new AbortController();
    const { url } = await fakeServer({
      "GET /health": (_, response) => {
        response.writeHead(502).end();
        interrupt.abort(new Error("Interrupted."));
      },
    });
    const { folder, invoked } = await prepared({ "stack output": [{ stdout: outputsOf(url) }] });
    const line = ["deploy", "--dir", folder, "--yes"];
    const { code, out } = await runCli(line, { signal: interrupt.signal });
    expect([code, out, invoked]).toEqual([130, expect.stringContaining(url) as string, []]);
  });

  it("is stopped by what makes an update fail, and not by what only GPUs need", async () => {
    const quotas = { "L-DB2E81BA": 0 };
    const { folder, calls } = await prepared({}, { quotas });
    const poor = await runCli(["deploy", "--dir", folder, "--yes"]);
    expect([poor.code, poor.out]).toEqual([0, expect.stringContaining("L-DB2E81BA") as string]);
    expect(poor.out).toContain("None of it keeps the stack from being made");
    const before = changes(calls()).length;
    const line = ["deploy", "--dir", folder, "--yes", "--json", "--region", "mars-1"];
    const { code, out } = await runCli(line);
    expect([code, JSON.parse(out)]).toMatchObject([1, { ok: false }]);
    expect(changes(calls()).length).toBe(before);
  });

  it("offers a place for the state where Pulumi has none, and makes it", async () => {
    const notIn = { whoami: [{ code: 255, stderr: "error: you must log in" }] };
    const { folder, calls } = await prepared(notIn);
    const { asked } = await startBuckets();
    const lost = await runCli(["deploy", "--dir", folder, "--yes"]);
    expect([lost.code, lost.err]).toEqual([
      2,
      expect.stringContaining("spotter deploy --backend s3") as string,
    ]);
    const line = ["deploy", "--dir", folder, "--yes", "--region", "eu-central-1", "--backend", "s3"];
    vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", undefined);
    const open = await runCli(line);
    expect([open.code, open.err]).toEqual([2, expect.stringContaining("PULUMI_CONFIG_PASSPHRASE") as string]);
    expect(changes(calls())).toEqual([
      "login s3://spotter-state-123456789012-eu-central-1?region=eu-central-1",
    ]);
    expect(asked).toEqual([
      "HEAD /spotter-state-123456789012-eu-central-1",
      "PUT /spotter-state-123456789012-eu-central-1",
      "PUT /spotter-state-123456789012-eu-central-1?publicAccessBlock",
      "PUT /spotter-state-123456789012-eu-central-1?versioning",
    ]);
    vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", "of this test");
    expect((await runCli(line)).code).toBe(0);
    // It is there now.
    expect(asked.slice(4)).toEqual(["HEAD /spotter-state-123456789012-eu-central-1"]);
  });

  it("asks for a yes, a program and Pulumi before anything else", async () => {
    const { folder, calls } = await prepared();
    const silent = await runCli(["deploy", "--dir", folder]);
    expect([silent.code, silent.err]).toEqual([2, expect.stringContaining("--yes") as string]);
    expect((await runCli(["deploy", "--dir", "/tmp", "--yes"])).code).toBe(2);
    vi.stubEnv("PATH", "/nonexistent");
    const bare = await runCli(["deploy", "--dir", folder, "--yes"]);
    expect([bare.code, bare.err]).toEqual([2, expect.stringContaining("pulumi.com/docs/install") as string]);
    expect(calls()).toEqual([]);
  });
});
