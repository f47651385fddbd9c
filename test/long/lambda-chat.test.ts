import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { KeyRecord } from "../../sdk/schema/key.ts";
import type { StartContainer } from "../fakes/aws/index.ts";
import { fakeEngine, type FakeEngine } from "../fakes/engine/engine.ts";
import { deploy, type Deployment } from "../fakes/lambda-runtime/deploy.ts";
import { askPoet, poet } from "../functions/lambda/poet.ts";

const scaling = { min: 0, max: 3, targetConcurrency: 2, idleTimeoutMs: 1_000, scaleDownWindowMs: 0 };

/** What a replica was doing when its platform told it to end. */
interface Ended {
  jobId: string;
  working: number;
}

// With a replica that is up already: test/functions/lambda/chat.test.ts.
describe("a stack without a gateway container", () => {
  let stack: Deployment;
  const engines = new Map<string, FakeEngine>();
  const ended: Ended[] = [];
  const closing: (() => Promise<void>)[] = [];

  /** A task: it asks for its job, says where it listens, and ends when it is told to. */
  const startContainer: StartContainer = async (_definition, { environment }) => {
    const jobId = environment["SPOTTER_JOB_ID"] ?? "";
    const token = environment["SPOTTER_JOB_TOKEN"] ?? "";
    const engine = await fakeEngine((end) => closing.push(end), poet);
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
        // What a frozen function may still be doing is not known for a minute; a replica drains as long.
        { timeout: 150_000, interval: 250 },
      );
    } finally {
      isOver = true;
      await schedule;
    }
  };

  beforeAll(async () => {
    stack = await deploy({ maxConcurrency: 4, timeoutMs: 120_000, aws: { startContainer } });
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
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    const answers = await Promise.all(numbers.map((number) => askPoet(stack, number)));
    expect(answers).toEqual(numbers.map((number) => `answer to ${number}`));
    // What each process counted was written down before it stood still.
    const { items } = (await (await stack.call("keys", "GET", "/keys")).json()) as { items: KeyRecord[] };
    expect(items[0]?.usage).toMatchObject({ requests: 20, promptTokens: 60, completionTokens: 80 });
    await asleep();
    expect(engines.size - before).toBeGreaterThan(1);
    await vi.waitFor(() => expect(ended).toHaveLength(engines.size), { timeout: 5_000 });
    expect(ended.filter(({ working }) => working > 0)).toEqual([]);
  }, 240_000);
});
