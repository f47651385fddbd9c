import { expect, it } from "vitest";
import type { EntrypointName } from "../../../../sdk/config/prime-rl/entrypoints.ts";
import { checkIdempotence } from "./idempotence.ts";

// test/long/prime-rl-idempotence.test.ts does the same with 10,000.
it.each<[EntrypointName, number]>([
  ["rl", 40],
  ["sft", 80],
  ["inference", 80],
  ["trainer", 80],
  ["orchestrator", 40],
])("resolving what resolving gave changes nothing: %s, %i generated configurations", async (name, wanted) => {
  expect(await checkIdempotence(name, wanted, 1)).toBeGreaterThanOrEqual(wanted);
});
