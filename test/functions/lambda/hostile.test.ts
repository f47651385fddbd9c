import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { errorBody } from "../../../sdk/schema/errors.ts";
import {
  bundleOf,
  deploy,
  writeFiles,
  type Deployment,
  type FunctionName,
} from "../../fakes/lambda-runtime/deploy.ts";
import { startFunction, type FakeFunction } from "../../fakes/lambda-runtime/function.ts";

interface Turns {
  memory: { lastPassAtMs: number };
}

const TASK = "arn:aws:ecs:us-east-1:123456789012:task/default/1";
const SPOT = "EC2 Spot Instance Interruption Warning";
const EVENTS: unknown[] = [
  null,
  "x",
  42,
  [],
  { "detail-type": {}, detail: {} },
  { "detail-type": "ECS Task State Change", detail: null },
  { "detail-type": "ECS Task State Change", detail: { taskArn: TASK, version: -1, lastStatus: "?" } },
  { "detail-type": "Batch Job State Change", detail: { jobId: "1", status: [], tags: "z".repeat(250_000) } },
  { "detail-type": SPOT, detail: { "instance-id": "i-0 || true" } },
];

/** A function that was deployed without its variables. */
async function bare(name: FunctionName): Promise<FakeFunction> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-bare-"));
  writeFiles(folder, await bundleOf(name));
  const started = await startFunction({ folder, environment: { SPOTTER_VERSION: "1.2.3" } });
  onTestFinished(async () => {
    await started.close();
    rmSync(folder, { recursive: true });
  });
  return started;
}
describe("the reconciler", () => {
  let stack: Deployment;
  let reconciler: FakeFunction;
  beforeAll(async () => {
    stack = await deploy();
    reconciler = await stack.get("reconciler");
  }, 60_000);
  afterAll(() => stack.close());

  const lastPassAtMs = async (): Promise<number> => {
    const turns = await stack.store.get<Turns>({ partition: "turns", sort: "reconciler" });
    return turns?.value.memory.lastPassAtMs ?? 0;
  };

  it("does its work whatever it is called with", async () => {
    for (const event of EVENTS) {
      const before = await lastPassAtMs();
      expect(await reconciler.invoke(event)).toEqual({ turns: 1 });
      expect(await lastPassAtMs()).toBeGreaterThan(before);
    }
    expect(reconciler.coldStarts).toBe(1);
    const refused = stack.aws.calls.filter(({ error }) => error !== undefined);
    expect(refused).toEqual([]);
  }, 60_000);

  it("does its work also where an event cannot be taken in, and has it brought again", async () => {
    const before = await lastPassAtMs();
    stack.aws.control.fail("ListContainerInstances", { error: "AccessDeniedException" }, { count: 1 });
    const warning = { "detail-type": SPOT, detail: { "instance-id": "i-0123456789abcdef0" } };
    await expect(reconciler.invoke(warning)).rejects.toThrow("AccessDeniedException");
    expect(await lastPassAtMs()).toBeGreaterThan(before);
    expect(await reconciler.invoke(warning)).toEqual({ turns: 1 });
  }, 60_000);
});

describe("a function whose variables are missing", () => {
  const MISSING = ["SPOTTER_STACK", "SPOTTER_TABLE"];

  it("answers health, and tells everything that is missing at once", async () => {
    const { url } = await bare("keys");
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const answer = await fetch(`${url}/keys`);
    const { error } = errorBody.parse(await answer.json());
    expect([answer.status, error.code]).toEqual([500, "aws_config_invalid"]);
    for (const name of [...MISSING, "SPOTTER_ORIGIN_SECRET"]) expect(error.message).toContain(name);
  }, 30_000);

  it("says so to whoever calls it by an event", async () => {
    const failed = await (await bare("scaler")).invoke({}).then(String, String);
    for (const name of MISSING) expect(failed).toContain(name);
  }, 30_000);
});

describe("a function that answers over HTTP", () => {
  it("has an answer to what is no request", async () => {
    const started = await bare("keys");
    for (const event of [
      null,
      {},
      [],
      "x",
      { rawPath: 1, requestContext: {} },
      { requestContext: { http: null } },
    ])
      expect(await started.invoke(event)).toMatchObject({ statusCode: 500 });
    expect(started.coldStarts).toBe(1);
  }, 30_000);
});
