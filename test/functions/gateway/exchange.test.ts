import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { HANG, jsonReply, RESET, type Reply } from "../../fakes/engine/engine.ts";
import { sglangErrorEvent, sglangStream } from "../../fakes/engine/sglang.ts";
import { DONE, vllmAnswer, vllmChunk, vllmErrorEvent, vllmStream } from "../../fakes/engine/vllm.ts";
import { FREE, HOSTS, servedOnce } from "../../fakes/served.ts";

const STREAM = { stream: true };

/** The last event of a stream, as JSON. */
function lastEvent(text: string): unknown {
  return JSON.parse(text.trimEnd().split("\n\n").at(-1)?.replace("data: ", "") ?? "");
}

describe.each(HOSTS)("a stream through the %s", (host) => {
  let gym: Awaited<ReturnType<typeof servedOnce>>;
  beforeAll(async () => void (gym = await servedOnce()));
  afterAll(() => gym.close());
  const isFree = () => vi.waitFor(() => expect(gym.load()).toEqual(FREE));
  const play = (...steps: Reply["steps"]) => gym.play(() => ({ steps }));

  it.each([
    ["vLLM's", vllmStream(["Grüße", " 東京"], { usage: true }), { input: 7, output: 2 }],
    ["SGLang's with reasoning", sglangStream(["a"], ["b"]), undefined],
    ["an empty one", vllmStream([]), undefined],
  ])("S14 S18 is passed on as it is, %s", async (_whose, stream, tokens) => {
    play(...stream);
    const response = await gym.chat(host, STREAM);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(stream.join(""));
    await isFree();
    expect(gym.records).toMatchObject([{ status: 200, ...(tokens && { tokens }) }]);
  });

  it("S1 S20 has the head of one, whatever the client says it accepts", async () => {
    play(...vllmStream(["a"]));
    const response = await gym.chat(host, STREAM, { headers: { accept: "application/json" } });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("content-length")).toBeNull();
    expect(await response.text()).toBe(vllmStream(["a"]).join(""));
  });

  it.each([
    ["vLLM's", vllmErrorEvent("out of memory"), 500],
    ["SGLang's", sglangErrorEvent("Aborted.", 503, "SERVICE_UNAVAILABLE"), 503],
  ])("S10 tells an error in its middle as one event and no [DONE], %s", async (_whose, error, status) => {
    const before = vllmChunk({ role: "assistant", content: "" }, null);
    play(before, error, DONE);
    const text = await (await gym.chat(host, STREAM)).text();
    expect(text.startsWith(before)).toBe(true);
    expect(lastEvent(text)).toMatchObject({
      error: { type: "server_error", param: null, code: "upstream_error" },
    });
    expect(text).not.toContain("[DONE]");
    await isFree();
    expect(gym.records).toMatchObject([{ status }]);
  });

  it.each([
    ["resets", [vllmChunk({ content: "a" }, null), RESET]],
    ["resets within an event", [vllmChunk({ content: "a" }, null), 'data: {"id', RESET]],
    ["ends without a finish", [vllmChunk({ content: "a" }, null)]],
  ] as [string, Reply["steps"]][])("S11 says so when a replica %s in its middle", async (_how, steps) => {
    play(...steps);
    const text = await (await gym.chat(host, STREAM)).text();
    expect(text.startsWith(vllmChunk({ content: "a" }, null))).toBe(true);
    expect(lastEvent(text)).toMatchObject({ error: { code: "upstream_error" } });
    expect(text).not.toContain("[DONE]");
    await isFree();
    expect(gym.engines[0]?.requests).toHaveLength(1);
  });

  it("S17 has no junk behind [DONE], and the [DONE] that was missing", async () => {
    const good = vllmStream(["a"]);
    for (const steps of [[...good, "data: junk\n\n", "junk"], good.slice(0, -1)]) {
      play(...steps);
      expect(await (await gym.chat(host, STREAM)).text()).toBe(good.join(""));
      await isFree();
    }
  });

  it("S17 ends for the client at [DONE], and gives its slot back though the replica keeps the line", async () => {
    play(...vllmStream(["a"]), HANG);
    expect(await (await gym.chat(host, STREAM)).text()).toBe(vllmStream(["a"]).join(""));
    expect(gym.load()).toEqual({ inFlight: 1, queued: 0 });
    await gym.pass(6);
    await isFree();
    expect(gym.records).toMatchObject([{ status: 200 }]);
  });

  it("S12 has comments while it says nothing, and none within an event", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const [first = "", second = "", ...rest] = vllmStream(["a"]);
    play(first, second.slice(0, 20), { until: promise }, second.slice(20), ...rest);
    const response = await gym.chat(host, STREAM);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe(first);
    for (let time = 0; time < 2; time++) {
      await gym.pass(15);
      expect((await reader?.read())?.value).toBe(": ping\n\n");
    }
    resolve();
    let text = "";
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
      text += next.value;
    expect(text).toBe([second, ...rest].join(""));
  });

  it("S13 has its head after 50 s at the latest; an error after that is an event", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    play({ until: promise }, vllmErrorEvent("late", 503));
    const answer = gym.chat(host, STREAM);
    await vi.waitFor(() => expect(gym.engines[0]?.requests).toHaveLength(1));
    await gym.pass(50);
    const response = await answer;
    expect(response.status).toBe(200);
    resolve();
    const text = await response.text();
    expect(text.startsWith(": ping\n\n")).toBe(true);
    expect(lastEvent(text)).toMatchObject({ error: { message: "late" } });
  });

  it("S19 is plain JSON with a clean status where its first event is an error already", async () => {
    play(vllmErrorEvent("too long", 400), DONE);
    const response = await gym.chat(host, STREAM);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toMatchObject({
      error: { message: "too long", type: "invalid_request_error" },
    });
    await isFree();
  });
});

describe.each(HOSTS)("an answer through the %s", (host) => {
  let gym: Awaited<ReturnType<typeof servedOnce>>;
  beforeAll(async () => void (gym = await servedOnce()));
  afterAll(() => gym.close());

  it("is the engine's JSON, with its length", async () => {
    gym.play(() => jsonReply(vllmAnswer("hi")));
    const response = await gym.chat(host);
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(vllmAnswer("hi"))));
    expect(await response.text()).toBe(vllmAnswer("hi"));
    expect(gym.records).toMatchObject([{ status: 200, tokens: { input: 7, output: 3, cached: 4 } }]);
    expect(gym.load()).toEqual(FREE);
  });

  it("goes on as it comes where it is too large to keep, and is counted", async () => {
    const large = vllmAnswer("x".repeat(700_000));
    gym.play(() => jsonReply(large));
    expect(await (await gym.chat(host)).text()).toBe(large);
    await vi.waitFor(() => expect(gym.records).toMatchObject([{ tokens: { input: 7, output: 3 } }]));
    expect(gym.load()).toEqual(FREE);
  });

  it("is broken off, not ended, where it was too large to keep and its replica resets", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const steps = ["x".repeat(700_000), { until: promise }, RESET];
    gym.play(() => ({ type: "application/json", steps }));
    const response = await gym.chat(host);
    resolve();
    await expect(response.text()).rejects.toThrow();
    await vi.waitFor(() => expect(gym.records).toMatchObject([{ code: "container_failed" }]));
    expect(gym.load()).toEqual(FREE);
  });

  it("has the headers of §3.3, and the client's own request id", async () => {
    gym.play(({ body }) => (body["stream"] === true ? { steps: vllmStream(["a"]) } : jsonReply("{}")));
    for (const body of [{}, STREAM]) {
      const { headers } = await gym.chat(host, body, { headers: { "x-request-id": "mine.1" } });
      expect(headers.get("x-request-id")).toBe("mine.1");
      expect(headers.get("openai-processing-ms")).toMatch(/^\d+$/);
      expect(headers.get("x-spotter-queue-ms")).toBe("0");
      expect(headers.get("x-spotter-cold-start")).toBe("false");
    }
    const asked = gym.engines[0]?.requests.map((request) => request.headers["x-request-id"]);
    expect(asked).toEqual(["mine.1", "mine.1"]);
    const { headers } = await gym.chat(host, {}, { headers: { "x-request-id": "not a valid one" } });
    expect(headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
  });
});
