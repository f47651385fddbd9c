import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { Delivery } from "../../../functions/runs/records.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const URL_A = "https://a.example/hook";
const URL_B = "http://127.0.0.1:9/hook";

interface Sent {
  delivery: Delivery;
  secret: string | undefined;
}

/** A control plane whose webhooks arrive here, or fail with what `answer` says. */
async function receivingPlane(answer: (sent: Sent, count: number) => string | undefined = () => undefined) {
  const sent: Sent[] = [];
  const plane = await testPlane({
    onEnd: onTestFinished,
    send: async (delivery, secret) => {
      sent.push({ delivery, secret });
      return answer({ delivery, secret }, sent.length);
    },
  });
  return { plane, sent };
}

async function pass(plane: TestPlane, seconds: number, each = async () => {}): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    plane.clock.advance(1_000);
    await plane.reconciler.settle();
    await plane.webhooks.settle();
    await each();
  }
}

describe("webhooks", () => {
  it("tell how a run ended, once to each address that wants to know", async () => {
    const { plane, sent } = await receivingPlane();
    const webhooks = [{ url: URL_A }, { url: URL_B, events: ["run.stalled" as const] }];
    const { id, job } = await runningRun(plane, { webhooks, tags: ["t"] });
    await job.exit("failed", { code: "reward_failed", message: "haiku threw" });
    await plane.webhooks.settle();
    expect(sent.map(({ delivery }) => delivery.url)).toEqual([URL_A]);
    expect(JSON.parse(sent[0]?.delivery.body ?? "")).toMatchObject({
      id: sent[0]?.delivery.id,
      event: "run.ended",
      run: { id, state: "failed", tags: ["t"], failure: { code: "reward_failed", message: "haiku threw" } },
    });
    expect(sent[0]?.delivery.body).not.toContain("logTail");
    await pass(plane, 30);
    expect(sent).toHaveLength(1);
  });

  it("are tried again with back-off under the same id, and hold up no run", async () => {
    const { plane, sent } = await receivingPlane((_, count) => (count < 4 ? "answered 500" : undefined));
    const { job, state } = await runningRun(plane, { webhooks: [{ url: URL_A }] });
    await job.exit("succeeded");
    expect((await state()).state).toBe("succeeded");
    const counts: number[] = [];
    await pass(plane, 10, async () => void counts.push(sent.length));
    // After 1, 2 and 4 seconds.
    expect(counts).toEqual([2, 2, 3, 3, 3, 3, 4, 4, 4, 4]);
    expect(new Set(sent.map(({ delivery }) => delivery.id)).size).toBe(1);
  });

  it("survive a restart: what was not received is sent by the next daemon", async () => {
    const { plane, sent } = await receivingPlane((_, count) => (count === 1 ? "is away" : undefined));
    const { job } = await runningRun(plane, { webhooks: [{ url: URL_A }] });
    await job.exit("succeeded");
    await plane.webhooks.settle();
    const second = await plane.restart();
    second.clock.advance(1_000);
    second.webhooks.wake();
    await second.webhooks.settle();
    expect(sent).toHaveLength(2);
    expect(sent[0]?.delivery.id).toBe(sent[1]?.delivery.id);
  });

  it("give up in the end and say so in the run's events", async () => {
    const { plane, sent } = await receivingPlane(() => "answered 500");
    const { id, job } = await runningRun(plane, { webhooks: [{ url: URL_A }] });
    await job.exit("succeeded");
    for (let quarter = 0; quarter < 20; quarter++) {
      plane.clock.advance(15 * 60_000);
      await plane.webhooks.settle();
    }
    expect(sent).toHaveLength(16);
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    expect(events.at(-1)?.body).toMatchObject({
      type: "log",
      message: "a.example did not take the run.ended webhook, 16 times: answered 500",
    });
  });

  it("are signed with a stored secret, which must exist, and is not part of the run", async () => {
    const { plane, sent } = await receivingPlane();
    const webhooks = [{ url: URL_A, secret: "HOOK_KEY" }];
    const spec = { ...(await preparedSpec(plane)), webhooks };
    const refused = await plane.call("POST", "/runs", spec);
    expect(await refused.json()).toMatchObject({ error: { code: "not_found", where: "webhooks[0].secret" } });
    await plane.call("PUT", "/secrets/HOOK_KEY", { value: "s3cret" });
    const { id, job } = await runningRun(plane, { webhooks });
    await job.exit("succeeded");
    await plane.webhooks.settle();
    expect(sent[0]?.secret).toBe("s3cret");
    expect(JSON.stringify(await plane.json("GET", `/runs/${id}`))).not.toContain("s3cret");
  });

  it("go to http and https only", async () => {
    const { plane } = await receivingPlane();
    for (const url of [
      "file:///etc/passwd",
      "ftp://a.example/",
      "https://user:pass@a.example/",
      "a.example",
    ]) {
      const spec = { ...(await preparedSpec(plane)), webhooks: [{ url }] };
      const response = await plane.call("POST", "/runs", spec);
      expect(await response.json()).toMatchObject({ error: { code: "invalid_input" } });
    }
  });
});

describe("a run that gets nowhere", () => {
  it("is told of once, and again after it went on (36)", async () => {
    const { plane, sent } = await receivingPlane();
    const { job, state } = await runningRun(plane, {
      limits: { stallMs: 20_000 },
      webhooks: [{ url: URL_A, events: ["run.stalled"] }],
    });
    const beat = async () => void (await job.heartbeat());
    await job.report({ type: "run", event: { type: "phase", phase: "score" } });
    await pass(plane, 15, beat);
    expect(sent).toEqual([]);
    await pass(plane, 20, beat);
    expect(sent).toHaveLength(1);
    expect(JSON.parse(sent[0]?.delivery.body ?? "")).toMatchObject({
      event: "run.stalled",
      message: expect.stringMatching(/^No progress for \d+ s in phase score\.$/) as string,
    });
    expect((await state()).stalledSinceMs).toBeGreaterThan(0);
    await job.report({ type: "run", event: { type: "phase", phase: "train" } });
    expect(await state()).not.toHaveProperty("stalledSinceMs");
    await pass(plane, 30, beat);
    expect(sent).toHaveLength(2);
  });

  it("loses its container after twice the time, and fails with its phase if that repeats (36)", async () => {
    const { plane } = await receivingPlane();
    const { id, state } = await runningRun(plane, { limits: { stallMs: 20_000 } });
    for (let attempt = 1; attempt <= 3; attempt++) {
      const job = fakeJob(plane, `train-${id}-a${attempt}`, attempt);
      await job.heartbeat();
      await job.report({ type: "run", event: { type: "phase", phase: "score" } });
      for (let second = 0; second < 50 && (await state()).attempt === attempt; second++) {
        await pass(plane, 1);
        if ((await state()).state === "running") await job.heartbeat();
      }
    }
    expect(await state()).toMatchObject({
      state: "failed",
      attempt: 3,
      failure: { code: "container_lost", message: expect.stringContaining("in phase score") as string },
    });
  });
});
