import { describe, expect, it } from "vitest";
import { requireRewards } from "../../../sdk/user-code/require-rewards.ts";

const bundle = { name: "rewards.ts", exportNames: ["scoreHaiku", "add"] };

describe("requireRewards", () => {
  it("is content with one reward", () => {
    expect(() => requireRewards({ exports: [{ name: "a", kind: "reward" }] }, bundle)).not.toThrow();
  });

  it("names what is exported instead", () => {
    expect(() => requireRewards({ exports: [{ name: "add", kind: "tool" }] }, bundle)).toThrow(
      expect.objectContaining({
        code: "reward_missing",
        message: "rewards.ts exports no reward; it exports scoreHaiku, add (tool).",
        hint: expect.stringContaining("export const scoreHaiku = reward(") as string,
      }),
    );
  });
});
