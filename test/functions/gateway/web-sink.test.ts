import { describe, expect, it, vi } from "vitest";
import { webSink } from "../../../functions/gateway/web-sink.ts";

const bytes = (text: string) => Buffer.from(text);

function made() {
  const abort = new AbortController();
  const { sink, response, fail } = webSink(abort.signal);
  const onGone = vi.fn();
  const onDrain = vi.fn();
  Object.assign(sink, { onGone, onDrain });
  return { abort, sink, response, fail, onGone, onDrain };
}

describe("a web response as a sink", () => {
  it("has status, headers and body of an answer in one piece", async () => {
    const { sink, response, onGone, abort } = made();
    sink.head(201, { "x-a": "1" }, { "x-b": "2" });
    sink.end(bytes("hi"));
    const answer = await response;
    expect([answer.status, answer.headers.get("x-a"), answer.headers.get("x-b")]).toEqual([201, "1", "2"]);
    expect(await answer.text()).toBe("hi");
    abort.abort();
    expect(onGone).not.toHaveBeenCalled();
  });

  it("streams what is written, and says when there is too much and when there is room again", async () => {
    const { sink, response, onDrain } = made();
    sink.head(200, {});
    expect(sink.write(bytes("a"))).toBe(true);
    expect(sink.write(Buffer.alloc(100_000, "b"))).toBe(false);
    const body = (await response).body as ReadableStream<Uint8Array> | null;
    const reader = body?.getReader();
    expect((await reader?.read())?.value).toEqual(bytes("a"));
    onDrain.mockClear();
    await reader?.read();
    await vi.waitFor(() => expect(onDrain).toHaveBeenCalled());
    sink.end(bytes("c"));
    expect((await reader?.read())?.value?.length).toBe(1);
    expect((await reader?.read())?.done).toBe(true);
  });

  it("tells that the client is gone when it cancels, and when its signal says so", async () => {
    const cancelled = made();
    cancelled.sink.head(200, {});
    cancelled.sink.write(bytes("a"));
    await (await cancelled.response).body?.cancel();
    expect(cancelled.onGone).toHaveBeenCalledOnce();
    const aborted = made();
    aborted.abort.abort();
    expect(aborted.onGone).toHaveBeenCalledOnce();
  });

  it("breaks off where it is cut, so that nobody takes it for complete", async () => {
    const { sink, response } = made();
    sink.head(200, {});
    sink.write(bytes("a"));
    sink.cut();
    await expect((await response).text()).rejects.toThrow("broken off");
  });

  it("rejects where there is no answer, only an error", async () => {
    const { response, fail } = made();
    fail(new Error("no"));
    await expect(response).rejects.toThrow("no");
  });
});
