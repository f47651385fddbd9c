import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { checkRows, type CheckedRows } from "../../../../sdk/config/project-folder/check-rows.ts";
import type { RowContext } from "../../../../sdk/config/project-folder/row-context.ts";

export const CONTEXT: RowContext = {
  kind: "rl",
  rewards: new Map([
    ["accuracy", { sandbox: false }],
    ["inside", { sandbox: true }],
  ]),
  rewardFiles: "rewards.py",
  tools: new Map([["search", { sandbox: false }]]),
  toolFiles: "tools.py",
  hasMcp: false,
  isMcpInSandbox: false,
  blindModels: [],
  dockerfiles: new Set(["Dockerfile.kernel"]),
  window: 32_768,
  isMath: false,
  hasTypeScript: false,
};

export const ASK = { role: "user", content: "What is 2 + 2?" };

/** A row of dataset_type rl with something changed. */
export function row(change: object): object {
  return { messages: [ASK], rewards: ["accuracy"], ...change };
}

export function tempFile(text: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-rows-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "train.jsonl");
  writeFileSync(path, text);
  return path;
}

export async function checkLines(
  text: string | Buffer,
  context: Partial<RowContext> = {},
): Promise<CheckedRows> {
  return checkRows({ path: tempFile(text), file: "train.jsonl", context: { ...CONTEXT, ...context } });
}
