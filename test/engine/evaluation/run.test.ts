import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LaunchEvalInput } from "../../../sdk/schema/launch-eval.ts";
import { jobSpec } from "../../../sdk/schema/job.ts";
import { runContainer } from "../../../engine/agent/container.ts";
import { realPace } from "../../../engine/agent/pace.ts";
import { runEvaluation, type EvalParts } from "../../../engine/evaluation/run.ts";
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

/** Whoever asks an endpoint starts no engine. */
const noEngine: EvalParts = {
  startEngine: () => Promise.reject(new Error("no engine here")),
  loadTextModel: () => Promise.reject(new Error("no model here")),
};

function completionOf(content: string): unknown {
  return {
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { completion_tokens: 3 },
  };
}

async function evaluate(
  spec: Partial<LaunchEvalInput> = {},
  rows = 3,
  done: [number, number][] = [],
): Promise<number> {
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
    done,
    chatUrl: `${plane.url}/v1`,
    model: "base",
  });
  const pace = {
    ...realPace,
    sleep: (ms: number, signal?: AbortSignal) => realPace.sleep(Math.min(ms, 5), signal),
  };
  return runContainer({ ...plane.env }, (context) => runEvaluation(context, noEngine), {
    host,
    write: () => undefined,
    client: { pace },
  });
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
    const rows = rowsReported().sort((a, b) => a.row - b.row || a.sample - b.sample);
    expect(rows.map(({ row, sample }) => row * 50 + sample)).toEqual(
      Array.from({ length: 150 }, (_, at) => at),
    );
    expect(rows[0]).toEqual({
      row: 0,
      sample: 0,
      input: { n: 0, metadata: { a: 0 } },
      text: "answer to q0",
      messages: [
        { role: "user", content: "q0" },
        { role: "assistant", content: "answer to q0" },
      ],
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
      failure: {
        code: "context_length_exceeded",
        message: expect.stringContaining("8000 tokens are too many") as string,
      },
    });
  });

  it("gives the row that cannot be played an error of its own, and plays the others", async () => {
    plane.intercept = (request, response) => {
      if (request.url !== "/v1/chat/completions") return false;
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const isLong = Buffer.concat(chunks).includes('"q3"');
        const error = {
          message: "too many tokens",
          type: "invalid_request_error",
          code: "context_length_exceeded",
        };
        answer(response, isLong ? 400 : 200, isLong ? { error } : completionOf("fine"));
      });
      return true;
    };
    expect(await evaluate({}, 10)).toBe(0);
    const failed = rowsReported().filter(({ failure }) => failure !== undefined);
    expect(failed).toMatchObject([
      {
        row: 3,
        failure: { code: "context_length_exceeded", message: "too many tokens" },
        verdict: { errors: {} },
      },
    ]);
    expect(failed[0]?.verdict.total).toBeUndefined();
    expect(rowsReported()).toHaveLength(10);
  });

  it("goes on with what is not recorded yet", async () => {
    expect(
      await evaluate({ samplesPerRow: 2 }, 4, [
        [0, 3],
        [5, 6],
      ]),
    ).toBe(0);
    const numbers = rowsReported().map(({ row, sample }) => row * 2 + sample);
    expect(numbers.sort()).toEqual([3, 4, 6, 7]);
    expect(plane.events.findLast((event) => event.type === "eval-rows")).toMatchObject({ total: 8 });
  });

  it("asks at the temperature of each k", async () => {
    const asked: unknown[] = [];
    plane.chat = (body) => (asked.push(body.temperature ?? "own"), completionOf("x"));
    const passAt = [{ k: 1, temperature: 0 }, { k: 2 }];
    expect(await evaluate({ samplesPerRow: 2, passAt }, 1)).toBe(0);
    expect(asked.sort()).toEqual([0, "own", "own"]);
    expect(
      rowsReported()
        .map(({ temperature }) => temperature ?? "own")
        .sort(),
    ).toEqual([0, "own", "own"]);
  });

  it("keeps rows without a verdict, and fails when there are too many", async () => {
    plane.judge = (rows) => rows.map(({ row }) => (row.n === 0 ? noVerdict() : score(1)));
    expect(await evaluate({}, 10)).toBe(0);
    expect(rowsReported().map(({ verdict }) => verdict.total)).toContain(undefined);
    plane.events.length = 0;
    plane.judge = (rows) => rows.map(() => noVerdict());
    expect(await evaluate({}, 10)).toBe(1);
    expect(exit()).toMatchObject({ failure: { code: "reward_timeout" } });
    expect(rowsReported().length).toBeGreaterThan(2);
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
