import { describe, expect, it } from "vitest";
import { usedContent } from "../../../functions/cleanup/references.ts";
import type { Control } from "../../../functions/control.ts";

describe("content that is in use", () => {
  it("is everything that a stored run or eval was launched with", async () => {
    const code = (sha256: string) => ({ code: { sha256, secrets: [] } });
    const spec = {
      dataset: { sha256: "rows" },
      evalDataset: { sha256: "held" },
      rewards: code("rewards"),
      tools: code("tools"),
      environments: [code("game"), code("maze")],
      python: code("python"),
    };
    const record = { spec: { dataset: { sha256: "asked" }, rewards: code("graders") } };
    const store = {
      query: (partition: string) =>
        Promise.resolve({
          items: [{ value: partition === "run-specs" ? { v: 1, spec } : { v: 1, record } }],
        }),
    };
    expect([...(await usedContent({ store } as unknown as Control))].sort()).toEqual([
      "asked",
      "game",
      "graders",
      "held",
      "maze",
      "python",
      "rewards",
      "rows",
      "tools",
    ]);
  });
});
