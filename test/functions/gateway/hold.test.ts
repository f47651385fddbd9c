import { describe, expect, it, onTestFinished, vi } from "vitest";
import { CLOUDFRONT_HOLDS, type Holds } from "../../../functions/gateway/hold.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob } from "../../fakes/job.ts";
import { fakeUpstream, type FakeUpstream } from "../../fakes/upstream.ts";

const CHAT = "/v1/chat/completions";
const body = (stream: boolean) => ({ model: "base", messages: [{ role: "user", content: "hi" }], stream });

async function cold(
  holds?: Holds,
): Promise<{ plane: TestPlane; upstream: FakeUpstream; bringUp: () => Promise<void> }> {
  // No room for a container yet: time may pass without a lease running out.
  const plane = await testPlane({
    onEnd: onTestFinished,
    firstState: { state: "waiting", reason: "capacity" },
    config: { ...(holds && { holds }) },
  });
  const upstream = await fakeUpstream(onTestFinished, (response, { stream }) => {
    response.setHeader("content-type", stream === true ? "text/event-stream" : "application/json");
    response.end(stream === true ? "data: [DONE]\n\n" : '{"ok":true}');
  });
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
  await plane.reconciler.settle();
  const bringUp = async () => {
    plane.containers.set("serve-base-r1-1", { state: "running" });
    const job = fakeJob(plane, "serve-base-r1-1", 1);
    await job.heartbeat();
    await job.report({ type: "ready", address: upstream.address });
    await plane.reconciler.settle();
  };
  return { plane, upstream, bringUp };
}

async function waiting(plane: TestPlane, count: number): Promise<void> {
  await vi.waitFor(() => expect(plane.control.load.snapshot("base").queued).toBe(count));
}

/** Time passes, and what falls due gets its turn. */
async function pass(plane: TestPlane, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    plane.clock.advance(1_000);
    await new Promise(setImmediate);
  }
}

describe("a request to an endpoint that is not ready", () => {
  it("is held and answered when it is (6)", async () => {
    const { plane, bringUp } = await cold();
    const answers = [body(false), body(false), body(true)].map((each) => plane.call("POST", CHAT, each));
    await waiting(plane, 3);
    await bringUp();
    const [first, second, third] = await Promise.all(answers);
    expect(await first?.json()).toEqual({ ok: true });
    expect(await second?.json()).toEqual({ ok: true });
    expect(await third?.text()).toBe("data: [DONE]\n\n");
    expect(plane.containers.launched).toHaveLength(1);
  });

  it("gets 503 with Retry-After when that takes longer than clients wait", async () => {
    const { plane } = await cold();
    const answer = plane.call("POST", CHAT, body(false));
    await waiting(plane, 1);
    await pass(plane, 281_000);
    const response = await answer;
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    expect(await response.json()).toMatchObject({ error: { code: "model_loading", param: "model" } });
  });

  it("is held shorter behind a front door that gives up earlier", async () => {
    const { plane } = await cold(CLOUDFRONT_HOLDS);
    const answer = plane.call("POST", CHAT, body(false));
    const stream = plane.call("POST", CHAT, body(true));
    await waiting(plane, 2);
    await pass(plane, 21_000);
    expect((await stream).status).toBe(200);
    await pass(plane, 90_000);
    expect((await answer).status).toBe(503);
    await (await stream).body?.cancel();
  });

  it("gets its stream's 200 after 50 s, comments after that, and then the answer (S13)", async () => {
    const { plane, bringUp } = await cold();
    const answer = plane.call("POST", CHAT, body(true));
    await waiting(plane, 1);
    await pass(plane, 51_000);
    const response = await answer;
    expect(response.status).toBe(200);
    expect(response.headers.get("x-spotter-cold-start")).toBe("true");
    expect(response.headers.get("x-spotter-queue-ms")).toBe("50000");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe(": ping\n\n");
    const ping = reader?.read();
    await pass(plane, 16_000);
    expect((await ping)?.value).toBe(": ping\n\n");
    await bringUp();
    let text = "";
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
      text += next.value;
    expect(text).toContain("data: [DONE]\n\n");
  });

  it("gets an error event, not a quiet end, when its stream waited for ten minutes", async () => {
    const { plane } = await cold();
    const answer = plane.call("POST", CHAT, body(true));
    await waiting(plane, 1);
    await pass(plane, 51_000);
    const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    let ended = false;
    const reading = (async () => {
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
        text += next.value;
      ended = true;
    })();
    await pass(plane, 540_000);
    expect(ended).toBe(false);
    await pass(plane, 30_000);
    await reading;
    expect(text).toContain('"code":"model_loading"');
    expect(text).not.toContain("[DONE]");
  });

  it("gets 503 and no retry from an endpoint that failed or was stopped (E27)", async () => {
    const { plane } = await cold();
    const held = plane.call("POST", CHAT, body(false));
    await waiting(plane, 1);
    await plane.json("DELETE", "/endpoints/base");
    const response = await held;
    expect(response.status).toBe(503);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.json()).toMatchObject({ error: { code: "endpoint_failed" } });
  });
});
