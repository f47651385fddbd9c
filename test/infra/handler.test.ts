import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Bundle } from "../../infra/bundle.ts";
import { makeBundle } from "../../infra/bundle/make-bundle.ts";
import { errorBody } from "../../sdk/schema/errors.ts";
import { health } from "../../sdk/schema/status.ts";
import { startFunction, type FakeFunction } from "../fakes/lambda-runtime/function.ts";

const entry = new URL("../../functions/lambda/pages.ts", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "spotter-lambda-"));
let files: Bundle;
let running: FakeFunction;

beforeAll(async () => {
  // What is deployed is what is tested: the bundle, from a folder without node_modules, with the stack's variables.
  files = await makeBundle(entry);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  running = await startFunction({ folder, environment: { SPOTTER_VERSION: "1.2.3" } });
}, 30_000);
afterAll(async () => {
  await running.close();
  rmSync(folder, { recursive: true });
});

it("answers health", async () => {
  const answer = await fetch(`${running.url}/health`);
  expect(answer.status).toBe(200);
  expect(health.parse(await answer.json())).toEqual({ ok: true, name: "spotter", version: "1.2.3" });
});

it.each([
  ["GET", "/"],
  ["POST", "/v1/chat/completions"],
  ["DELETE", "/endpoints/x"],
  ["POST", "/health"],
])("names each variable that is missing, for %s %s", async (method, path) => {
  const answer = await fetch(`${running.url}${path}`, { method, ...(method === "POST" && { body: "{}" }) });
  expect(answer.status).toBe(500);
  const { error } = errorBody.parse(await answer.json());
  expect(error).toMatchObject({ code: "aws_config_invalid", kind: "user" });
  for (const name of [
    "SPOTTER_STACK",
    "SPOTTER_URL",
    "SPOTTER_TABLE",
    "SPOTTER_BUCKET",
    "SPOTTER_ORIGIN_SECRET",
  ])
    expect(error.message).toContain(name);
  expect(error.hint).toContain("pulumi up");
});

it("is the same each time it is bundled", async () => {
  expect(await makeBundle(entry)).toEqual(files);
}, 20_000);
