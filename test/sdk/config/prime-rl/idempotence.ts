import * as fc from "fast-check";
import { stringify } from "smol-toml";
import { expect } from "vitest";
import { dryRunFiles, withoutNulls } from "../../../../sdk/config/prime-rl/emit/dry-run.ts";
import { ENTRYPOINTS, type EntrypointName } from "../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve, type Resolution } from "../../../../sdk/config/prime-rl/resolve.ts";
import { rootOf } from "../../../../sdk/config/prime-rl/walk.ts";
import { settingsOf, treeOf } from "./generated.ts";

/** What each entrypoint needs at least. */
export const BASES: Record<EntrypointName, Record<string, unknown>> = {
  rl: {
    max_steps: 20,
    model: { name: "Qwen/Qwen3-0.6B" },
    orchestrator: { train: { env: [{ id: "reverse-text" }] } },
    trainer: {},
    inference: {},
  },
  sft: {},
  inference: {},
  trainer: {},
  orchestrator: { train: { env: [{ id: "reverse-text" }] } },
};

/**
 * Resolves generated configurations until `wanted` of them are valid, and each of those again from the file of its
 * dry run: the second tree has to be the first.
 *
 * @returns How many were generated in all; the others break a rule, and are told so.
 */
export async function checkIdempotence(name: EntrypointName, wanted: number, seed: number): Promise<number> {
  const root = rootOf(ENTRYPOINTS[name].schema);
  let valid = 0;
  let all = 0;
  for (let round = 0; valid < wanted && round < 50; round++) {
    const batch = fc.sample(settingsOf(root, 4), { numRuns: wanted, seed: seed + round });
    for (const settings of batch) {
      if (valid >= wanted) break;
      all++;
      const tree = treeOf(BASES[name], settings);
      const first = await resolvedText(name, stringify(withoutNulls(tree, root, [], [])));
      if (first.config === null) {
        expect(first.findings.some(({ severity }) => severity === "error")).toBe(true);
        continue;
      }
      valid++;
      const { files, reports } = dryRunFiles(name, first.config);
      expect(reports).toEqual([]);
      const again = await resolvedText(name, files[0]?.text ?? "");
      const same = { ...first.config, ...("dry_run" in first.config && { dry_run: false }) };
      // Comparing texts is much faster than showing the difference.
      if (JSON.stringify(again.config) === JSON.stringify(same)) continue;
      expect(again.config, JSON.stringify({ settings, findings: again.findings })).toEqual(same);
    }
  }
  expect(valid).toBe(wanted);
  return all;
}

export function resolvedText(name: EntrypointName, text: string): Promise<Resolution> {
  return resolve(ENTRYPOINTS[name], ["@", "generated.toml"], { readBytes: () => Buffer.from(text) });
}
