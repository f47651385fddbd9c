import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import { HANG, jsonReply } from "../../fakes/engine/engine.ts";
import { vllmAnswer, vllmStream } from "../../fakes/engine/vllm.ts";
import { CHAT, HOSTS, served } from "../../fakes/served.ts";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe.each(HOSTS)("what is told of a request (%s)", (host) => {
  it("is its endpoint, replica, key, tokens and times, under the id that client and replica know", async () => {
    const gym = await served({ onEnd: onTestFinished, scripts: [() => jsonReply(vllmAnswer("hello"))] });
    const { key, record } = await gym.plane.json<CreatedKey>("POST", "/keys", { name: "k", scope: "chat" });
    const headers = { authorization: `Bearer ${key}`, "x-request-id": "mine.1", traceparent };
    const response = await gym.chat(host, {}, { headers });
    const answer = (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
    expect(response.headers.get("x-request-id")).toBe("mine.1");
    expect(response.headers.get("openai-processing-ms")).toMatch(/^\d+$/);
    expect(response.headers.get("x-spotter-queue-ms")).toBe("0");
    expect(response.headers.get("x-spotter-cold-start")).toBe("false");
    expect(gym.engines[0]?.requests[0]?.headers).toMatchObject({ "x-request-id": "mine.1", traceparent });
    await vi.waitFor(() => expect(gym.records).toHaveLength(1));
    expect(gym.records[0]).toMatchObject({
      requestId: "mine.1",
      route: CHAT,
      endpoint: "base",
      replica: "serve-base-r1-1",
      keyId: record.id,
      status: 200,
      coldStart: false,
      tokens: { input: answer.usage.prompt_tokens, output: answer.usage.completion_tokens },
    });
    expect(JSON.stringify(gym.records)).not.toContain(key);
  });

  it("is a wait and a cold start, where no replica was up", async () => {
    const scripts = [() => ({ steps: vllmStream(["a"]) })];
    const gym = await served({ onEnd: onTestFinished, scripts, isUp: false });
    const asked = gym.chat(host, { stream: true });
    await vi.waitFor(() => expect(gym.load().queued).toBe(1));
    await gym.pass(3);
    await gym.bringUp(1);
    const response = await asked;
    await response.text();
    expect(response.headers.get("x-spotter-queue-ms")).toBe("3000");
    expect(response.headers.get("x-spotter-cold-start")).toBe("true");
    await vi.waitFor(() => expect(gym.records).toHaveLength(1));
    const { queuedAtMs = 0, admittedAtMs = 0, coldStart } = gym.records[0] ?? {};
    expect([admittedAtMs - queuedAtMs, coldStart]).toEqual([3_000, true]);
  });

  it("is 499 for a client that left, and the code of an error", async () => {
    const gym = await served({ onEnd: onTestFinished, scripts: [() => ({ steps: [HANG] })] });
    const abort = new AbortController();
    const left = Promise.resolve(gym.chat(host, { stream: true }, { signal: abort.signal }));
    left.catch(() => undefined);
    await vi.waitFor(() => expect(gym.engines[0]?.requests).toHaveLength(1));
    abort.abort();
    await vi.waitFor(() => expect(gym.records).toHaveLength(1));
    await gym.chat(host, { model: "bass" });
    await gym.chat(host, {}, { headers: { authorization: "Bearer sk-spotter-guess" } });
    await vi.waitFor(() => expect(gym.records).toHaveLength(3));
    expect(gym.records.map(({ status, code, endpoint }) => [status, code, endpoint])).toEqual([
      [499, "user_cancelled", "base"],
      [404, "model_not_found", undefined],
      [401, "unauthorized", undefined],
    ]);
  });
});
