import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ADMIN_KEY } from "../../fakes/control-plane.ts";
import { CHAT, FREE, served, type Served } from "../../fakes/served.ts";
import type { Script } from "../../engine/serve/fake-engine.ts";
import { listen, readEvents, say, serveScript } from "../../engine/serve/harness.ts";
import { STREAM_CLIENTS } from "./stream-clients.ts";

const TEXT = "soft rain on the tin roof";
const ends: (() => Promise<void>)[] = [];
let gym: Served;
let script: Script = say(TEXT);

beforeAll(async () => {
  // Its own key, as a replica of the daemon has it, is known before it is up.
  gym = await served({ onEnd: (end) => void ends.push(end), scripts: [() => ({ steps: [] })], isUp: false });
  const accessKey = await gym.plane.control.jobTokens.accessKey("serve-base-r1-1");
  const { app } = serveScript((...args) => script(...args), {
    models: ["base"],
    ...(accessKey !== undefined && { accessKey }),
  });
  const { url, close } = await listen(app);
  ends.push(close);
  await gym.bringUp(1, new URL(url).host);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const free = () => vi.waitFor(() => expect(gym.load()).toEqual(FREE));

describe("the embedded engine behind the gateway", () => {
  it("S2 S3 S4 S5 S9 streams as OpenAI does", async () => {
    script = say(TEXT);
    const text = await (await gym.chat("node", { stream: true })).text();
    const { events, tail } = readEvents(text);
    expect(tail).toBe("data: [DONE]\n\n");
    const shared = events.map(({ id, object, created, model }) =>
      JSON.stringify([id, object, created, model]),
    );
    expect(new Set(shared).size).toBe(1);
    expect(events[0]).toMatchObject({
      object: "chat.completion.chunk",
      model: "base",
      choices: [{ delta: { role: "assistant", content: "" }, finish_reason: null }],
    });
    const choices = events.map((event) => event["choices"] as { finish_reason: string | null }[]);
    expect(choices.every((choice) => choice.length === 1)).toBe(true);
    expect(choices.filter(([choice]) => choice?.finish_reason !== null)).toHaveLength(1);
    await free();
  });

  it("S8 tells usage where it is asked for, in one event before the end", async () => {
    script = say(TEXT);
    const text = await (
      await gym.chat("node", { stream: true, stream_options: { include_usage: true } })
    ).text();
    const { events } = readEvents(text);
    expect(events.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: expect.any(Number) as number },
    });
    await free();
    expect(gym.records.at(-1)?.tokens?.output).toBeGreaterThan(0);
  });

  it("S10 tells an error of the engine as an event, or with its status where nothing was said before", async () => {
    script = () => Promise.reject(new Error("out of memory"));
    const response = await gym.chat("node", { stream: true });
    const text = await response.text();
    expect(text).toContain('"server_error"');
    expect(text).not.toContain("[DONE]");
    expect(text).not.toContain("out of memory");
    await free();
  });

  it("E14 passes its refusals on", async () => {
    const content = "rain ".repeat(600);
    const response = await gym.chat("node", { messages: [{ role: "user", content }] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code: "context_length_exceeded", param: "messages" },
    });
  });

  it("answers in JSON with usage that is counted", async () => {
    script = say(TEXT);
    const response = await gym.chat("app");
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
    });
    expect(gym.records.at(-1)?.tokens?.output).toBeGreaterThan(0);
  });

  it("answers nobody that comes past the gateway", async () => {
    const address = gym.plane.control.routes.find("base")?.replicas[0]?.address ?? "";
    const init = { method: "POST", headers: { authorization: `Bearer ${ADMIN_KEY}` }, body: "{}" };
    expect((await fetch(`http://${address}${CHAT}`, init)).status).toBe(401);
  });

  it.each(STREAM_CLIENTS)("is read by $name", async (client) => {
    script = say(TEXT);
    const seen = await client.stream({ baseURL: `${gym.base}/v1`, key: ADMIN_KEY });
    expect(seen.error).toBeUndefined();
    expect(seen).toMatchObject({ text: TEXT, finish: "stop" });
    await free();
  });
});
