import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { KeyRecord } from "../../../sdk/schema/key.ts";
import type { StartContainer } from "../../fakes/aws/index.ts";
import { fakeEngine, jsonReply, type FakeEngine, type Script } from "../../fakes/engine/engine.ts";
import { deploy, type Deployment } from "../../fakes/lambda-runtime/deploy.ts";

const ANSWER_MS = 300;
const scaling = { min: 0, max: 3, targetConcurrency: 2, idleTimeoutMs: 1_000, scaleDownWindowMs: 0 };

/** What a replica was doing when its platform told it to end. */
interface Ended {
  jobId: string;
  working: number;
}

/** A replica that answers after a while with the number of its question. */
const script: Script = ({ path, body }) => {
  if (path === "/v1/models") return jsonReply(JSON.stringify({ object: "list", data: [{ id: "poet" }] }));
  const [message] = body["messages"] as { content: string }[];
  const content = `answer to ${message?.content}`;
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const head = { id: "c", created: 1, model: "poet" };
  if (body["stream"] !== true) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    const text = JSON.stringify({ ...head, object: "chat.completion", choices, usage });
    return { type: "application/json", steps: [{ until: delay(ANSWER_MS) }, text] };
  }
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
  const words = content.split(/(?<= )/).map((word) => chunk({ content: word }));
  const last = `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage })}\n\n`;
  return {
    steps: [
      { until: delay(ANSWER_MS) },
      ...words,
      chunk({}, { finish_reason: "stop" }),
      last,
      "data: [DONE]\n\n",
    ],
  };
};

describe("a stack without a gateway container", () => {
  let stack: Deployment;
  const engines = new Map<string, FakeEngine>();
  const ended: Ended[] = [];
  const closing: (() => Promise<void>)[] = [];

  /** A task: it asks for its job, says where it listens, and ends when it is told to. */
  const startContainer: StartContainer = async (_definition, { environment }) => {
    const jobId = environment["SPOTTER_JOB_ID"] ?? "";
    const token = environment["SPOTTER_JOB_TOKEN"] ?? "";
    const engine = await fakeEngine((end) => closing.push(end), script);
    engines.set(jobId, engine);
    const exit = Promise.withResolvers<{ exitCode: number }>();
    const attempt = Number(jobId.split("-").at(-1));
    const tell = (path: string, body: object) =>
      stack.call("jobs", "POST", `/jobs/${jobId}/${path}`, body, token);
    const ready = { seq: 1, body: { type: "ready", address: engine.address } };
    void tell("heartbeat", { attempt }).then(() => tell("events", { attempt, events: [ready] }));
    return {
      exited: exit.promise,
      stop() {
        ended.push({ jobId, working: engine.working });
        void engine.die();
        exit.resolve({ exitCode: 0 });
      },
    };
  };

  const endpoint = async (): Promise<Endpoint> =>
    (await (await stack.call("endpoints", "GET", "/endpoints/poet")).json()) as Endpoint;
  /** Until it sleeps. The schedule calls the scaler again and again, as each minute on AWS. */
  const asleep = async (): Promise<void> => {
    const scaler = await stack.get("scaler");
    let isOver = false;
    const schedule = (async () => {
      for (; !isOver; await delay(500)) await scaler.invoke({});
    })();
    try {
      await vi.waitFor(
        async () => expect(await endpoint()).toMatchObject({ state: "ready", desired: 0, replicas: [] }),
        { timeout: 60_000, interval: 250 },
      );
    } finally {
      isOver = true;
      await schedule;
    }
  };

  beforeAll(async () => {
    stack = await deploy({ maxConcurrency: 4, timeoutMs: 60_000, aws: { startContainer } });
  });
  afterAll(async () => {
    await stack.close();
    await Promise.all(closing.map((close) => close()));
  });

  it("goes from zero to several replicas and back for chats that come at once, and loses none", async () => {
    const launched = await stack.call("endpoints", "POST", "/endpoints", {
      model: { name: "spotter/nano" },
      name: "poet",
      scaling,
    });
    expect(launched.status).toBe(200);
    await vi.waitFor(async () => expect((await endpoint()).state).toBe("ready"), {
      timeout: 60_000,
      interval: 100,
    });
    await asleep();
    const before = engines.size;
    const ask = async (number: number): Promise<string> => {
      const stream = number % 2 === 0;
      const messages = [{ role: "user", content: String(number) }];
      const answer = await stack.call("chat", "POST", "/v1/chat/completions", {
        model: "poet",
        messages,
        stream,
      });
      const text = await answer.text();
      expect([answer.status, text]).toEqual([200, expect.any(String)]);
      if (!stream)
        return (JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message
          .content;
      expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
      return [...text.matchAll(/"delta":\{"content":"([^"]*)"/g)].map(([, word]) => word).join("");
    };
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    const answers = await Promise.all(numbers.map(ask));
    expect(answers).toEqual(numbers.map((number) => `answer to ${number}`));
    // What each process counted was written down before it stood still.
    const { items } = (await (await stack.call("keys", "GET", "/keys")).json()) as { items: KeyRecord[] };
    expect(items[0]?.usage).toMatchObject({ requests: 20, promptTokens: 60, completionTokens: 80 });
    await asleep();
    expect(engines.size - before).toBeGreaterThan(1);
    await vi.waitFor(() => expect(ended).toHaveLength(engines.size), { timeout: 5_000 });
    expect(ended.filter(({ working }) => working > 0)).toEqual([]);
  }, 150_000);
});
