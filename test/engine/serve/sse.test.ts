import { describe, expect, it } from "vitest";
import { eventStream } from "../../../engine/serve/sse.ts";

const params = { errorValue: (error: unknown) => ({ error: String(error) }), onCancel: () => undefined };

async function* values(...lists: unknown[][]): AsyncGenerator<unknown[], void, void> {
  for (const list of lists) yield Promise.resolve(list);
}

describe("eventStream", () => {
  it("writes what is known together in one piece, on one line each", async () => {
    const reader = eventStream({ ...params, source: values([{ a: "x\ny" }, 2], []) }).getReader();
    const pieces: string[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      pieces.push(new TextDecoder().decode(next.value));
    }
    expect(pieces).toEqual(['data: {"a":"x\\ny"}\n\ndata: 2\n\n', "", "data: [DONE]\n\n"]);
  });

  it("takes nothing from the source before the client asks", async () => {
    let taken = 0;
    async function* counted(): AsyncGenerator<unknown[], void, void> {
      while (taken < 10) yield Promise.resolve([++taken]);
    }
    const reader = eventStream({ ...params, source: counted() }).getReader();
    expect(taken).toBe(0);
    await reader.read();
    expect(taken).toBe(1);
    await reader.cancel();
    expect(taken).toBe(1);
  });

  it("keeps a silent connection alive", async () => {
    let release = (): void => undefined;
    async function* slow(): AsyncGenerator<unknown[], void, void> {
      await new Promise<void>((resolve) => (release = resolve));
      yield [1];
    }
    const reader = eventStream({ ...params, source: slow(), pingEveryMs: 5 }).getReader();
    const text = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    expect(await text()).toBe(": ping\n\n");
    expect(await text()).toBe(": ping\n\n");
    release();
    expect(await text()).toBe("data: 1\n\n");
    expect(await text()).toBe("data: [DONE]\n\n");
  });

  it("cancels the source while it waits", async () => {
    const abort = new AbortController();
    let ended = false;
    async function* waiting(): AsyncGenerator<unknown[], void, void> {
      try {
        yield [1];
        await new Promise((_, reject) =>
          abort.signal.addEventListener("abort", () => reject(new Error("aborted"))),
        );
      } finally {
        ended = true;
      }
    }
    const reader = eventStream({ ...params, source: waiting(), onCancel: () => abort.abort() }).getReader();
    await reader.read();
    const pending = reader.read();
    await reader.cancel();
    expect(ended).toBe(true);
    expect((await pending).done).toBe(true);
  });
});
