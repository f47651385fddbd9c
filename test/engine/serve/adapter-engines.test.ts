import { describe, expect, it } from "vitest";
import { AdapterEngines, type AdapterEnginesParams } from "../../../engine/serve/adapter-engines.ts";
import type { GenerateRequest, GenerateResult } from "../../../engine/onnx/engine-api.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

const REQUEST: GenerateRequest = {
  ...{ promptIds: [1], maxNewTokens: 1, temperature: 0, topP: 1, topK: 0, seed: 0, stopIds: [] },
};
const always = new AbortController().signal;

/** Engines that answer when they are told to, and what was done with them. */
function pool(params: Partial<AdapterEnginesParams> = {}) {
  const log: string[] = [];
  const held = new Map<string, () => void>();
  const engines = new AdapterEngines({
    most: 2,
    hasMemory: () => true,
    fetch: async (id) => {
      log.push(`fetch ${id}`);
      return id;
    },
    start: async (id) => {
      log.push(`start ${id}`);
      let end = (): void => undefined;
      return {
        generate: () =>
          new Promise<GenerateResult>((resolve, reject) => {
            end = () => reject(new SpotterError("engine_failed", "The engine was closed."));
            held.set(id, () => resolve({ ids: [], logprobs: [], finishReason: "stop" }));
          }),
        close: async () => {
          log.push(`close ${id}`);
          end();
        },
      };
    },
    ...params,
  });
  return { engines, log, held, open: (id: string) => engines.open(id, always) };
}

describe("AdapterEngines", () => {
  it("loads an adapter once for all who ask for it meanwhile", async () => {
    const { log, open } = pool();
    await Promise.all([open("a"), open("a"), open("a")]);
    await open("a");
    expect(log).toEqual(["fetch a", "start a"]);
  });

  it("unloads the one that was asked for longest ago, and loads it again when it is asked for", async () => {
    const { log, open, held } = pool();
    const a = await open("a");
    await open("b");
    await open("a");
    await open("c");
    expect(log.slice(4)).toEqual(["fetch c", "close b", "start c"]);
    await open("b");
    expect(log.slice(7)).toEqual(["fetch b", "close a", "start b"]);
    // Who holds one that was unloaded meanwhile does not notice.
    const answer = a.generate(REQUEST);
    await expect.poll(() => held.has("a")).toBe(true);
    expect(log.slice(10)).toEqual(["fetch a", "close c", "start a"]);
    held.get("a")?.();
    expect(await answer).toMatchObject({ finishReason: "stop" });
  });

  it("never takes one from who is being answered", async () => {
    const { log, open, held } = pool({ most: 1 });
    const answer = (await open("a")).generate(REQUEST);
    await expect.poll(() => held.has("a")).toBe(true);
    const next = open("b");
    await expect.poll(() => log.includes("fetch b")).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log).not.toContain("close a");
    held.get("a")?.();
    await Promise.all([answer, next]);
    expect(log).toEqual(["fetch a", "start a", "fetch b", "close a", "start b"]);
  });

  it("makes room where memory is short, and says so where there is none at all", async () => {
    let free = 2;
    const params: Partial<AdapterEnginesParams> = { most: 4, hasMemory: () => free > 0 };
    const { engines, log, open } = pool({
      ...params,
      start: async (id) => {
        free--;
        log.push(`start ${id}`);
        return {
          generate: () => Promise.reject(new Error("not asked")),
          close: async () => void (log.push(`close ${id}`), free++),
        };
      },
    });
    for (const id of ["a", "b", "c"]) await open(id);
    expect(log.slice(4)).toEqual(["fetch c", "close a", "start c"]);
    await engines.close();
    const none = pool({ hasMemory: () => false });
    await expect(none.open("a")).rejects.toMatchObject({ code: "memory_exceeded" });
  });

  it("tells a failure to those who wait, and tries again for the next", async () => {
    let fails = true;
    const { open, log } = pool({
      fetch: async (id) => {
        log.push(`fetch ${id}`);
        if (fails) throw new SpotterError("blob_corrupt", "damaged");
        return id;
      },
    });
    const both = await Promise.allSettled([open("a"), open("a")]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(log).toEqual(["fetch a"]);
    fails = false;
    await open("a");
    expect(log).toEqual(["fetch a", "fetch a", "start a"]);
  });

  it("lets one of those who wait go away", async () => {
    let fetched = (): void => undefined;
    const { engines, log } = pool({
      fetch: (id) => new Promise((resolve) => (fetched = () => resolve(id))),
    });
    const leaving = new AbortController();
    const left = engines.open("a", leaving.signal);
    const stayed = engines.open("a", always);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: "user_cancelled" });
    fetched();
    await stayed;
    expect(log).toEqual(["start a"]);
  });

  it("loads an adapter anew whose engine has died", async () => {
    const { log, open } = pool({
      start: async (id) => {
        log.push(`start ${id}`);
        return {
          generate: () => Promise.reject(new SpotterError("engine_failed", "The worker ended.")),
          close: async () => void log.push(`close ${id}`),
        };
      },
    });
    const a = await open("a");
    const both = await Promise.allSettled([a.generate(REQUEST), a.generate(REQUEST)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await open("a");
    expect(log).toEqual(["fetch a", "start a", "close a", "fetch a", "start a"]);
  });

  it("ends all, with what they answer and what is on its way", async () => {
    const { engines, log, open, held } = pool({ most: 1 });
    const answer = (await open("a")).generate(REQUEST);
    await expect.poll(() => held.has("a")).toBe(true);
    const next = open("b");
    await expect.poll(() => log.includes("fetch b")).toBe(true);
    const ended = Promise.allSettled([answer, next]);
    await engines.close();
    expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(log.filter((line) => line.startsWith("start"))).toEqual(["start a"]);
    await expect(open("c")).rejects.toMatchObject({ code: "engine_failed" });
  });
});
