import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ADMIN_KEY } from "../../fakes/control-plane.ts";
import { HANG, jsonReply, type Reply } from "../../fakes/engine/engine.ts";
import { vllmAnswer, vllmChunk, vllmStream } from "../../fakes/engine/vllm.ts";
import { rawClient, rawPost, unchunked } from "../../fakes/raw-client.ts";
import { CHAT, FREE, served, servedOnce } from "../../fakes/served.ts";

const ask = (more: object = {}) =>
  JSON.stringify({ model: "base", messages: [{ role: "user", content: "hi" }], ...more });
const STREAM = ask({ stream: true });

describe("chat over a bare socket", () => {
  let gym: Awaited<ReturnType<typeof servedOnce>>;
  beforeAll(async () => void (gym = await servedOnce()));
  afterAll(() => gym.close());
  const play = (...steps: Reply["steps"]) => gym.play(() => ({ steps }));
  const client = () => rawClient(gym.base, onTestFinished);

  it("S1 S2 S21 has the head and the bytes of a stream, and ends cleanly", async () => {
    play(...vllmStream(["Grüße", " 東京 🗼"]));
    const { send, ended, text } = await client();
    send(rawPost(CHAT, ADMIN_KEY, STREAM, ["connection: close"]));
    await ended;
    const { head, body, isComplete } = unchunked(text());
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    for (const line of [
      "content-type: text/event-stream; charset=utf-8",
      "cache-control: no-cache, no-transform",
      "x-accel-buffering: no",
    ])
      expect(head.toLowerCase()).toContain(line);
    expect(head.toLowerCase()).not.toMatch(/content-length|content-encoding/);
    expect(body).toBe(vllmStream(["Grüße", " 東京 🗼"]).join(""));
    expect(body.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(isComplete).toBe(true);
  });

  it("S14 passes each event on when it comes, not when the stream ends", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const [first = "", ...rest] = vllmStream(["a"]);
    play(first, { until: promise }, ...rest);
    const { send, text, ended } = await client();
    send(rawPost(CHAT, ADMIN_KEY, STREAM, ["connection: close"]));
    await vi.waitFor(() => expect(text()).toContain(first));
    expect(text()).not.toContain("[DONE]");
    resolve();
    await ended;
    expect(text()).toContain("[DONE]");
  });

  it("S16 keeps characters whole that the engine cut", async () => {
    const bytes = Buffer.from(vllmStream(["🗼"]).join(""));
    const at = bytes.indexOf("🗼");
    play(bytes.subarray(0, at + 1), bytes.subarray(at + 1, at + 3), bytes.subarray(at + 3));
    const { send, ended, text } = await client();
    send(rawPost(CHAT, ADMIN_KEY, STREAM, ["connection: close"]));
    await ended;
    expect(unchunked(text()).body).toBe(bytes.toString());
  });

  it("S16 puts the line ends right of an engine that cuts them", async () => {
    const bytes = Buffer.from(vllmStream(["a"]).join("").replaceAll("\n", "\r\n"));
    const at = bytes.indexOf("\r") + 1;
    play(bytes.subarray(0, at), bytes.subarray(at));
    const { send, ended, text } = await client();
    send(rawPost(CHAT, ADMIN_KEY, STREAM, ["connection: close"]));
    await ended;
    expect(unchunked(text()).body).toBe(vllmStream(["a"]).join(""));
  });

  it("S21 keeps the connection for the next request", async () => {
    gym.play(({ body }) =>
      body["stream"] === true ? { steps: vllmStream(["a"]) } : jsonReply(vllmAnswer("b")),
    );
    const { send, text } = await client();
    send(rawPost(CHAT, ADMIN_KEY, STREAM));
    await vi.waitFor(() => expect(text().endsWith("0\r\n\r\n")).toBe(true));
    send(rawPost(CHAT, ADMIN_KEY, ask()));
    await vi.waitFor(() => expect(text().endsWith(vllmAnswer("b"))).toBe(true));
    expect(gym.load()).toEqual(FREE);
  });

  it("E20 answers 413 before the body is there, and takes no more of it", async () => {
    const { send, text, ended } = await client();
    send(rawPost(CHAT, ADMIN_KEY, "", []).replace("content-length: 0", "content-length: 99000000"));
    await vi.waitFor(() => expect(text()).toContain('"request_too_large"'));
    expect(text()).toMatch(/^HTTP\/1\.1 413 /);
    await ended;
  });

  it("E20 answers 413 to a body without a length that goes on and on", async () => {
    const { send, text, ended } = await client();
    send(rawPost(CHAT, ADMIN_KEY, "", ["transfer-encoding: chunked"]).replace("content-length: 0\r\n", ""));
    const piece = `100000\r\n${" ".repeat(0x100000)}\r\n`;
    for (let sent = 0; sent < 10; sent++) send(piece);
    await vi.waitFor(() => expect(text()).toContain('"request_too_large"'));
    await ended;
  });

  it("S15 is 499, and no fault of ours, where the client leaves before its request is there", async () => {
    play();
    const { send, socket } = await client();
    send(rawPost(CHAT, ADMIN_KEY, ask()).slice(0, -10));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.destroy();
    await vi.waitFor(() => expect(gym.records).toMatchObject([{ status: 499, code: "user_cancelled" }]));
    expect(gym.plane.complaints).toEqual([]);
    expect(gym.engines[0]?.requests).toEqual([]);
  });

  it("leaves other hosts' names to the check of the app", async () => {
    const { send, text, ended } = await client();
    const request = rawPost(CHAT, ADMIN_KEY, ask(), ["connection: close"]);
    send(request.replace("host: 127.0.0.1", "host: evil.example"));
    await ended;
    expect(text()).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("lets pages of browsers read what it answers", async () => {
    play(...vllmStream(["a"]));
    const { headers } = await gym.chat(
      "node",
      { stream: true },
      { headers: { origin: "https://a.example" } },
    );
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
  });
});

describe("a client that goes away", () => {
  const [first = "", second = ""] = vllmStream(["a"]);
  const cases: [string, string, Reply][] = [
    ["before the first token", STREAM, { steps: [HANG] }],
    ["in the middle of a stream", STREAM, { steps: [first, second, HANG] }],
    ["before a JSON answer", ask(), { type: "application/json", steps: [HANG] }],
    ["in the middle of a JSON answer", ask(), { type: "application/json", steps: ['{"id"', HANG] }],
  ];

  it.each(cases)("S15 (60) frees its replica within 100 ms, %s", async (_when, body, reply) => {
    const gym = await served({ onEnd: onTestFinished, scripts: [() => reply] });
    const { send, socket, text } = await rawClient(gym.base, onTestFinished);
    send(rawPost(CHAT, ADMIN_KEY, body));
    await vi.waitFor(() => expect(gym.engines[0]?.working).toBe(1));
    if (reply.steps.includes(second)) await vi.waitFor(() => expect(text()).toContain(second));
    const leftAtMs = performance.now();
    socket.destroy();
    await vi.waitFor(() => expect(gym.engines[0]?.leftAtMs).toHaveLength(1), { interval: 1 });
    expect((gym.engines[0]?.leftAtMs[0] ?? Infinity) - leftAtMs).toBeLessThan(100);
    expect(gym.load()).toEqual(FREE);
    expect(gym.records).toMatchObject([{ status: 499, endpoint: "base" }]);
    if (reply.steps.includes(second)) expect(gym.records[0]?.tokens?.output).toBe(2);
  });

  it("S15 (60) leaves the queue, and its replica never hears of it", async () => {
    const gym = await served({
      onEnd: onTestFinished,
      scripts: [() => ({ steps: [HANG] })],
      scaling: { targetConcurrency: 1 },
    });
    const [holds, waits] = [
      await rawClient(gym.base, onTestFinished),
      await rawClient(gym.base, onTestFinished),
    ];
    holds.send(rawPost(CHAT, ADMIN_KEY, STREAM));
    await vi.waitFor(() => expect(gym.load().inFlight).toBe(1));
    waits.send(rawPost(CHAT, ADMIN_KEY, STREAM));
    await vi.waitFor(() => expect(gym.load().queued).toBe(1));
    waits.socket.destroy();
    await vi.waitFor(() => expect(gym.records).toMatchObject([{ status: 499 }]));
    expect(gym.load()).toEqual({ inFlight: 1, queued: 0 });
    holds.socket.destroy();
    await vi.waitFor(() => expect(gym.load()).toEqual(FREE));
    expect(gym.engines[0]?.requests).toHaveLength(1);
  });

  it("that stops reading holds the replica back, and is let go after ten minutes", async () => {
    const chunk = vllmChunk({ content: "x".repeat(1_000_000) }, null);
    let begun = 0;
    const counted = {
      get until() {
        return Promise.resolve(begun++);
      },
    };
    const steps = Array.from({ length: 60 }, () => [counted, chunk]).flat();
    const gym = await served({ onEnd: onTestFinished, scripts: [() => ({ steps })] });
    const { send, socket } = await rawClient(gym.base, onTestFinished);
    socket.pause();
    send(rawPost(CHAT, ADMIN_KEY, STREAM));
    await vi.waitFor(() => expect(begun).toBeGreaterThan(0));
    // Until all buffers in between are full.
    let before = -1;
    await vi.waitFor(() => expect([before, (before = begun)]).toEqual([begun, begun]), { interval: 100 });
    expect(begun).toBeLessThan(steps.length / 2);
    gym.plane.clock.advance(1_000);
    gym.plane.clock.advance(601_000);
    await vi.waitFor(() => expect(gym.load()).toEqual(FREE));
    expect(gym.records).toMatchObject([{ status: 499 }]);
    await vi.waitFor(() => expect(gym.engines[0]?.working).toBe(0));
  });
});
