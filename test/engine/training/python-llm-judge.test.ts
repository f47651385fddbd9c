import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPython, type PythonProcess } from "../../../engine/training/python-process.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const REWARDS = `
from rnow.core import RewardArgs, llm_judge, reward

@reward
async def judged(args: RewardArgs, messages: list) -> float:
    options = args.metadata.get("options", {})
    return await llm_judge(args.metadata["prompt"], secrets=args.secrets, **options)
`;

interface Asked {
  path: string;
  key: string | undefined;
  body: Record<string, unknown>;
}

describe.skipIf(!hasPython)("llm_judge of Python rewards", () => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-llm-judge-"));
  const asked: Asked[] = [];
  const replies: { status?: number; json: unknown }[] = [];
  let server: Server;
  let python: PythonProcess;
  let url = "";

  beforeAll(async () => {
    if (!hasPython) return;
    server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const { url: path = "", headers } = request;
        asked.push({ path, key: headers.authorization, body: JSON.parse(text) as Record<string, unknown> });
        const { status = 200, json } = replies.shift() ?? { json: said('{"score": 1}') };
        response.writeHead(status, { "retry-after": "0" }).end(JSON.stringify(json));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    writeFileSync(join(folder, "rewards.py"), REWARDS);
    python = await startPython({
      folder,
      workDir: folder,
      files: ["rewards.py"],
      secrets: { OPENAI_API_KEY: "sk-granted", OPENAI_BASE_URL: url },
      environment: process.env,
      log: { info: () => undefined, warn: () => undefined },
    });
  });
  afterAll(async () => {
    await python.close();
    rmSync(folder, { recursive: true });
    await new Promise((resolve) => server.close(resolve));
  });

  const said = (content: string) => ({ choices: [{ message: { content } }] });
  const judge = async (options: object = {}) => {
    const metadata = { prompt: "Is it a haiku?", options };
    const [result] = await python.callAll([
      { op: "reward", name: "judged", timeoutMs: 20_000, metadata, messages: [] },
    ]);
    return result;
  };

  it("asks the granted server with the granted key, for an answer by a schema", async () => {
    expect(await judge()).toEqual({ value: 1 });
    expect(asked.splice(0)).toEqual([
      {
        path: "/v1/chat/completions",
        key: "Bearer sk-granted",
        body: {
          model: "gpt-5-nano",
          messages: [{ role: "user", content: "Is it a haiku?" }],
          max_completion_tokens: 1024,
          response_format: {
            type: "json_schema",
            json_schema: { name: "judgement", strict: true, schema: expect.anything() as unknown },
          },
        },
      },
    ]);
  });

  it("speaks to /responses as well, and takes a key of the answer and a schema of its own", async () => {
    replies.push({ json: { output: [{ content: [{ type: "output_text", text: '{"quality": 0.25}' }] }] } });
    const schema = { type: "object", properties: { quality: { type: "number" } } };
    const options = {
      api_url: `${url}/responses`,
      model: "judge",
      schema,
      score_key: "quality",
      api_key: "own",
    };
    expect(await judge(options)).toEqual({ value: 0.25 });
    const [request] = asked.splice(0);
    expect(request).toMatchObject({
      path: "/v1/responses",
      key: "Bearer own",
      body: { input: "Is it a haiku?", temperature: 0, text: { format: { strict: true, schema } } },
    });
  });

  it("asks again where a server is busy", async () => {
    replies.push({ status: 429, json: {} }, { status: 503, json: {} });
    expect(await judge()).toEqual({ value: 1 });
    expect(asked.splice(0).length).toBe(3);
  });

  it("gives no verdict instead of 0 where there is no score", async () => {
    replies.push(
      { json: said('{"score": ') },
      { json: said('{"score": true}') },
      { status: 400, json: { error: "no" } },
    );
    const results = [await judge(), await judge(), await judge()];
    expect(results.map((result) => result && "error" in result && result.error)).toEqual([
      {
        code: "reward_failed",
        message: expect.stringContaining("the answer holds no number score") as string,
      },
      {
        code: "reward_failed",
        message: expect.stringContaining("the answer holds no number score") as string,
      },
      { code: "reward_failed", message: expect.stringContaining('answered 400: {"error":"no"}') as string },
    ]);
  });

  it.each([
    [null, "answered with something that holds no answer: 'null'"],
    [[], "answered with something that holds no answer: '[]'"],
    [{ choices: [null] }, "answered with something that holds no answer"],
    [{ output: ["x"] }, "answered with something that holds no answer"],
    [said('{"score": 7}'), "score is 7, and the schema allows [0, 1]"],
  ])("gives none for %j", async (json, message) => {
    replies.push({ json });
    expect(await judge()).toEqual({
      error: { code: "reward_failed", message: expect.stringContaining(message) as string },
    });
  });
});
