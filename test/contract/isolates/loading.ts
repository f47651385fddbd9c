import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { IsolateBundle, Isolates } from "../../../functions/ports/isolates.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/** Code that does not load is a coded error that says why, and never costs anyone else anything. */
export function loading(get: () => { isolates: Isolates; bundle: IsolateBundle }): void {
  describe("loading", () => {
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
