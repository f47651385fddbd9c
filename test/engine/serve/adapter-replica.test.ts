import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JobClient } from "../../../engine/agent.ts";
import { createLog } from "../../../engine/agent/log.ts";
import { startEngine } from "../../../engine/onnx/engine-client.ts";
import { spawnEngineWorker } from "../../../engine/onnx/spawn-worker.ts";
import { serveReplica } from "../../../engine/serve/replica.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { JobCheckpoint, JobEventBody, JobFile, ServeJob } from "../../../sdk/schema/job.ts";
import { readEvents } from "./harness.ts";

const NANO = new URL("../../../engine/models/nano", import.meta.url).pathname;
const MODEL = { name: "spotter/nano" };

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-adapters-"));
  await trainAdapter(1);
  await trainAdapter(2);
}, 30_000);
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A few steps far out, so that what it says is plainly its own. */
async function trainAdapter(seed: number): Promise<void> {
  const optimizer = {
    type: "adamw" as const,
    beta1: 0.9,
    beta2: 0.95,
    epsilon: 1e-8,
    weightDecay: 0,
    maxGradNorm: 1,
  };
  const lora = { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "down_proj"] };
  const trainer = { lora, optimizer, reference: false, seed };
  const engine = await startEngine({ modelDir: NANO, threads: 1, slots: 1, trainer });
  const ids = Array.from({ length: 24 }, (_, index) => 300 + ((index * 37 * seed) % 500));
  const mask = ids.map((_, index) => Math.min(index, 1));
  const batch = { loss: "sft", clipLow: 0.2, clipHigh: 0.2, klCoef: 0, temperature: 1 } as const;
  for (let step = 0; step < 6; step++) {
    const sequences = [{ ids, mask, advantages: mask }];
    await engine.trainStep({ ...batch, sequences, learningRate: 0.05, microBatchSize: 1 });
  }
  await engine.saveModel(join(dir, `adapter-${seed}`));
  await engine.close();
}

/** The checkpoint `run@step`; steps take turns with the two adapters. */
async function adapterOf(id: string): Promise<JobCheckpoint> {
  const step = Number(id.split("@")[1]);
  const files = await readdir(join(dir, `adapter-${2 - (step % 2)}`));
  const jobFiles = files.map((file) => ({ path: `model/${file}`, url: id, size: 0, sha256: "" }));
  return { id, kind: "lora", step, model: MODEL, files: jobFiles };
}

interface Running {
  address: string;
  /** Ids of the adapters that were fetched. */
  fetched: string[];
  stop: () => Promise<void>;
}

async function start(job: Partial<ServeJob>, changes: Partial<JobClient> = {}): Promise<Running> {
  const cancel = new AbortController();
  const fetched: string[] = [];
  let ready: (address: string) => void;
  const address = new Promise<string>((resolve) => (ready = resolve));
  const client = {
    cancelled: cancel.signal,
    ended: new AbortController().signal,
    report(body: JobEventBody) {
      if (body.type === "ready") ready(body.address);
    },
    getAdapter(id: string) {
      fetched.push(id);
      return adapterOf(id);
    },
    async download({ path, url }: JobFile, to: string) {
      await mkdir(dirname(to), { recursive: true });
      const step = Number(url.split("@")[1]);
      await copyFile(join(dir, `adapter-${2 - (step % 2)}`, path.replace("model/", "")), to);
    },
    ...changes,
  } as Partial<JobClient> as JobClient;
  const base: ServeJob = {
    ...{ protocol: 1, id: "job", attempt: 0, heartbeatEveryMs: 1000, threads: 1, kind: "serve" },
    endpoint: "nano",
    model: MODEL,
  };
  const workDir = await mkdtemp(join(dir, "work-"));
  const context = { client, job: { ...base, ...job }, log: createLog(() => undefined), workDir };
  const done = serveReplica(context, spawnEngineWorker());
  const stop = async (): Promise<void> => {
    cancel.abort();
    await done;
  };
  return { address: await Promise.race([address, done]), fetched, stop };
}

function post(address: string, model: string, extra: object = {}): Promise<Response> {
  const messages = [{ role: "user", content: "Write a haiku about rain." }];
  const sampling = { temperature: 0, max_tokens: 24, logprobs: true, top_logprobs: 2 };
  const body = JSON.stringify({ model, messages, ...sampling, ...extra });
  return fetch(`http://${address}/v1/chat/completions`, { method: "POST", body });
}

/** What it says and how sure it is, to the last bit. */
async function greedy(address: string, model: string): Promise<unknown> {
  const response = await post(address, model);
  const answer = (await response.json()) as { model: string; choices: unknown[] };
  expect({ status: response.status, model: answer.model }).toEqual({ status: 200, model });
  return answer.choices;
}

/** What an endpoint says that was launched from a checkpoint. */
async function launched(id: string): Promise<unknown> {
  const { address, stop } = await start({ checkpoint: await adapterOf(id) });
  const said = await greedy(address, "nano");
  await stop();
  return said;
}

const textOf = (choices: unknown) => (choices as { message: { content: string } }[])[0]?.message.content;

describe("an adapter of a replica", { timeout: 30_000 }, () => {
  it("says what an endpoint of its own says, bit for bit, and disturbs nobody", async () => {
    const alone = await start({});
    const plain = await greedy(alone.address, "nano");
    await alone.stop();
    const [first, second] = [await launched("run@1"), await launched("run@2")];
    expect(new Set([plain, first, second].map(textOf)).size).toBe(3);

    const { address, fetched, stop } = await start({});
    const models = ["run@1", "nano", "run@2", "run@1", "nano", "run@2", "nano", "run@1"];
    const said = await Promise.all(models.map((model) => greedy(address, model)));
    const expected = { nano: plain, "run@1": first, "run@2": second };
    for (const [index, model] of models.entries())
      expect(said[index], model).toEqual(expected[model as keyof typeof expected]);
    expect(fetched.sort()).toEqual(["run@1", "run@2"]);

    const stream = readEvents(await (await post(address, "run@2", { stream: true })).text());
    const pieces = stream.events as { model: string; choices: { delta: { content?: string } }[] }[];
    expect(new Set(pieces.map(({ model }) => model))).toEqual(new Set(["run@2"]));
    expect(pieces.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(textOf(second));
    expect(stream.tail).toBe("data: [DONE]\n\n");
    await stop();
  });

  it("makes room for others, and says the same when it is back", async () => {
    const { address, fetched, stop } = await start({});
    const first = await greedy(address, "run@1");
    for (const id of ["run@2", "run@3", "run@4", "run@5"]) await greedy(address, id);
    expect(await greedy(address, "run@1")).toEqual(first);
    expect(fetched).toEqual(["run@1", "run@2", "run@3", "run@4", "run@5", "run@1"]);
    await stop();
  });

  it("fails alone where it cannot be had", async () => {
    const errors: Record<string, SpotterError> = {
      "run@7": new SpotterError("checkpoint_not_found", "There is no checkpoint run@7."),
      "run@9": new SpotterError("blob_corrupt", "model/x does not match its hash."),
    };
    const { address, stop } = await start(
      {},
      {
        async getAdapter(id) {
          const error = errors[id];
          if (error !== undefined) throw error;
          const adapter = await adapterOf(id);
          return id === "run@11" ? { ...adapter, model: { name: "acme/other" } } : adapter;
        },
        download: (file) =>
          Promise.reject(new SpotterError("daemon_unreachable", `${file.path} is out of reach.`)),
      },
    );
    const plain = await greedy(address, "nano");
    for (const [id, status, code] of [
      ["run@7", 404, "checkpoint_not_found"],
      ["run@9", 500, "blob_corrupt"],
      ["run@11", 404, "model_not_found"],
      ["run@1", 500, "daemon_unreachable"],
    ] as const) {
      for (const stream of [false, true]) {
        const response = await post(address, id, { stream });
        expect(await response.json(), id).toMatchObject({ error: { code } });
        expect(response.status, id).toBe(status);
      }
    }
    expect(await greedy(address, "nano")).toEqual(plain);
    await stop();
  });
});
