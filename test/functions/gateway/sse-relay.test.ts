import { describe, expect, it } from "vitest";
import { SseRelay } from "../../../functions/gateway/sse-relay.ts";
import { sglangChunk, sglangErrorEvent, sglangStream } from "../../fakes/engine/sglang.ts";
import { DONE, vllmChunk, vllmErrorEvent, vllmStream, vllmUsage } from "../../fakes/engine/vllm.ts";

const TEXT = vllmStream(["Grüße ", "aus 東京 🗼", '"usage":{', "data: [DONE]\n\n", '"error"']).join("");

interface Relayed {
  relay: SseRelay;
  /** What came out, a part each time something did. */
  parts: string[];
  text: string;
}

function relayed(pieces: (string | Uint8Array)[], choices = 1): Relayed {
  const relay = new SseRelay({ choices });
  const parts: string[] = [];
  const add = (bytes: Buffer | undefined) => {
    if (bytes !== undefined) parts.push(bytes.toString());
  };
  for (const piece of pieces) add(relay.feed(Buffer.from(piece)));
  add(relay.end());
  return { relay, parts, text: parts.join("") };
}

describe("a stream on its way", () => {
  it("S14 goes on byte for byte, a read at a time, and without a copy", () => {
    const chunks = vllmStream(["a", "b"]).map((text) => Buffer.from(text));
    const relay = new SseRelay({ choices: 1 });
    for (const chunk of chunks) expect(relay.feed(chunk)).toBe(chunk);
    expect(relay.isOver).toBe(true);
  });

  it("S16 is the same wherever it was cut, also within a character", () => {
    const bytes = Buffer.from(TEXT);
    for (let at = 1; at < bytes.length; at++)
      expect(relayed([bytes.subarray(0, at), bytes.subarray(at)]).text).toBe(TEXT);
    expect(relayed([...bytes].map((byte) => Uint8Array.of(byte))).text).toBe(TEXT);
  });

  it.each(["\r\n", "\r"])("S16 is the same with line ends %j, wherever it was cut", (end) => {
    const bytes = Buffer.from(TEXT.replaceAll("\n", end));
    for (let at = 1; at < bytes.length; at++)
      expect(relayed([bytes.subarray(0, at), bytes.subarray(at)]).text).toBe(TEXT);
    expect(relayed([...bytes].map((byte) => Uint8Array.of(byte))).text).toBe(TEXT);
  });

  it("S2 is one line an event, whatever the engine makes of it", () => {
    const { text } = relayed(['event: message\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r\n']);
    expect(text).toBe('data: {"a": 1}\n\n');
  });

  it("S2 ends with a blank line, also if the engine forgot it", () => {
    const cut = (text: string) => [text.replace(/\n+$/, "")];
    expect(relayed(cut(TEXT)).text).toBe(TEXT);
    const finish = vllmChunk({ content: "x" }, "stop");
    expect(relayed(cut(finish)).text).toBe(finish + DONE);
  });

  it("S17 has nothing behind [DONE]", () => {
    for (const junk of ["data: junk\n\n", "junk", "data: [DONE]\n\n", "\n\n\n"]) {
      expect(relayed([TEXT + junk]).text).toBe(TEXT);
      expect(relayed([TEXT, junk]).text).toBe(TEXT);
      expect(relayed([TEXT.slice(0, -3), TEXT.slice(-3) + junk]).text).toBe(TEXT);
    }
    expect(relayed([TEXT.trimEnd(), "\ndata: junk\n\n"]).text).toBe(TEXT);
  });

  it("S17 gets its [DONE] once every choice has finished", () => {
    const [a, b] = [vllmStream(["a"], { index: 0 }), vllmStream(["b"], { index: 1 })];
    const without = (stream: string[]) => stream.filter((event) => event !== DONE).join("");
    expect(relayed([without(a)]).text).toBe(without(a) + DONE);
    expect(relayed([without(a) + without(b)], 2).text).toBe(without(a) + without(b) + DONE);
    const half = relayed([without(a) + vllmChunk({ content: "b" }, null, { index: 1 })], 2);
    expect(half.text).not.toContain("[DONE]");
    expect(half.relay.isOver).toBe(false);
  });

  it.each([
    ["without any event", []],
    ["before its finish", [sglangChunk({ role: "assistant", content: "" }), sglangChunk({ content: "a" })]],
    ["within an event", [sglangChunk({ content: "a" }), 'data: {"id":"7b1e","obj']],
  ])("S11 that ends %s is known to be cut short, and passes no half event on", (_when, pieces) => {
    const { relay, text } = relayed(pieces);
    expect(relay.isOver).toBe(false);
    expect(text.endsWith("\n\n") || text === "").toBe(true);
  });

  it.each([
    ["vLLM's", vllmErrorEvent("CUDA out of memory")],
    ["SGLang's", sglangErrorEvent("Aborted.", 503, "SERVICE_UNAVAILABLE")],
    ["an old flat one", 'data: {"object":"error","message":"bad","type":"BadRequestError","code":400}\n\n'],
  ])("S10 stops at an error event, %s, and passes no [DONE] behind it", (_whose, error) => {
    const before = vllmChunk({ content: "a" }, null);
    for (const pieces of [[before, error, DONE], [before + error + DONE]]) {
      const { relay, text } = relayed(pieces);
      expect(text).toBe(before);
      expect(relay.isOver).toBe(true);
      expect(JSON.parse(relay.errorText ?? "")).toBeTypeOf("object");
    }
  });

  it("S12 has comments of the engine's own, but none before its first event", () => {
    const stream = sglangStream(["a"]);
    const [first = "", ...rest] = stream;
    const { text } = relayed([": ping\n\n", first, ": ping\n\n", ...rest]);
    expect(text).toBe([first, ": ping\n\n", ...rest].join(""));
  });

  it("S8 tells the usage that went by, and counts events where none did", () => {
    const { relay } = relayed(vllmStream(["a", "b"], { usage: true }));
    expect(relay.usage()).toEqual({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 });
    const without = relayed(vllmStream(["a", "b", "c"]));
    expect(without.relay.usage()).toBeUndefined();
    expect(without.relay.events).toBe(4);
    const split = vllmStream(["a"]).slice(0, -1).join("") + vllmUsage(1) + DONE;
    expect(relayed([split.slice(0, -30), split.slice(-30)]).relay.usage()).toMatchObject({
      prompt_tokens: 7,
    });
  });

  it("gives up an event that has no end", () => {
    const relay = new SseRelay({ choices: 1 });
    const large = Buffer.alloc(9 * 1024 * 1024, "x");
    expect(relay.feed(large)).toBeUndefined();
    expect(() => relay.feed(large)).toThrow("no end");
  });
});
