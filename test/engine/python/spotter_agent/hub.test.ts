import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { vllmJob, startAgent, type AgentRun, type OnEnd } from "./agent.ts";
import { hasPython } from "./has-python.ts";

const SLOW = { timeout: 20_000 };
const COMMIT = "c".repeat(40);
const WEIGHTS = "weights ".repeat(50);
const FILES: Record<string, string> = {
  "config.json": '{"model_type":"qwen3"}',
  "model.safetensors": WEIGHTS,
  "pytorch_model.bin": "the same again",
  ".gitattributes": "x",
  "deep/größe.txt": "über",
};

const sibling = ([rfilename, text]: [string, string]) => ({
  rfilename,
  size: Buffer.byteLength(text),
  // As git names a file; large ones have their SHA-256.
  blobId: createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex"),
  ...(rfilename === "model.safetensors" && {
    lfs: { sha256: createHash("sha256").update(text).digest("hex") },
  }),
});

interface Hub {
  url: string;
  asked: string[];
  answer: (path: string, request: IncomingMessage, response: ServerResponse) => boolean;
  siblings: object[];
}

/** A hub of one model. `answer` may do something else first. */
async function startHub(onEnd: OnEnd): Promise<Hub> {
  const hub: Hub = { url: "", asked: [], answer: () => false, siblings: Object.entries(FILES).map(sibling) };
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "").split("?")[0] ?? "");
    hub.asked.push(`${path} ${request.headers.range ?? ""} ${request.headers.authorization ?? ""}`.trim());
    if (hub.answer(path, request, response)) return;
    if (path === "/api/models/acme/tiny/revision/main")
      return void response.end(JSON.stringify({ sha: COMMIT, siblings: hub.siblings }));
    const text = FILES[path.replace(`/acme/tiny/resolve/${COMMIT}/`, "")];
    if (text === undefined) return void response.writeHead(404).end("Entry not found");
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
    response.writeHead(request.headers.range ? 206 : 200).end(Buffer.from(text).subarray(start));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  hub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return hub;
}

/** A replica of a model that is on the hub alone; it ends when it has looked at what it got. */
function serving(
  onEnd: OnEnd,
  hub: Hub,
  before: (model: string) => void = () => undefined,
  env = {},
): Promise<AgentRun> {
  return startAgent(
    onEnd,
    (plane) => {
      const { modelFiles: _stored, ...job } = vllmJob(plane);
      const native = { engine: "vllm", argv: ["python3", "-c", "raise SystemExit(7)"] };
      return { ...job, model: { name: "acme/tiny" }, native };
    },
    {
      env,
      options: { hub_url: hub.url, give_up_after_s: 1 },
      before: (plane) => before(join(plane.env.SPOTTER_WORK_DIR, "model")),
    },
  );
}

describe.runIf(hasPython).concurrent("a model of the hub", SLOW, () => {
  it("is fetched at one commit, without what is there twice, each file checked and gone on with", async ({
    expect,
    onTestFinished,
  }) => {
    const hub = await startHub(onTestFinished);
    const left = (model: string) => {
      mkdirSync(model, { recursive: true });
      writeFileSync(join(model, "model.safetensors.partial"), WEIGHTS.slice(0, 100));
      writeFileSync(join(model, "config.json"), "x".repeat(FILES["config.json"]?.length ?? 0));
    };
    const run = await serving(onTestFinished, hub, left, { HF_TOKEN: "hf-secret" });
    await run.ended;
    expect(run.exit()).toMatchObject({ failure: { code: "engine_failed" } });
    const model = join(run.workDir, "model");
    expect(readdirSync(model, { recursive: true }).sort()).toEqual([
      ...["config.json", "deep", "deep/größe.txt", "model.safetensors"],
    ]);
    for (const name of ["config.json", "deep/größe.txt", "model.safetensors"])
      expect(readFileSync(join(model, name), "utf8")).toBe(FILES[name]);
    expect(hub.asked.map((each) => each.replace(`/acme/tiny/resolve/${COMMIT}/`, ""))).toEqual([
      "/api/models/acme/tiny/revision/main  Bearer hf-secret",
      "config.json  Bearer hf-secret",
      "model.safetensors bytes=100- Bearer hf-secret",
      "deep/größe.txt  Bearer hf-secret",
    ]);
  });

  it("that is altered, closed, unknown or reaches outside of its folder is told by its code", async ({
    expect,
    onTestFinished,
  }) => {
    const told = async (change: (hub: Hub) => void) => {
      const hub = await startHub(onTestFinished);
      change(hub);
      const run = await serving(onTestFinished, hub);
      expect(await run.ended).toBe(1);
      return (
        (run.exit()?.["failure"] as { code: string; hint?: string; where?: string } | undefined) ?? {
          code: "",
        }
      );
    };
    const refuse = (status: number) => (hub: Hub) =>
      (hub.answer = (path, _request, response) =>
        path.startsWith("/api/") && (response.writeHead(status).end("no"), true));
    expect(await told(refuse(401))).toMatchObject({
      code: "hub_gated",
      hint: "Grant the secret HF_TOKEN to the run or endpoint.",
    });
    expect(await told(refuse(404))).toMatchObject({ code: "model_not_found" });
    const altered = await told((hub) => {
      hub.answer = (path, _request, response) =>
        path.endsWith("/model.safetensors") && (response.end("W" + WEIGHTS.slice(1)), true);
    });
    expect(altered).toMatchObject({ code: "model_corrupt", where: "model.safetensors" });
    const outside = await told((hub) => (hub.siblings = [sibling(["deep/../../../outside.txt", "x"])]));
    expect(outside).toMatchObject({ code: "model_corrupt", where: "deep/../../../outside.txt" });
  });
});
