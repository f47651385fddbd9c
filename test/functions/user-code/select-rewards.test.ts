import { describe, expect, it } from "vitest";
import { selectRewards } from "../../../functions/user-code/select-rewards.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { UserCodeExport } from "../../../sdk/schema/user-code.ts";

const exports: UserCodeExport[] = [
  { name: "haiku", kind: "reward" },
  { name: "topic", kind: "reward" },
  { name: "add", kind: "tool" },
];

describe("selectRewards", () => {
  it("takes every reward without names, and only those with", () => {
    expect(selectRewards({ exports }, undefined, "rewards.ts").map((each) => each.name)).toEqual([
      "haiku",
      "topic",
    ]);
    expect(selectRewards({ exports }, ["topic"], "rewards.ts").map((each) => each.name)).toEqual(["topic"]);
  });

  it.each(["constructor", "__proto__", "toString"])("refuses a reward called %s", (name) => {
    const all = [...exports, { name, kind: "reward" as const }];
    for (const names of [undefined, [name]]) {
      const error = catching(() => selectRewards({ exports: all }, names, "rewards.ts"));
      expect(error).toMatchObject({
        code: "user_code_invalid",
        message: `rewards.ts: a reward cannot be called "${name}".`,
      });
    }
  });

  it.each([
    [
      { exports },
      ["hiaku", "add"],
      'no reward "hiaku" (did you mean "haiku"?), "add"; there is haiku, topic',
    ],
    [{ exports }, [], "the list of names is empty; there is haiku, topic"],
    [
      { exports: exports.slice(2), others: ["scoreHaiku"] },
      undefined,
      "rewards.ts exports no reward; it exports scoreHaiku, add (tool).",
    ],
    [{ exports: [] }, undefined, "rewards.ts exports no reward."],
  ])("names what is wrong", (given, names, message) => {
    const error = catching(() => selectRewards(given, names, "rewards.ts"));
    expect(error.code).toBe("reward_missing");
    expect(error.message).toContain(message);
    expect(error.hint).toBeTruthy();
  });
});

function catching(work: () => unknown): SpotterError {
  try {
    work();
  } catch (error) {
    if (SpotterError.is(error)) return error;
    throw error;
  }
  throw new Error("Nothing was thrown");
}
