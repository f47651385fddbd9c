import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { IsolateBundle, IsolateHandle, Isolates } from "../../../functions/ports/isolates.ts";
import { bundleUserCode } from "../../../sdk/user-code/bundle.ts";
import { errorsOf, firstOf, rows, valuesOf } from "./rows.ts";

const FIXTURE = new URL("../../fixtures/user-code/hostile.ts", import.meta.url);
const FAST = { timeoutMs: 5_000 };
const SHORT = { timeoutMs: 250 };
/** For ending a stuck isolate, starting it again and running the other rows, on a busy machine. */
const SLACK_MS = 8_000;

export interface HostileOptions {
  isolates: () => Isolates;
  /** Lines that user code has printed so far. */
  printed: () => string[];
  /** Why memory is not limited here; its rows are left out then. */
  unlimited?: string | undefined;
}

/**
 * Code that means harm, or might as well: each is a coded result of its own row within the deadline, the other
 * rows and the next call work, and other functions never notice.
 */
export function hostile({ isolates, printed, unlimited }: HostileOptions): void {
  describe("hostile code", () => {
    let handle: IsolateHandle;
    let neighbour: IsolateHandle;
    beforeAll(async () => {
      const bundle: IsolateBundle = { ...(await bundleUserCode(FIXTURE)), secrets: {} };
      handle = await isolates().load(bundle);
      neighbour = await isolates().load({ ...bundle, secrets: { OTHER: "function" } });
    });

    async function harmed(name: string, options = SHORT, index = 2) {
      const startedMs = performance.now();
      const [results, beside] = await Promise.all([
        handle.call(name, rows(5, [index]), options),
        neighbour.call("fine", rows(3), FAST),
      ]);
      expect(performance.now() - startedMs).toBeLessThan(options.timeoutMs * 2 + SLACK_MS);
      expect(valuesOf(beside)).toEqual([0, 1, 2]);
      const others = valuesOf(results).filter((_, each) => each !== index);
      expect(others).toEqual([0, 1, 3, 4]);
      expect(valuesOf(await handle.call("fine", rows(2), FAST))).toEqual([0, 1]);
      return results[index];
    }

    it.each([
      "loops",
      "starvesMicrotasks",
      "backtracks",
      "hangsWhenRead",
      "neverSettles",
      "neverSettlesThenable",
    ])("%s is a reward_timeout of its row, within the deadline (51) (88)", async (name) => {
      expect(await harmed(name)).toEqual({
        error: { code: "reward_timeout", message: "no answer within 250 ms" },
      });
    });

    const memory = ["fillsHeap", "asksFor2GiB", "fillsBuffers", "growsText"];
    if (unlimited === undefined) {
      it.each(memory)("%s is isolate_out_of_memory of its row (88)", async (name) => {
        expect(await harmed(name, { timeoutMs: 15_000 })).toMatchObject({
          error: { code: "isolate_out_of_memory" },
        });
      });
    } else {
      it.skip(`${memory.join(", ")}: ${unlimited}`);
    }

    it("names the line of the user's own TypeScript (88)", async () => {
      const result = await harmed("throwsDeep");
      expect(result).toEqual({
        error: {
          code: "reward_failed",
          message: expect.stringMatching(/^it threw TypeError: .*\(hostile\.ts:20:18\)$/) as string,
          where: "hostile.ts:20:18",
        },
      });
    });

    describe("what rows share", () => {
      it.each(["pollutesObject", "pollutesArray", "replacesRandom", "replacesJson"])(
        "%s is an error of its row, and nothing has changed after it (88)",
        async (name) => {
          expect(await harmed(name)).toMatchObject({
            error: { code: "reward_failed", where: expect.stringContaining("hostile.ts:") as string },
          });
          expect(firstOf(await handle.call("looksAround", rows(1), FAST))).toEqual({ score: 1, reason: "" });
        },
      );

      it("lets code assign what its own objects inherit", async () => {
        const { reason } = firstOf(await handle.call("inherits", rows(1), FAST));
        expect(reason).toBe("Mine: changed text list");
      });

      it("gives every reward rows of its own", async () => {
        const names = ["changesItsRow", "fine", "changesItsRow"];
        const results = await handle.callAll(names, rows(3), FAST);
        expect(results.map(valuesOf)).toEqual([
          [0, 1, 2],
          [0, 1, 2],
          [0, 1, 2],
        ]);
      });

      it("keeps globalThis between calls of one function, and from all others", async () => {
        const calls = async (each: IsolateHandle) => valuesOf(await each.call("remembers", rows(2), FAST));
        expect(await calls(handle)).toEqual([1, 2]);
        expect(await calls(handle)).toEqual([3, 4]);
        expect(await calls(neighbour)).toEqual([1, 2]);
      });
    });

    it("keeps the other rewards of a call apart from the one that is stuck (51)", async () => {
      const names = ["fine", "loops", "throwsDeep"];
      const results = await handle.callAll(names, rows(4, [1]), SHORT);
      expect(results.map(errorsOf)).toEqual([{}, { 1: "reward_timeout" }, { 1: "reward_failed" }]);
      expect(results.map((each) => each.length)).toEqual([4, 4, 4]);
    });

    describe("what comes back", () => {
      it("cuts what is only too long", async () => {
        const long = await harmed("returnsHugeReason", FAST);
        expect(long).toEqual({ value: { score: 1, reason: "x".repeat(2_000) } });
        const thrown = JSON.stringify(await harmed("throwsHuge", FAST));
        expect(thrown).toContain("reward_failed");
        expect(thrown.length).toBeLessThan(3_000);
      });

      it.each([
        ["returnsManyMetrics", "reward_invalid"],
        ["returnsLongNames", "reward_invalid"],
        ["returnsStrangeKeys", "reward_invalid"],
        ["throwsUnreadable", "reward_failed"],
        ["returnsUnreadable", "reward_failed"],
        ["evaluates", "reward_failed"],
        ["startsPrograms", "reward_failed"],
      ])("%s is %s of its row, in few words (49)", async (name, code) => {
        const result = await harmed(name, FAST);
        expect(result).toMatchObject({ error: { code } });
        expect(JSON.stringify(result).length).toBeLessThan(1_000);
      });

      it("survives errors that nobody waits for", async () => {
        expect(await harmed("failsLater", FAST)).toEqual({ value: 7 });
      });

      it.each([
        ["hugeTool", "tool_invalid"],
        ["cyclicTool", "tool_invalid"],
        ["slowTool", "tool_timeout"],
        ["brokenTool", "tool_failed"],
      ])("%s is %s", async (name, code) => {
        expect(errorsOf(await handle.call(name, [{}], SHORT))).toEqual({ 0: code });
      });
    });

    describe("prints", () => {
      beforeEach(async () => {
        await handle.call("fine", rows(1), FAST);
      });

      it("shows the first of a million lines and a sample of the rest, and slows nobody down", async () => {
        const before = printed().length;
        expect(await harmed("printsAMillion", { timeoutMs: 15_000 })).toEqual({ value: 2 });
        const lines = printed().slice(before);
        expect(lines[0]).toContain("line 0");
        expect(lines.length).toBeGreaterThanOrEqual(50);
        expect(lines.length).toBeLessThan(60);
        expect(lines.at(-1)).toContain("line 1000000 of this call");
      });

      it("keeps a bound where code goes around the console", async () => {
        const before = printed().length;
        expect(await harmed("printsPastTheCap", { timeoutMs: 15_000 })).toEqual({ value: 2 });
        expect(printed().length - before).toBeLessThan(300);
      });
    });

    afterAll(async () => {
      expect(valuesOf(await neighbour.call("fine", rows(1), FAST))).toEqual([0]);
    });
  });
}
