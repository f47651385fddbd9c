import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GrpoParams } from "../../sdk/grpo-params.ts";
import { recipes } from "../../sdk/recipe.ts";
import { grpoAlgorithm } from "../../sdk/schema/grpo-algorithm.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/algorithms.md"), "utf8");

/** `| name | `{ settings }` |`, the settings as JSON but for the quotes around their names. */
const NAMED = [...page.matchAll(/^\| ([^|]+) \| `(\{ .+ \})` \|$/gm)].map(
  ([, name = "", settings = ""]) =>
    [name, JSON.parse(settings.replace(/(\w+):/g, '"$1":')) as Partial<GrpoParams>] as const,
);

describe("docs/algorithms.md", () => {
  it.each(NAMED)("names settings that are a recipe: %s", (_, settings) => {
    const { algorithm, rollout } = recipes.grpo({ steps: 1, ...settings });
    expect({ ...algorithm, ...rollout }).toMatchObject(settings);
  });

  it("names recipes at all, and every setting of the algorithm", () => {
    expect(NAMED.length).toBeGreaterThan(5);
    const { kind: _, ...settings } = grpoAlgorithm.shape;
    expect(Object.keys(settings).filter((name) => !page.includes(name))).toEqual([]);
  });
});
