import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createWorkerdIsolates } from "../../../functions/local/workerd-isolates/index.ts";
import type { ErrorBody } from "../../../sdk/schema/errors.ts";
import type { Verdict } from "../../../sdk/schema/rollout.ts";
import type { UserCodeRecord } from "../../../sdk/schema/user-code.ts";
import { bundleUserCode } from "../../../sdk/user-code/bundle.ts";
import { testPlane } from "../../fakes/control-plane.ts";

async function open(source: string) {
  const folder = mkdtempSync(join(tmpdir(), "spotter-user-code-"));
  const isolates = createWorkerdIsolates({ workDir: folder });
  const plane = await testPlane({
    isolates,
    onEnd: (end) => onTestFinished(async () => end()),
  });
  onTestFinished(async () => {
    await isolates.close();
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, "rewards.ts"), source);
  return { plane, bundle: await bundleUserCode(join(folder, "rewards.ts")) };
}

const row = {
  row: {},
  metadata: {},
  variables: {},
  response: { content: "four", reasoning: "", toolCalls: [] },
  completion: { tokens: 1, finishReason: "stop" },
  messages: [],
};

it("takes code in, tells about it, and judges with it", async () => {
  const { plane, bundle } = await open(`import { reward } from "spotter";
    export const length = reward({ weight: 2 }, ({ response }) => response.content.length);
    export const helper = () => 1;`);
  const path = `/user-code/${bundle.sha256}`;
  const put = await plane.json<UserCodeRecord>("PUT", `${path}?name=rewards.ts`, bundle.code);
  expect(put).toMatchObject({ name: "rewards.ts", others: ["helper"], bytes: bundle.code.byteLength });
  expect(await plane.json("GET", path)).toEqual(put);
  const { verdicts } = await plane.json<{ verdicts: Verdict[] }>("POST", `${path}/rewards`, {
    rows: [row, row],
  });
  expect(verdicts.map((verdict) => verdict.total)).toEqual([8, 8]);
});

it("grants the secrets that the request names, and no others", async () => {
  const { plane, bundle } = await open(`import { reward } from "spotter";
    export const names = reward(({ secrets }) => Object.keys(secrets).length);`);
  const path = `/user-code/${bundle.sha256}`;
  await plane.json("PUT", `${path}?name=rewards.ts`, bundle.code);
  const judge = (more: object) =>
    plane.json<{ verdicts: Verdict[] }>("POST", `${path}/rewards`, { rows: [row], ...more });
  expect((await plane.call("POST", `${path}/rewards`, { rows: [row], secrets: ["JUDGE_KEY"] })).status).toBe(
    404,
  );
  await plane.control.secrets.set("JUDGE_KEY", "value-of-the-key");
  expect((await judge({ secrets: ["JUDGE_KEY"] })).verdicts[0]?.total).toBe(1);
  expect((await judge({})).verdicts[0]?.total).toBe(0);
});

it("calls tools one by one: a wrong name or a throw is an error of its own call", async () => {
  const { plane, bundle } = await open(`import { tool } from "spotter";
    const parameters = { type: "object" };
    export const add = tool({ description: "Adds.", parameters }, ({ a, b }) => a + b);
    export const fail = tool({ description: "Fails.", parameters }, () => { throw new Error("no luck"); });
    export const keys = tool({ description: "Counts.", parameters }, (_, { secrets }) => Object.keys(secrets));`);
  const path = `/user-code/${bundle.sha256}`;
  await plane.json("PUT", `${path}?name=tools.ts`, bundle.code);
  await plane.control.secrets.set("SEARCH_KEY", "value-of-the-key");
  const calls = [
    { tool: "add", input: { a: 2, b: 3 } },
    { tool: "toString", input: {} },
    { tool: "fail", input: {} },
    { tool: "add", input: { a: 4, b: 5 } },
    { tool: "keys", input: {} },
  ];
  expect(await plane.json("POST", `${path}/tools`, { calls, secrets: ["SEARCH_KEY"] })).toEqual({
    results: [
      { value: 5 },
      { error: { code: "tool_missing", message: 'there is no tool "toString"' } },
      { error: { code: "tool_failed", message: expect.stringContaining("no luck") as string } },
      { value: 9 },
      { value: ["SEARCH_KEY"] },
    ],
  });
});

it("answers what is wrong with a coded error", async () => {
  const { plane, bundle } = await open(`export const helper = () => 1;`);
  const path = `/user-code/${bundle.sha256}`;
  const failing = async (method: string, url: string, body?: unknown) => {
    const response = await plane.call(method, url, body);
    return [response.status, ((await response.json()) as ErrorBody).error];
  };
  expect(await failing("GET", path)).toMatchObject([404, { code: "not_found" }]);
  expect(await failing("PUT", "/user-code/abc", bundle.code)).toMatchObject([400, { code: "invalid_input" }]);
  expect(await failing("PUT", `/user-code/${"0".repeat(64)}`, bundle.code)).toMatchObject([
    400,
    { code: "invalid_input" },
  ]);
  const broken = Buffer.from("export default {");
  const hash = createHash("sha256").update(broken).digest("hex");
  expect(await failing("PUT", `/user-code/${hash}`, broken)).toMatchObject([
    400,
    { code: "user_code_invalid" },
  ]);

  await plane.json("PUT", `${path}?name=rewards.ts`, bundle.code);
  expect(await failing("POST", `${path}/rewards`, { rows: [row] })).toMatchObject([
    400,
    { code: "reward_missing", message: "rewards.ts exports no reward; it exports helper." },
  ]);
  expect(await failing("POST", `${path}/tools`, { calls: [] })).toMatchObject([
    400,
    { code: "tool_missing" },
  ]);
  expect(await failing("POST", `${path}/rewards`, { rows: [{}] })).toMatchObject([
    400,
    { code: "invalid_input" },
  ]);
});
