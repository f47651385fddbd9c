import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, it } from "vitest";
import { dryRunFiles } from "../../../../sdk/config/prime-rl/emit/dry-run.ts";
import type { EntrypointName } from "../../../../sdk/config/prime-rl/entrypoints.ts";
import { checkIdempotence, resolvedText } from "./idempotence.ts";

it("resolving what resolving gave changes nothing: every example", async () => {
  const examples = globSync("examples/*/{rl,sft}.toml");
  expect(examples.length).toBeGreaterThanOrEqual(7);
  for (const example of examples) {
    const name = basename(example, ".toml") as EntrypointName;
    const { config, findings } = await resolvedText(name, readFileSync(example, "utf8"));
    expect(findings, example).toEqual([]);
    const { files } = dryRunFiles(name, config ?? {});
    for (const { name: file, text } of files) {
      const part = basename(file, ".toml") as EntrypointName;
      const again = await resolvedText(part, text);
      expect(again.config, `${example}: ${file}`).toEqual(part === name ? config : config?.[part]);
    }
  }
});

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
