import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import type { ModelRecord, PushModelReply } from "../../../sdk/schema/model.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";

function filesOf(weights = "weights"): Record<string, string> {
  return { "config.json": "{}", "tokenizer.json": '{"t":1}', "model.safetensors": weights };
}

function announced(files: Record<string, string>) {
  return Object.entries(files).map(([path, content]) => ({
    path,
    size: content.length,
    sha256: sha256Of(content),
  }));
}

async function push(plane: TestPlane, name: string, files = filesOf(), more = {}): Promise<ModelRecord> {
  const body = { name, files: announced(files), ...more };
  const { sha256, missing } = await plane.json<PushModelReply>("POST", "/models", body);
  for (const path of missing) await plane.call("PUT", `/models/${sha256}/files/${path}`, files[path]);
  const { model } = await plane.json<PushModelReply>("POST", "/models", body);
  if (model === undefined) throw new Error("The model is not there.");
  return model;
}

async function errorOf(response: Response) {
  return ((await response.json()) as { error: { code: string; message: string; hint?: string } }).error;
}

async function serving(
  plane: TestPlane,
  launch: object,
): Promise<{ endpoint: Endpoint; job: JobSpec; token: string }> {
  const endpoint = await plane.json<Endpoint>("POST", "/endpoints", launch);
  await plane.reconciler.settle();
  const { jobId = "" } =
    (await plane.json<Endpoint>("GET", `/endpoints/${endpoint.name}`)).replicas.at(-1) ?? {};
  const job = fakeJob(plane, jobId, 1);
  return { endpoint, job: await job.call<JobSpec>("GET", ""), token: job.token };
}

describe("stored models", () => {
  it("exist under their name when all their files are there, and not before", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const files = filesOf();
    const body = { name: "acme/tiny", files: announced(files), source: { repo: "acme/tiny", commit: "c" } };
    const begun = await plane.json<PushModelReply>("POST", "/models", body);
    expect(begun).toEqual({
      sha256: begun.sha256,
      missing: ["config.json", "model.safetensors", "tokenizer.json"],
    });
    const put = (path: string, content: string) =>
      plane.call("PUT", `/models/${begun.sha256}/files/${path}`, content);
    expect((await put("config.json", "{}")).status).toBe(204);
    expect((await errorOf(await put("model.safetensors", "xxxxxxx"))).code).toBe("invalid_input");
    expect((await errorOf(await put("other.json", "x"))).code).toBe("not_found");
    expect((await errorOf(await plane.call("GET", "/models/acme/tiny"))).code).toBe("model_not_found");
    for (const name of ["m".repeat(10_000), "a%00b"]) {
      const error = await errorOf(await plane.call("GET", `/models/${name}`));
      expect(error.code).toBe("model_not_found");
      expect(error.message.length).toBeLessThan(400);
    }
    expect((await plane.json<PushModelReply>("POST", "/models", body)).missing).toHaveLength(2);
    for (const path of ["model.safetensors", "tokenizer.json"]) await put(path, files[path] ?? "");
    const { model } = await plane.json<PushModelReply>("POST", "/models", body);
    expect(model).toMatchObject({ name: "acme/tiny", sha256: begun.sha256, bytes: 16, source: body.source });
    expect(await plane.json("GET", "/models/acme/tiny")).toEqual(model);
    expect(await plane.json("GET", "/models")).toEqual({ items: [model] });
    const file = await plane.call("GET", `/models/${begun.sha256}/files/tokenizer.json`);
    expect(await file.text()).toBe('{"t":1}');
    expect((await errorOf(await plane.call("GET", "/models/acme/tyni"))).hint).toBe(
      'Did you mean "acme/tiny"?',
    );
  });

  it("are the only names a launch takes, besides shipped models and folders", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await push(plane, "acme/tiny");
    const launch = (name: string) => plane.call("POST", "/endpoints", { model: { name } });
    expect(await errorOf(await launch("spotter/nan"))).toMatchObject({
      code: "model_not_found",
      hint: 'Did you mean "spotter/nano"? If not, store its weights with `spotter model pull hf:spotter/nan`.',
    });
    expect((await errorOf(await launch("acme/tyni"))).hint).toContain('Did you mean "acme/tiny"?');
    expect((await errorOf(await launch("nobody"))).hint).toContain(
      "`spotter model pull hf:OWNER/MODEL --name nobody`",
    );
    expect((await errorOf(await launch("meta/big"))).hint).toContain("spotter model pull hf:meta/big");
    for (const name of ["m".repeat(10_000), "a\u0000b"])
      expect((await errorOf(await launch(name))).code).toMatch(/^(model_not_found|invalid_input)$/);
    expect((await launch("spotter/nano")).status).toBeLessThan(300);
    expect((await launch("/models/mine")).status).toBeLessThan(300);
  });

  it("are weights, tokenizer and config only, and whole", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const ask = (name: string, files: Record<string, string>) =>
      plane.call("POST", "/models", { name, files: announced(files) });
    for (const path of ["modeling.py", "../config.json", "a/config.json", "weights.bin"])
      expect((await errorOf(await ask("a", { ...filesOf(), [path]: "x" }))).code).toBe("invalid_input");
    expect(await errorOf(await ask("a", { "config.json": "{}" }))).toMatchObject({
      code: "model_corrupt",
      message: 'The model "a" lacks tokenizer.json, *.safetensors.',
    });
    for (const name of ["spotter/nano", "a/b/c", "", "/a", "..", "a b"])
      expect((await errorOf(await ask(name, filesOf()))).code).toBe("invalid_input");
  });

  it("are whole as one GGUF file, and not as two", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    expect(await push(plane, "small", { "small.Q8_0.gguf": "weights" })).toMatchObject({ bytes: 7 });
    const two = { name: "b", files: announced({ "a.gguf": "x", "b.gguf": "y" }) };
    expect((await errorOf(await plane.call("POST", "/models", two))).code).toBe("model_corrupt");
  });

  it("keep their name until they are replaced on purpose", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const first = await push(plane, "tiny");
    expect(await push(plane, "tiny")).toEqual(first);
    const other = { name: "tiny", files: announced(filesOf("new")) };
    expect((await errorOf(await plane.call("POST", "/models", other))).code).toBe("conflict");
    expect((await push(plane, "tiny", filesOf("new"), { replace: true })).sha256).not.toBe(first.sha256);
  });

  it("reach a replica as files of its job, pinned at the launch", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { sha256 } = await push(plane, "acme/tiny");
    const { endpoint, job, token } = await serving(plane, { model: { name: "acme/tiny" } });
    expect(endpoint.model).toEqual({ name: "acme/tiny", revision: sha256 });
    if (job.kind !== "serve") throw new Error("not a serve job");
    expect(job.modelFiles?.map(({ path }) => path)).toEqual([
      "config.json",
      "model.safetensors",
      "tokenizer.json",
    ]);
    const weights = job.modelFiles?.find(({ path }) => path === "model.safetensors");
    const url = new URL(weights?.url ?? "");
    expect(await (await plane.call("GET", url.pathname, undefined, token)).text()).toBe("weights");
    await push(plane, "acme/tiny", filesOf("new"), { replace: true });
    expect(await (await plane.call("GET", url.pathname, undefined, token)).text()).toBe("weights");
    const again = await plane.call("POST", "/endpoints", {
      model: { name: "acme/tiny" },
      name: endpoint.name,
    });
    expect((await errorOf(again)).code).toBe("conflict");
  });

  it("reach a trainer, and the runs that start from its checkpoints", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { sha256 } = await push(plane, "tiny");
    const { job } = await runningRun(plane, { model: { name: "tiny" } });
    const spec = await job.call<JobSpec>("GET", "");
    if (spec.kind !== "train") throw new Error("not a train job");
    expect(spec.spec.model).toEqual({ name: "tiny", revision: sha256 });
    expect(spec.modelFiles?.map(({ path }) => path)).toContain("model.safetensors");
    const checkpoint = await job.save(2);
    expect(checkpoint.model.revision).toBe(sha256);
    await job.exit("succeeded");
    await push(plane, "tiny", filesOf("new"), { replace: true });
    const next = await runningRun(plane, {
      model: { name: "tiny" },
      startFrom: { checkpoint: checkpoint.id },
    });
    const nextSpec = await next.job.call<JobSpec>("GET", "");
    expect(nextSpec).toMatchObject({ spec: { model: { revision: sha256 } } });
  });

  it("are not looked for where the model is shipped or a folder", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { endpoint, job } = await serving(plane, { model: { name: "spotter/nano" } });
    expect(endpoint.model).toEqual({ name: "spotter/nano" });
    expect(job).not.toHaveProperty("modelFiles");
  });
});
