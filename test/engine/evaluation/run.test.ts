import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LaunchEvalInput } from "../../../sdk/schema/eval.ts";
import { jobSpec } from "../../../sdk/schema/job.ts";
import { runContainer } from "../../../engine/agent/container.ts";
import { realPace } from "../../../engine/agent/pace.ts";
import { runEvaluation } from "../../../engine/evaluation/run.ts";
import {
  answer,
  noVerdict,
  score,
  startFakeControlPlane,
  type FakeControlPlane,
} from "../fake-control-plane.ts";

let dir: string;
let plane: FakeControlPlane;
let host: EventEmitter;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-eval-"));
  plane = await startFakeControlPlane(dir);
  plane.chat = (body) =>
    completionOf(`answer to ${(body.messages as { content: string }[])[0]?.content ?? ""}`);
  plane.judge = (rows) => rows.map((row) => score(row.response.content.length));
  host = new EventEmitter();
});

afterEach(async () => {
  await plane[Symbol.asyncDispose]();
  await rm(dir, { recursive: true });
});

function completionOf(content: string): unknown {
  return {
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { completion_tokens: 3 },
  };
}

async function evaluate(spec: Partial<LaunchEvalInput> = {}, rows = 3): Promise<number> {
  const lines = Array.from({ length: rows }, (_, index) =>
    JSON.stringify({
      prompt: [{ role: "user", content: `q${index}` }],
      row: { n: index, metadata: { a: index } },
    }),
  );
  plane.job = z.parse(jobSpec, {
    protocol: 1,
    id: "job-1",
    attempt: 0,
    heartbeatEveryMs: 20,
    threads: 1,
    kind: "eval",
    evalId: "eval-1",
    spec: {
      endpoint: "base",
      dataset: { sha256: "0".repeat(64), rows },
      rewards: { code: { sha256: "0".repeat(64) } },
      chatOptions: { max_tokens: 9 },
      ...spec,
    },
    dataset: plane.addFile("eval.jsonl", lines.join("\n")),
    chatUrl: `${plane.url}/v1`,
    model: "base",
  });
  const pace = {
    ...realPace,
    sleep: (ms: number, signal?: AbortSignal) => realPace.sleep(Math.min(ms, 5), signal),
  };
  return runContainer({ ...plane.env }, runEvaluation, { host, write: () => undefined, client: { pace } });
}

function rowsReported() {
  return plane.events.flatMap((event) => (event.type === "eval-rows" ? event.rows : []));
}

function exit() {
  return plane.events.find((event) => event.type === "exit");
}

describe("eval container", () => {
  it("asks every row as often as told, judges and reports in order", async () => {
    const bodies: Record<string, unknown>[] = [];
    const { chat } = plane;
    plane.chat = async (body) => {
      bodies.push(body);
      await new Promise((resolve) => setTimeout(resolve, bodies.length % 3));
      return chat(body);
    };
    const judged: unknown[] = [];
    plane.judge = (rows) => (judged.push(...rows), rows.map((row) => score(row.response.content.length)));
    expect(await evaluate({ samplesPerRow: 50, concurrency: 8 })).toBe(0);
    expect(exit()).toEqual({ type: "exit", outcome: "succeeded" });
    const rows = rowsReported();
    expect(rows.map(({ row, sample }) => row * 50 + sample)).toEqual(
      Array.from({ length: 150 }, (_, at) => at),
    );
    expect(rows[0]).toEqual({
      row: 0,
      sample: 0,
      input: { n: 0, metadata: { a: 0 } },
      text: "answer to q0",
      finishReason: "stop",
      tokens: 3,
      verdict: score("answer to q0".length),
    });
    expect(bodies[0]).toMatchObject({ model: "base", max_tokens: 9, stream: false });
    expect(new Set(bodies.map(({ seed }) => seed)).size).toBe(150);
    expect(judged[0]).toMatchObject({
      metadata: { a: 0 },
      messages: [{ role: "user" }, { role: "assistant", content: "answer to q0" }],
    });
    expect(plane.events.every((event) => event.type !== "eval-rows" || event.total === 150)).toBe(true);
  });

  it("never asks more than `concurrency` at once", async () => {
    let asking = 0;
    let most = 0;
    plane.chat = async () => {
      most = Math.max(most, ++asking);
      await new Promise((resolve) => setTimeout(resolve, 2));
      asking--;
      return completionOf("x");
    };
    await evaluate({ concurrency: 4 }, 30);
    expect(most).toBe(4);
  });

  it("waits for an endpoint that is busy or wakes up", async () => {
    let refusals = 5;
    plane.intercept = (request, response) => {
      if (request.url !== "/v1/chat/completions" || refusals-- <= 0) return false;
      response.writeHead(refusals % 2 ? 429 : 503, { "retry-after": "0" }).end("{}");
      return true;
    };
    expect(await evaluate()).toBe(0);
    expect(rowsReported().length).toBe(3);
  });

  it("fails with the endpoint's own words", async () => {
    plane.intercept = (request, response) => {
      if (request.url !== "/v1/chat/completions") return false;
      const error = {
        message: "8000 tokens are too many",
        type: "invalid_request_error",
        param: null,
        code: "context_length_exceeded",
      };
      answer(response, 400, { error });
      return true;
    };
    expect(await evaluate()).toBe(1);
    expect(exit()).toMatchObject({
      outcome: "failed",
      failure: { code: "context_length_exceeded", message: "8000 tokens are too many" },
    });
  });

  it("keeps rows without a verdict, and fails when there are too many", async () => {
    plane.judge = (rows) => rows.map((_row, index) => (index === 0 ? noVerdict() : score(1)));
    expect(await evaluate({}, 10)).toBe(0);
    expect(rowsReported()[0]?.verdict.total).toBeUndefined();
    plane.events.length = 0;
    plane.judge = (rows) => rows.map(() => noVerdict());
    expect(await evaluate({}, 10)).toBe(1);
    expect(exit()).toMatchObject({ failure: { code: "reward_timeout" } });
    expect(rowsReported().length).toBe(10);
  });

  it("stops asking when cancelled", async () => {
    let asked = 0;
    plane.chat = async () => {
      if (++asked === 5) host.emit("SIGTERM");
      await new Promise((resolve) => setTimeout(resolve, 1));
      return completionOf("x");
    };
    expect(await evaluate({ concurrency: 2 }, 500)).toBe(0);
    expect(exit()).toEqual({ type: "exit", outcome: "cancelled" });
    expect(asked).toBeLessThan(20);
  });
});
