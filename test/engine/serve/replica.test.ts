import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JobClient } from "../../../engine/agent.ts";
import type { ContainerContext } from "../../../engine/agent/container.ts";
import { createLog } from "../../../engine/agent/log.ts";
import { startEngine } from "../../../engine/onnx/engine-client.ts";
import { spawnEngineWorker } from "../../../engine/onnx/spawn-worker.ts";
import { serveReplica } from "../../../engine/serve/replica.ts";
import type { JobEventBody, JobFile, ServeJob } from "../../../sdk/schema/job.ts";
import { writeTinyModel } from "../onnx/fixtures/tiny-model.ts";

let dir: string;
let base: string;
let adapter: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-replica-"));
  base = await writeTinyModel(join(dir, "base"));
  adapter = join(dir, "adapter");
  const optimizer = {
    type: "adamw" as const,
    beta1: 0.9,
    beta2: 0.95,
    epsilon: 1e-8,
    weightDecay: 0,
    maxGradNorm: 1,
  };
  const lora = { rank: 2, alpha: 4, targets: ["q_proj"] };
  const engine = await startEngine({
    modelDir: base,
    threads: 1,
    slots: 1,
    trainer: { lora, optimizer, reference: false, seed: 1 },
  });
  await engine.saveModel(adapter);
  await engine.close();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

interface Running {
  address: string;
  cancel: AbortController;
  done: Promise<"cancelled">;
  workDir: string;
}

/** Starts a replica whose files come from a folder, and waits until it is ready. */
async function start(job: ServeJob, source: string, host?: string): Promise<Running> {
  const cancel = new AbortController();
  const workDir = await mkdtemp(join(dir, "work-"));
  let ready: (address: string) => void;
  const address = new Promise<string>((resolve) => (ready = resolve));
  const client = {
    cancelled: cancel.signal,
    ended: new AbortController().signal,
    report(body: JobEventBody) {
      if (body.type === "ready") ready(body.address);
    },
    async download(file: JobFile, to: string) {
      await mkdir(dirname(to), { recursive: true });
      await copyFile(join(source, file.path.replace("model/", "")), to);
    },
  } as Partial<JobClient> as JobClient;
  const context: ContainerContext = { client, job, log: createLog(() => undefined), workDir };
  const done = serveReplica(context, spawnEngineWorker(), host);
  return { address: await Promise.race([address, done]), cancel, done, workDir };
}

function serveJob(checkpoint?: { kind: "full" | "lora"; files: string[] }): ServeJob {
  const model = { name: base };
  const files = checkpoint?.files.map((path) => ({
    path,
    url: `http://127.0.0.1/${path}`,
    size: 0,
    sha256: "",
  }));
  return {
    protocol: 1,
    id: "job",
    attempt: 0,
    heartbeatEveryMs: 1000,
    threads: 1,
    kind: "serve",
    endpoint: "tiny",
    model,
    ...(checkpoint && {
      checkpoint: { id: "run@1", step: 1, model, kind: checkpoint.kind, files: files ?? [] },
    }),
  };
}

async function ask(address: string, extra: object = {}): Promise<string> {
  const messages = [{ role: "user", content: "Hi" }];
  const body = JSON.stringify({ model: "tiny", messages, temperature: 0, max_tokens: 12, ...extra });
  const response = await fetch(`http://${address}/v1/chat/completions`, { method: "POST", body });
  return response.text();
}

function contentOf(answer: string): string {
  return (
    (JSON.parse(answer) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? ""
  );
}

describe("serveReplica", () => {
  it("serves a folder, a full checkpoint and an adapter on its base", async () => {
    const folder = await start(serveJob(), base);
    const files = await readdir(base);
    const trainer = "trainer/adam-first.safetensors";
    const full = await start(
      serveJob({ kind: "full", files: [...files.map((f) => `model/${f}`), trainer] }),
      base,
    );
    const adapterFiles = (await readdir(adapter)).map((file) => `model/${file}`);
    const lora = await start(serveJob({ kind: "lora", files: adapterFiles }), adapter);
    const answers = await Promise.all([folder, full, lora].map(({ address }) => ask(address)));
    const contents = answers.map(contentOf);
    // The adapter is fresh, so it changes nothing yet.
    expect(new Set(contents).size).toBe(1);
    expect(await readdir(join(full.workDir, "checkpoint"))).toEqual(["model"]);
    for (const { cancel } of [folder, full, lora]) cancel.abort();
    expect(await Promise.all([folder, full, lora].map(({ done }) => done))).toEqual(
      Array(3).fill("cancelled"),
    );
    await expect(ask(folder.address)).rejects.toThrow();
  });

  it("serves stored weights from the files of its job", async () => {
    const modelFiles = (await readdir(base)).map((path) => ({ path, url: "", size: 0, sha256: "" }));
    const model = { name: "acme/tiny", revision: "0".repeat(64) };
    const stored = await start({ ...serveJob(), model, modelFiles }, base);
    expect((await readdir(join(stored.workDir, "model"))).sort()).toEqual((await readdir(base)).sort());
    const folder = await start(serveJob(), base);
    expect(contentOf(await ask(stored.address))).toBe(contentOf(await ask(folder.address)));
    for (const { cancel } of [stored, folder]) cancel.abort();
    await Promise.all([stored.done, folder.done]);
    await expect(start({ ...serveJob(), model }, base)).rejects.toMatchObject({
      code: "model_not_found",
      hint: expect.stringContaining("spotter model pull hf:acme/tiny") as string,
    });
  });

  it("listens at the address it is told, which has to be its own", async () => {
    await expect(start(serveJob(), base, "192.0.2.1")).rejects.toThrow(/EADDRNOTAVAIL.*192\.0\.2\.1/);
  });

  it("lets answers under way end before it stops", async () => {
    const { address, cancel, done } = await start(serveJob(), base);
    const messages = [{ role: "user", content: "Hi" }];
    const body = JSON.stringify({ model: "tiny", messages, stream: true, max_tokens: 200, temperature: 0 });
    const response = await fetch(`http://${address}/v1/chat/completions`, { method: "POST", body });
    cancel.abort();
    expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/);
    expect(await done).toBe("cancelled");
  });

  it("says what is wrong with the model", async () => {
    const job = { ...serveJob(), model: { name: join(dir, "nothing") } };
    await expect(start(job, base)).rejects.toMatchObject({ code: "model_not_found" });
  });
});
