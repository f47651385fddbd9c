import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ADMIN_KEY } from "../../fakes/control-plane.ts";
import { HANG, RESET, type Reply } from "../../fakes/engine/engine.ts";
import { sglangChunk, sglangErrorEvent, sglangStream } from "../../fakes/engine/sglang.ts";
import { DONE, vllmChunk, vllmStream, vllmToolCall, vllmUsage } from "../../fakes/engine/vllm.ts";
import { FREE, servedOnce } from "../../fakes/served.ts";
import { openaiIterator, STREAM_CLIENTS } from "./stream-clients.ts";

let gym: Awaited<ReturnType<typeof servedOnce>>;
beforeAll(async () => void (gym = await servedOnce()));
afterAll(() => gym.close());

const TEXT = "Grüße aus 東京 🗼";
const TOKENS = ["Grüße", " aus", " 東京", " 🗼"];

/** What the engine says next; usage only where it was asked for, as engines do. */
function play(...steps: Reply["steps"]): void {
  gym.play(({ body }) => {
    const asked = body["stream_options"] as { include_usage?: boolean } | undefined;
    const last = steps.at(-1);
    return {
      steps:
        asked?.include_usage === true && last === DONE ? [...steps.slice(0, -1), vllmUsage(4), DONE] : steps,
    };
  });
}

const WHOLE = Buffer.from(vllmStream(TOKENS).join(""));
const TOWER = WHOLE.indexOf("🗼");
const CUTS: [string, Uint8Array[]][] = [
  ["within a character", [WHOLE.subarray(0, TOWER + 1), WHOLE.subarray(TOWER + 1)]],
  [
    "byte by byte",
    [
      WHOLE.subarray(0, TOWER - 5),
      ...[...WHOLE.subarray(TOWER - 5, TOWER + 9)].map((byte) => Uint8Array.of(byte)),
      WHOLE.subarray(TOWER + 9),
    ],
  ],
  [
    "with CRLF, between the two",
    WHOLE.toString("latin1")
      .replaceAll("\n", "\r\n")
      .split(/(?<=\r)/)
      .map((part) => Buffer.from(part, "latin1")),
  ],
];

const params = (more: object = {}) => ({ baseURL: `${gym.base}/v1`, key: ADMIN_KEY, ...more });
const free = () => vi.waitFor(() => expect(gym.load()).toEqual(FREE));

describe.each(STREAM_CLIENTS)("$name", (client) => {
  const isIterator = client === openaiIterator;

  it("S2 S3 S4 S5 S8 S9 reads a whole stream, with usage where it asks for it", async () => {
    play(...vllmStream(TOKENS));
    const seen = await client.stream(params());
    expect(seen).toMatchObject({ text: TEXT, finish: "stop" });
    expect(seen.error).toBeUndefined();
    expect(seen.tokens).toBe(isIterator ? undefined : 4);
    await free();
    expect(gym.records).toMatchObject([{ status: 200 }]);
  });

  it.each(CUTS)("S16 reads one that the engine cut %s", async (_how, steps) => {
    gym.play(() => ({ steps }));
    const seen = await client.stream(params());
    expect(seen.error).toBeUndefined();
    expect(seen).toMatchObject({ text: TEXT, finish: "stop" });
  });

  it("S17 reads one with junk behind its end, and one without [DONE]", async () => {
    for (const steps of [[...vllmStream(TOKENS), "data: {junk\n\n"], vllmStream(TOKENS).slice(0, -1)]) {
      gym.play(() => ({ steps }));
      const seen = await client.stream(params());
      expect(seen).toMatchObject({ text: TEXT, finish: "stop" });
      expect(seen.error).toBeUndefined();
    }
  });

  it("S18 reads an empty one", async () => {
    play(...sglangStream([]));
    const seen = await client.stream(params());
    expect(seen).toMatchObject({ text: "", finish: "stop" });
    expect(seen.error).toBeUndefined();
  });

  it("S12 does not see the comments of a wait", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const [first = "", ...rest] = vllmStream(TOKENS);
    gym.play(() => ({ steps: [first, { until: promise }, ...rest] }));
    const answer = client.stream(params());
    await vi.waitFor(() => expect(gym.engines[0]?.requests).toHaveLength(1));
    await gym.pass(31);
    resolve();
    expect(await answer).toMatchObject({ text: TEXT, finish: "stop" });
  });

  it("S10 throws what an engine says in the middle, and keeps the text before it", async () => {
    gym.play(() => ({
      steps: [
        sglangChunk({ role: "assistant", content: "" }),
        sglangChunk({ content: "a" }),
        sglangErrorEvent("Too late.", 503, "X"),
        DONE,
      ],
    }));
    const seen = await client.stream(params());
    expect(seen.error).toContain("Too late.");
    expect(seen.text).toBe("a");
  });

  it.each([
    ["dies", [RESET]],
    ["ends too early", []],
  ] as [string, Reply["steps"]][])("S11 throws when a replica %s in the middle", async (_how, end) => {
    const steps = [vllmChunk({ role: "assistant", content: "" }, null), vllmChunk({ content: "a" }, null)];
    gym.play(() => ({ steps: [...steps, ...end] }));
    const seen = await client.stream(params());
    expect(seen.error).toContain("stopped in the middle of its answer");
    await free();
  });

  it("S19 throws what an engine refuses, though a stream was asked for", async () => {
    gym.play(() => ({ status: 400, type: "application/json", steps: ['{"detail":"no such thing"}'] }));
    const seen = await client.stream(params());
    expect(seen.error).toContain("no such thing");
  });

  it("S15 ends the work of the replica when it is told to stop", async () => {
    gym.play(() => ({ steps: [...vllmStream(TOKENS).slice(0, 3), HANG] }));
    const before = gym.engines[0]?.leftAtMs.length ?? 0;
    const abort = new AbortController();
    let stoppedAtMs = Infinity;
    const onText = () => {
      stoppedAtMs = Math.min(stoppedAtMs, performance.now());
      abort.abort();
    };
    await client.stream(params({ signal: abort.signal, onText }));
    await vi.waitFor(() => expect(gym.engines[0]?.leftAtMs).toHaveLength(before + 1), { interval: 2 });
    expect((gym.engines[0]?.leftAtMs.at(-1) ?? Infinity) - stoppedAtMs).toBeLessThan(100);
    await free();
    expect(gym.records).toMatchObject([{ status: 499 }]);
  });
});

describe.each(STREAM_CLIENTS.filter((client) => client !== openaiIterator))("$name", (client) => {
  it("S6 puts a tool call together", async () => {
    play(...vllmToolCall("weather", ['{"ci', 'ty": "Kö', 'ln"}']));
    const seen = await client.stream(params({ tools: true }));
    expect(seen.error).toBeUndefined();
    expect(seen.tools).toEqual([{ name: "weather", input: { city: "Köln" } }]);
    expect(seen.finish).toBe("tool_calls");
  });
});

describe.each(
  STREAM_CLIENTS.filter(({ name }) => name !== "openai, its stream helper" && !name.startsWith("@langchain")),
)("$name", (client) => {
  it("S7 keeps reasoning apart from the answer", async () => {
    play(...sglangStream(["a"], ["b", "c"]));
    expect(await client.stream(params())).toMatchObject({ text: "a", reasoning: "bc", finish: "stop" });
  });
});
