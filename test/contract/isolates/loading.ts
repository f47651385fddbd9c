import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { IsolateBundle, Isolates } from "../../../functions/ports/isolates.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { errorsOf, valuesOf } from "./rows.ts";

/** Code that does not load is a coded error that says why, and never costs anyone else anything. */
export function loading(get: () => { isolates: Isolates; bundle: IsolateBundle }): void {
  describe("loading", () => {
    it("takes no other number of results than there are rows (47)", async () => {
      const handle = await get().isolates.load(
        module(`export default { fetch: (request) => Response.json(request.method === "GET"
          ? { exports: [{ name: "one", kind: "reward" }], others: [], joint: true }
          : { results: [[{ value: 1 }, { value: 2 }]] }) };`),
      );
      const results = await handle.call("one", [1, 2, 3], { timeoutMs: 5_000 });
      expect(errorsOf(results)).toEqual({ 0: "isolate_crashed", 1: "isolate_crashed", 2: "isolate_crashed" });
      expect(JSON.stringify(results[0])).toContain("2 results for 1 rows");
    });

    it("still calls code that an older version bundled, one export at a time", async () => {
      const handle = await get().isolates.load(
        module(`export default { async fetch(request) {
          if (request.method === "GET") return Response.json({ exports: [], others: [] });
          const { export: name, rows } = await request.json();
          return Response.json({ results: rows.map((row) => ({ value: name + row })) });
        } };`),
      );
      const results = await handle.callAll(["a", "b"], [1, 2], { timeoutMs: 5_000 });
      expect(results.map(valuesOf)).toEqual([
        ["a1", "a2"],
        ["b1", "b2"],
      ]);
    });

    it.each([
      ["throws in module scope", `throw new TypeError("at the top");`, "TypeError: at the top"],
      ["is no JavaScript", `export default {`, "SyntaxError"],
      ["has no adapter", `export const reward = 1;`, "no adapter"],
      ["imports what is not there", `import "nowhere"; export default {};`, "nowhere"],
      ["waits for ever at the top", `await new Promise(() => {}); export default {};`, "does not load"],
      ["loops in module scope", `for (;;); export default {};`, "does not load"],
      [
        "describes itself wrongly",
        `export default { fetch: () => Response.json({ exports: [{ name: 1 }], others: [] }) };`,
        "exports.0.name",
      ],
    ])("code that %s is user_code_invalid", async (_, text, message) => {
      const error = await get()
        .isolates.load(module(text))
        .catch((reason: unknown) => reason);
      expect(SpotterError.is(error) && error.code).toBe("user_code_invalid");
      expect(SpotterError.is(error) && error.message).toContain(message);
      expect((await get().isolates.load(get().bundle)).exports.length).toBeGreaterThan(0);
    });
  });
}

function module(text: string): IsolateBundle {
  const code = Buffer.from(text);
  return { code, sha256: createHash("sha256").update(code).digest("hex"), secrets: {} };
}
