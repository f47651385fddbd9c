import { describe, expect, it, onTestFinished } from "vitest";
import type { CleanupReport } from "../../../sdk/schema/cleanup.ts";
import type { DeletedModel, ModelRecord, PushModelReply } from "../../../sdk/schema/model.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const DAY_MS = 86_400_000;

async function announce(plane: TestPlane, name: string, weights: string, more = {}) {
  const content: Record<string, string> = {
    "config.json": "{}",
    "tokenizer.json": "{}",
    "model.safetensors": weights,
  };
  const files = Object.entries(content).map(([path, text]) => {
    return { path, size: text.length, sha256: sha256Of(text) };
  });
  const body = { name, files, ...more };
  const reply = await plane.json<PushModelReply>("POST", "/models", body);
  return { body, content, ...reply };
}

async function push(plane: TestPlane, name: string, weights = "weights", more = {}): Promise<ModelRecord> {
  const { body, content, sha256, missing } = await announce(plane, name, weights, more);
  for (const path of missing) await plane.call("PUT", `/models/${sha256}/files/${path}`, content[path]);
  const { model } = await plane.json<PushModelReply>("POST", "/models", body);
  if (model === undefined) throw new Error("The model is not there.");
  return model;
}

const remove = (plane: TestPlane, name: string) => plane.json<DeletedModel>("DELETE", `/models/${name}`);
const weightsOf = async (plane: TestPlane) =>
  (await plane.control.blobs.list("models/")).filter(({ key }) => key.endsWith(".safetensors")).length;
const clean = (plane: TestPlane, request: object) => plane.json<CleanupReport>("POST", "/cleanup", request);

describe("deleting a stored model", () => {
  it("frees its weights, and the name is unknown again", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { sha256 } = await push(plane, "acme/tiny");
    expect(await remove(plane, "acme/tiny")).toEqual({ name: "acme/tiny", sha256, bytes: 11 });
    expect((await plane.call("GET", "/models/acme/tiny")).status).toBe(404);
    expect((await plane.call("DELETE", "/models/acme/tiny")).status).toBe(404);
    expect(await plane.control.blobs.list("models/")).toEqual([]);
    expect((await plane.control.store.query("model-files")).items).toEqual([]);
    await push(plane, "acme/tiny");
    expect(await weightsOf(plane)).toBe(1);
  });

  it("leaves weights that another name means", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await push(plane, "one");
    await push(plane, "two");
    expect(await remove(plane, "one")).toMatchObject({ bytes: 0, keptFor: "the name two means it too" });
    expect(await weightsOf(plane)).toBe(1);
    expect(await remove(plane, "two")).toMatchObject({ bytes: 11 });
    expect(await weightsOf(plane)).toBe(0);
  });

  it("leaves weights that an endpoint serves or a run was trained from, until cleanup finds them unused", async () => {
    const plane = await testPlane({
      onEnd: onTestFinished,
      firstState: { state: "waiting", reason: "capacity" },
    });
    await push(plane, "mine");
    await plane.json("POST", "/endpoints", { model: { name: "mine" }, name: "served" });
    const spec = { ...(await preparedSpec(plane)), model: { name: "mine" } };
    const { run } = await plane.json<RunDetail>("POST", "/runs", spec);
    expect(await remove(plane, "mine")).toMatchObject({ keptFor: "endpoint served serves it" });
    plane.clock.advance(8 * DAY_MS);
    const models = async () =>
      (await clean(plane, { dryRun: true })).items.filter(({ kind }) => kind === "model");
    expect(await models()).toEqual([]);
    await plane.json("DELETE", "/endpoints/served");
    await plane.json("POST", `/runs/${run.id}/cancel`);
    await plane.reconciler.settle();
    expect(await models()).toEqual([]);
    await plane.call("DELETE", `/runs/${run.id}`);
    expect(await models()).toEqual([
      {
        kind: "model",
        name: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        bytes: 11,
        reason: expect.stringContaining("refers to it") as string,
      },
    ]);
    expect(await weightsOf(plane)).toBe(1);
    await clean(plane, {});
    expect([await weightsOf(plane), await models()]).toEqual([0, []]);
  });
});

describe("cleaning up", () => {
  it("removes replaced weights and uploads that were given up, never one that is under way", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const old = await push(plane, "mine", "old weights");
    const now = await push(plane, "mine", "new weights", { replace: true });
    const { sha256, content } = await announce(plane, "half", "half weights");
    await plane.call("PUT", `/models/${sha256}/files/config.json`, content["config.json"]);
    expect((await clean(plane, { olderThanMs: 0 })).items).toEqual([]);
    plane.clock.advance(2 * DAY_MS);
    const { items } = await clean(plane, { olderThanMs: 0 });
    expect(items.map(({ name }) => name).sort()).toEqual([old.sha256, sha256].sort());
    expect(await plane.json("GET", "/models/mine")).toMatchObject({ sha256: now.sha256 });
    expect(await weightsOf(plane)).toBe(1);
  });
});
