import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { IsolateBundle, IsolateHandle, Isolates } from "../../../functions/ports/isolates.ts";
import { bundleUserCode } from "../../../sdk/user-code/bundle.ts";
import { hostile } from "./hostile.ts";
import { loading } from "./loading.ts";
import { errorsOf, rows, valuesOf } from "./rows.ts";
import { sealed } from "./sealed.ts";

const FIXTURE = new URL("../../fixtures/user-code/misbehaving.js", import.meta.url);
const FAST = { timeoutMs: 5_000 };

export interface IsolatesFixture {
  /** Gives up on code that does not load within a few seconds. */
  isolates: Isolates;
  dispose: () => Promise<void>;
  /** Lines that user code has printed so far. */
  printed: () => string[];
}

export interface IsolatesTraits {
  /** Why memory is not limited here; the tests of it are left out then. */
  unlimited?: string;
  /** Why there is no tree of files here; each use of one is refused then. */
  noFiles?: string;
  /** Where the hostile part runs instead: it waits for many deadlines. */
  hostileIn?: string;
}

/** What every Isolates must do. */
export function isolatesContract(
  name: string,
  create: () => Promise<IsolatesFixture>,
  { unlimited, noFiles, hostileIn }: IsolatesTraits = {},
): void {
  describe(`${name} keeps the Isolates contract`, () => {
    let fixture: IsolatesFixture;
    let bundle: IsolateBundle;
    let handle: IsolateHandle;
    beforeAll(async () => {
      fixture = await create();
      bundle = { ...(await bundleUserCode(FIXTURE)), secrets: {} };
      handle = await fixture.isolates.load(bundle);
    });
    afterAll(() => fixture.dispose());

    it("tells what the module exports", () => {
      expect(handle.exports).toContainEqual({
        name: "fine",
        kind: "reward",
        weight: 2,
        precondition: false,
        description: "returns x",
      });
      expect(handle.exports).toContainEqual({
        name: "gate",
        kind: "reward",
        weight: 1,
        precondition: true,
        timeoutMs: 5000,
      });
      expect(handle.exports).toContainEqual({
        name: "add",
        kind: "tool",
        description: "Adds.",
        parameters: { type: "object" },
      });
      expect(handle.exports).toContainEqual({
        name: "game",
        kind: "environment",
        steps: true,
        members: [
          { name: "won", kind: "reward", weight: 3, precondition: false },
          { name: "hint", kind: "tool", description: "Helps.", parameters: { type: "object" } },
        ],
      });
      expect(handle.exports.map((each) => each.name)).not.toContain("plain");
      expect(handle.others).toEqual(["plain"]);
    });

    it("plays an environment by its parts", async () => {
      const play = async (part: string, given: unknown[]) => handle.call(`game/${part}`, given, FAST);
      expect(await play("load", [{ count: 2 }])).toEqual([{ value: [{ secret: 0 }, { secret: 1 }] }]);
      const [begun] = await play("setup", [{ secret: 1 }]);
      expect(begun).toEqual({ value: { messages: [{ role: "user", content: "?" }], state: 1 } });
      const turn = { row: {}, state: 1, messages: [], response: { content: "1" } };
      expect(await play("step", [turn])).toEqual([{ value: { done: true } }]);
      expect(await play("tools/hint", [{}])).toEqual([{ value: "it is small" }]);
      const judged = { row: { secret: 1 }, response: { content: "1" }, messages: [], completion: {} };
      expect(await play("rewards/won", [judged])).toEqual([{ value: 1 }]);
    });

    it("has an error for each fault of an environment", async () => {
      const fault = async (part: string, given: unknown, timeoutMs = 5_000) => {
        const [result] = await handle.call(`game/${part}`, [given], { timeoutMs });
        return result && "error" in result ? `${result.error.code}: ${result.error.message}` : "none";
      };
      expect(await fault("setup", { secret: "throw" })).toMatch(
        /^environment_failed: it threw Error: no secret/,
      );
      expect(await fault("setup", { secret: "empty" })).toMatch(
        /^environment_invalid: setup: messages is empty/,
      );
      expect(await fault("step", { state: "text", response: {} })).toMatch(
        /^environment_invalid: step: done must be true or false/,
      );
      expect(await fault("step", { state: "wait", response: {} }, 50)).toMatch(/^environment_timeout: /);
      expect(await fault("load", { count: "none" })).toMatch(/^environment_invalid: load: task 1 is number/);
      for (const name of ["rewards/hint", "tools/toString", "tools/gone", "constructor", "step/more/parts"])
        expect(await fault(name, {})).toMatch(/^user_code_invalid/);
    });

    it("gives the same handle for the same bundle", async () => {
      expect(await fixture.isolates.load({ ...bundle })).toBe(handle);
    });

    it("answers many rows in their order, and none with none", async () => {
      const results = await handle.call("fine", rows(200), FAST);
      expect(valuesOf(results)).toEqual(Array.from({ length: 200 }, (_, index) => index));
      expect(await handle.call("fine", [], FAST)).toEqual([]);
    });

    it("keeps calls that run at once apart", async () => {
      const sizes = [1, 70, 3, 64, 65];
      const all = await Promise.all(sizes.map((size) => handle.call("fine", rows(size), FAST)));
      expect(all.map((results) => results.length)).toEqual(sizes);
      for (const results of all) expect(valuesOf(results)).toEqual([...results.keys()]);
    });

    it("hands on metrics and reasons", async () => {
      const results = await handle.call("returnsMore", rows(2), FAST);
      expect(valuesOf(results)[1]).toEqual({ score: 1, metrics: { twice: 2 }, reason: "why" });
    });

    it("calls tools", async () => {
      expect(await handle.call("add", [{ a: 1, b: 2 }], FAST)).toEqual([{ value: 3 }]);
    });

    it("says where a row threw, and the other rows survive (47)", async () => {
      const results = await handle.call("throws", rows(10, [3]), FAST);
      expect(errorsOf(results)).toEqual({ 3: "reward_failed" });
      expect(results[3]).toEqual({
        error: {
          code: "reward_failed",
          message: "it threw TypeError: boom (misbehaving.js:10:9)",
          where: "misbehaving.js:10:9",
        },
      });
      expect(errorsOf(await handle.call("throwsText", rows(2, [1]), FAST))).toEqual({ 1: "reward_failed" });
    });

    it.each([
      ["returnsNaN", "it returned NaN"],
      ["returnsNothing", "it returned nothing (undefined)"],
      ["returnsArray", "it returned an array of 2"],
    ])("%s is no score, and says what it was", async (name, message) => {
      const results = await handle.call(name, rows(3, [1]), FAST);
      expect(errorsOf(results)).toEqual({ 1: "reward_invalid" });
      expect(JSON.stringify(results[1])).toContain(message);
    });

    const endings = [
      ["loops", "reward_timeout", 300],
      ["neverAnswers", "reward_timeout", 300],
      ["fillsHeap", "isolate_out_of_memory", 10_000],
      ["fillsBuffers", "isolate_out_of_memory", 10_000],
      ["exits", "isolate_crashed", 10_000],
    ] as const;
    if (unlimited !== undefined) it.skip(`runs out of memory: ${unlimited}`);
    const possible = endings.filter(
      ([, code]) => unlimited === undefined || code !== "isolate_out_of_memory",
    );
    it.each(possible)(
      "%s ends as %s, the other rows survive, and the next call works",
      async (name, code, timeoutMs) => {
        const results = await handle.call(name, rows(20, [4, 17]), { timeoutMs });
        expect(errorsOf(results)).toEqual({ 4: code, 17: code });
        expect(valuesOf(results)[19]).toBe(19);
        expect(valuesOf(await handle.call("fine", rows(1), FAST))).toEqual([0]);
      },
    );

    it("gives a call up after eight rows that took the isolate down", async () => {
      const results = await handle.call("loops", rows(12, [...Array(11).keys()]), { timeoutMs: 50 });
      expect(Object.keys(errorsOf(results))).toHaveLength(12);
      expect(new Set(Object.values(errorsOf(results)))).toEqual(new Set(["reward_timeout"]));
      expect(results.filter((each) => JSON.stringify(each).includes("not tried"))).toHaveLength(4);
      expect(valuesOf(await handle.call("fine", rows(1), FAST))).toEqual([0]);
    });

    it("has an error for each row of an export that is not there", async () => {
      expect(errorsOf(await handle.call("plain", rows(2), FAST))).toEqual({
        0: "user_code_invalid",
        1: "user_code_invalid",
      });
    });

    it("gives up at once when the caller does", async () => {
      const abort = new AbortController();
      const call = handle.call("loops", rows(1, [0]), { timeoutMs: 60_000, signal: abort.signal });
      setTimeout(() => abort.abort(new Error("caller left")), 50);
      await expect(call).rejects.toThrow("caller left");
      expect(valuesOf(await handle.call("fine", rows(1), FAST))).toEqual([0]);
    });

    loading(() => ({ isolates: fixture.isolates, bundle }));
    sealed(() => ({ isolates: fixture.isolates, handle, bundle }), noFiles);
    if (hostileIn === undefined)
      hostile({ isolates: () => fixture.isolates, printed: () => fixture.printed(), unlimited });
  });
}
