import { expect } from "vitest";
import { ENTRYPOINTS, type EntrypointName } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve, type Resolution } from "../../../../../sdk/config/prime-rl/resolve.ts";

/** A run that resolves, to lay other settings over. */
export const BASE = `
max_steps = 20
seq_len = 2048
[model]
name = "Qwen/Qwen3-0.6B"
[orchestrator]
batch_size = 128
group_size = 16
[[orchestrator.train.env]]
id = "reverse-text"
[trainer.optim]
lr = 3e-6
[inference]
`;

/** Resolves files, given as texts in the order of the command line, and flags after them. */
export async function resolving(
  name: EntrypointName,
  files: readonly string[],
  flags: readonly string[] = [],
): Promise<Resolution> {
  const words = files.flatMap((_, index) => ["@", `${index}.toml`]);
  return resolve(ENTRYPOINTS[name], [...words, ...flags], {
    readBytes: (file) => Buffer.from(files[Number.parseInt(file)] ?? ""),
  });
}

/** The paths of the errors, in no order. */
export function errorsOf({ findings }: Resolution): string[] {
  return findings
    .filter(({ severity }) => severity === "error")
    .map(({ path }) => path)
    .toSorted();
}

/** The tree; fails where something is wrong. */
export function configOf(resolution: Resolution): Record<string, unknown> {
  expect(errorsOf(resolution)).toEqual([]);
  return resolution.config ?? {};
}

/** Resolves a resolved tree again, and wants the same. */
export async function expectFixed(name: EntrypointName, config: Record<string, unknown>): Promise<void> {
  const again = await resolve(ENTRYPOINTS[name], ["@", "again.json"], {
    readBytes: () => Buffer.from(JSON.stringify(config)),
  });
  expect(errorsOf(again)).toEqual([]);
  expect(again.config).toEqual(config);
}
